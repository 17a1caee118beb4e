# The last step of the programs that start a command: enters $1, the workdir, sets the late variables and becomes $2...
# SBX_LATE names variables that must not act before (each is in SBX_LATE_name). sbx_leads is set where this process leads a group of
# its own already.
sbx_dir=$1
shift
cd -- "$sbx_dir" 2> /dev/null || {
  printf 'sbx: cannot enter the workdir %s\n' "$sbx_dir" >&2
  exit 126
}
for sbx_name in $SBX_LATE; do
  eval "export $sbx_name=\"\$SBX_LATE_$sbx_name\"; unset SBX_LATE_$sbx_name"
done
export SBX_EXEC_ID="$SBX_MARK"
unset SBX_LATE SBX_EXEC SBX_MARK OLDPWD
case $1 in
  '') ;;
  */*)
    [ -e "$1" ] || [ -L "$1" ] || { printf 'sbx: %s: not found\n' "$1" >&2; exit 127; }
    if [ -d "$1" ] || [ ! -x "$1" ]; then printf 'sbx: %s: cannot be run\n' "$1" >&2; exit 126; fi
    ;;
  *) command -v -- "$1" > /dev/null 2>&1 || { printf 'sbx: %s: not found\n' "$1" >&2; exit 127; } ;;
esac
# A group of its own, so that a signal for the command is none for the watcher.
[ -z "$sbx_leads" ] && command -v setsid > /dev/null 2>&1 && exec setsid -- "$@"
exec "$@"
