# Prints the tool that relay.sh shall use here, the ones that keep half-closed connections first; nothing if there is none.
# A name on the path may be a shim that cannot run, so each is run once.
has() { "$@" >/dev/null 2>&1 </dev/null; }

has perl -MSocket=getaddrinfo -e 1 && echo perl && exit 0
has python3 -c '' && echo python3 && exit 0
has node -e '' && echo node && exit 0
if command -v nc >/dev/null 2>&1; then
  case $(nc -h 2>&1 </dev/null) in
    *OpenBSD*) echo nc-openbsd && exit 0 ;;
    *BusyBox* | *Ncat*) echo nc && exit 0 ;;
  esac
fi
has socat -V && echo socat && exit 0
if command -v bash >/dev/null 2>&1 && command -v cat >/dev/null 2>&1; then
  echo bash
fi
exit 0
