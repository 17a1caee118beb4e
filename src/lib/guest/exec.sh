# Runs a command under the control of a client that may vanish: exec-watch.sh comes before this text, exec-become.sh after
# it. The text comes in SBX_EXEC, so that `ps` inside stays readable. $1 workdir; $2... the command. SBX_LEADS is set when
# we lead a process group already, which the watcher has to leave then: it is started once more, with SBX_WATCHED as the
# command's process. Descriptor 3 is the client, who hears "ok" once we are here. End of file without "end" means that the
# client is gone: the command and what it started end too.
# shellcheck disable=SC2034 # for exec-watch.sh
sbx_self=${SBX_WATCHED:-$$}
sbx_leads=${SBX_LEADS-}
sbx_tell() {
  echo "$1" >&3
}
sbx_lost() {
  sbx_terminate 50
}
if [ -n "${SBX_WATCHED-}" ]; then
  sbx_watch
fi
# Before the watcher is there: whoever it ends without having said a word would be waited for as long as it lives.
echo ok >&3
# Not a child of the command, which may wait for any child of its own.
if [ -n "$sbx_leads" ]; then
  (SBX_WATCHED=$$ setsid /bin/sh -c 'eval "$SBX_EXEC"' sbx-exec / > /dev/null 2>&1 < /dev/null &)
else
  (sbx_watch > /dev/null 2>&1 < /dev/null &)
fi
unset SBX_LEADS
exec 3>&-
