# Installs dtach with the package manager that is here, and what records sessions where that is missing too. Prints
# `present` when there was nothing to do. Exit: 0, 10 no package manager that is known, else the package manager's.
has() { command -v "$1" >/dev/null 2>&1; }
if has dtach; then echo present && exit 0; fi
export DEBIAN_FRONTEND=noninteractive
{
  if has apt-get; then
    apt-get install -y --no-install-recommends dtach || { apt-get update && apt-get install -y --no-install-recommends dtach; }
  elif has apk; then
    has python3 || has script || apk add --no-cache util-linux-misc || :
    apk add --no-cache dtach
  elif has dnf; then
    dnf install -y dtach
  elif has microdnf; then
    microdnf install -y dtach
  elif has yum; then
    yum install -y dtach
  elif has zypper; then
    zypper --non-interactive install dtach
  elif has xbps-install; then
    xbps-install -Sy dtach
  else
    exit 10
  fi
} >&2 && has dtach
