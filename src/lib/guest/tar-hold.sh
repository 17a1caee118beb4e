# Between tar-stage.sh and tar-commit.sh, for root whose engine fills the folder: says `ok`, and waits for the line that
# tells whether to commit or to discard. The end of input is the end of the client, and of what it began. Says `done`.
# A watcher that it may have would end it meanwhile.
trap '' PIPE TERM
printf 'ok\n'
read -r end
if [ "$end" != commit ]; then
  # An engine that was about to unpack makes the folder anew.
  for _ in 1 2 3 4 5; do
    # shellcheck disable=SC2154 # of tar-stage.sh
    rm -rf "$stage" && printf 'done\n'
    sleep 1
  done
  exit
fi
