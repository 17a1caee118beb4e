# What the programs of code contexts begin with. A context is a folder:
#   program.EXT      what keeps the interpreter (code-python.py and its like)
#   pid              of the interpreter; of who starts it before that
#   code, result     of the run at hand
#   in               told the name of a run when its code is there
#   out              told that name when its result is there, `ready` at first, `dead` in the end
#   stdout, stderr   of the run at hand
#   dead             how the interpreter ended
base=/tmp/.sbx-code-$(id -u)

# $1 id. Ends the interpreter and all that it started, says so to who waits for it, and removes its folder.
stop() {
  s_rounds=0
  while [ $s_rounds -lt 5 ]; do
    # Not by the exit code of grep, which tells of any process that it could not look at or that ended meanwhile.
    s_all=$(grep -ls "SBX_CODE_ID=$1" /proc/[0-9]*/environ 2>/dev/null)
    [ -n "$s_all" ] || break
    s_rounds=$((s_rounds + 1))
    for s_one in $s_all; do
      s_one=${s_one#/proc/}
      kill -s KILL "${s_one%/environ}" 2>/dev/null
    done
  done
  [ ! -p "$base/$1/out" ] || echo dead 1<>"$base/$1/out"
  rm -rf "${base:?}/$1"
}
