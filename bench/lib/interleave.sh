#!/usr/bin/env bash
# Times shell snippets in turn: interleave.sh ROUNDS, then BEFORE SNIPPET AFTER for each. The first round warms up and
# is not reported. One line a run on descriptor 3: INDEX STATUS WALL_MICROSECONDS USER_SECONDS SYS_SECONDS.
# An alias costs no fork, as a function would in a pipeline.
set -o pipefail
export LC_ALL=C
rounds=$1
shift
snippets=("$@")
shopt -s expand_aliases
# shellcheck disable=SC2139,SC2154
alias sbx='"$NODE" "$SBX_ENTRY"' node='"$NODE"'
TIMEFORMAT='%3U %3S'
cpu=$BENCH_TMP/cpu
exec 4>&2
for ((round = 0; round <= rounds; round++)); do
  for ((index = 0; index < ${#snippets[@]} / 3; index++)); do
    eval "${snippets[index * 3]}" > /dev/null 3>&- 4>&- || exit 70
    {
      begin=$EPOCHREALTIME
      time eval "${snippets[index * 3 + 1]}" 2>&4 3>&- 4>&-
      status=$?
      end=$EPOCHREALTIME
    } 2> "$cpu"
    eval "${snippets[index * 3 + 2]}" > /dev/null 3>&- 4>&- || exit 71
    [ "$round" -eq 0 ] && [ "$status" -eq 0 ] && continue
    echo "$index $status $((${end/./} - ${begin/./})) $(< "$cpu")" >&3
    [ "$status" -eq 0 ] || exit 72
  done
done
