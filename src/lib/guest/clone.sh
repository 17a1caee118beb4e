# Puts a git repository into the current directory, which must be empty.
#   clone.sh bundle URL BRANCH COMMIT SHALLOW   standard input: a git bundle; SHALLOW: commits whose parents are not in it
#   clone.sh remote URL REF                     standard input: a line with the user name, a line with the password
# Secrets come over standard input because arguments can be read by every process.
set -u

fail() {
  printf '%s\n' "$*" >&2
  exit 1
}

command -v git >/dev/null 2>&1 || fail 'git is not installed in the sandbox'
for entry in ./* ./.[!.]* ./..?*; do
  if [ -e "$entry" ] || [ -L "$entry" ]; then
    fail "the directory $(pwd) is not empty"
  fi
done
mode=$1
url=$2
export GIT_TERMINAL_PROMPT=0
# For the reflog: without it git asks the name servers for a name of this host, which takes 20 s where none answers.
export GIT_COMMITTER_NAME="${GIT_COMMITTER_NAME:-sbx}"
export GIT_COMMITTER_EMAIL="${GIT_COMMITTER_EMAIL:-sbx@localhost}"
export GIT_SSH_COMMAND="${GIT_SSH_COMMAND:-ssh -o BatchMode=yes -o StrictHostKeyChecking=accept-new}"

checkout_branch() {
  git checkout -q -B "$1" "$2" || exit 1
  if git show-ref --verify -q "refs/remotes/origin/$1"; then
    git branch -q --set-upstream-to="origin/$1" "$1" || exit 1
  fi
}

from_bundle() {
  git -c init.defaultBranch=main init -q || exit 1
  git config remote.origin.url "$url" || exit 1
  git config remote.origin.fetch '+refs/heads/*:refs/remotes/origin/*' || exit 1
  bundle=.git/sbx.bundle
  cat >"$bundle" || fail 'the repository did not arrive whole'
  if [ -n "$3" ]; then
    # Before the fetch, so that it does not miss the parents that are not there.
    printf '%s\n' "$3" >.git/shallow || exit 1
  fi
  # Unpacked first: the fetch takes only what branches and tags reach, and the commit may be on none that has a name here.
  git bundle unbundle "$bundle" >/dev/null || exit 1
  git fetch -q "$bundle" '+refs/heads/*:refs/remotes/origin/*' '+refs/tags/*:refs/tags/*' || exit 1
  rm -f "$bundle" .git/FETCH_HEAD
  if [ -n "$1" ]; then
    checkout_branch "$1" "$2"
  else
    git checkout -q --detach "$2" || exit 1
  fi
}

with_credentials() {
  # shellcheck disable=SC2016 # expanded by the helper's own shell
  helper='!f() { printf "username=%s\npassword=%s\n" "$SBX_GIT_USERNAME" "$SBX_GIT_PASSWORD"; }; f'
  if [ -n "$SBX_GIT_USERNAME$SBX_GIT_PASSWORD" ]; then
    git -c credential.helper= -c credential.helper="$helper" "$@"
  else
    git "$@"
  fi
}

from_remote() {
  IFS= read -r SBX_GIT_USERNAME
  IFS= read -r SBX_GIT_PASSWORD
  export SBX_GIT_USERNAME SBX_GIT_PASSWORD
  ref=$1
  if [ -z "$ref" ]; then
    with_credentials clone -q -- "$url" . || exit 1
    return
  fi
  with_credentials clone -q --no-checkout -- "$url" . || exit 1
  if git show-ref --verify -q "refs/remotes/origin/$ref"; then
    checkout_branch "$ref" "refs/remotes/origin/$ref"
  elif git rev-parse -q --verify "$ref^{commit}" >/dev/null; then
    git checkout -q --detach "$ref" || exit 1
  else
    # A pull request or a commit on no branch: some servers give those when they are asked for by name.
    with_credentials fetch -q origin "$ref" || fail "the repository has no branch, tag or commit '$ref'"
    git checkout -q --detach FETCH_HEAD || exit 1
  fi
}

shift 2
case $mode in
  bundle) from_bundle "$1" "$2" "$3" ;;
  remote) from_remote "$1" ;;
  *) fail "unknown mode $mode" ;;
esac
