# After code-common.sh: interrupts what runs in the context $1.
# shellcheck disable=SC2154 # of code-common.sh
if read -r pid 2>/dev/null <"$base/$1/pid"; then kill -s INT "$pid"; fi
