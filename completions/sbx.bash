# bash completion for sbx: asks sbx itself, so that it never knows less than the sbx that is installed.

_sbx() {
  COMPREPLY=()
  if [[ $3 == *[\<\>] ]]; then
    _sbx_option default
    return
  fi

  # bash splits at ":" and "=" too. What stands together on the line is one word; the last one ends at the cursor.
  local line=${COMP_LINE:0:COMP_POINT} rest word index
  local -a words=() first=()
  for ((index = 0; index <= COMP_CWORD; index++)); do
    rest=${line#"${line%%[![:space:]]*}"}
    word=${COMP_WORDS[index]}
    if ((index == COMP_CWORD)); then word=$rest; fi
    if ((index > 0)) && [[ $rest == "$line" ]]; then
      words[${#words[@]} - 1]+=$word
    else
      first+=("$index")
      words+=("$word")
    fi
    line=${rest#"$word"}
  done

  local orders candidate
  {
    IFS= read -r -d '' orders
    while IFS= read -r -d '' candidate; do COMPREPLY+=("$candidate"); done
  } < <(command sbx completion complete bash "$2" "${words[@]:1}" 2>/dev/null </dev/null)

  local order
  for order in $orders; do
    case $order in
      goes-on) _sbx_option nospace ;;
      files | folders) _sbx_local "$order" "$2" "${words[${#words[@]} - 1]}" ;;
      inner) ;;
      *) _sbx_inner "${first[order + 1]}" "$2" ;;
    esac
  done
}

# bash 3 knows no options that change while it completes: it does without.
_sbx_option() {
  compopt -o "$1" 2>/dev/null
}

# Paths of this machine, beside what there is: FILES-OR-FOLDERS END-OF-WORD WORD
_sbx_local() {
  local path
  if ((${#COMPREPLY[@]} == 0)); then
    if [[ $1 == folders ]]; then _sbx_option dirnames; else _sbx_option default; fi
  elif [[ $3 != [\"\'\$]* ]]; then
    while IFS= read -r path; do
      if [[ -d $path ]]; then path+=/; fi
      printf -v path %q "$path"
      COMPREPLY+=("$path")
    done < <(compgen -f -- "$2")
  fi
}

# The command that is to run in the sandbox, as if it were one of this machine: INDEX-OF-ITS-FIRST-WORD END-OF-WORD
_sbx_inner() {
  if declare -F _comp_command_offset >/dev/null; then
    _comp_command_offset "$1"
  elif declare -F _command_offset >/dev/null; then
    _command_offset "$1"
  elif (($1 == COMP_CWORD)); then
    while IFS= read -r; do COMPREPLY+=("$REPLY"); done < <(compgen -c -- "$2")
  else
    _sbx_option default
  fi
}

complete -F _sbx sbx
