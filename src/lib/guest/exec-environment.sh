# The sandbox's own environment, where it was changed; before exec-become.sh.
# shellcheck disable=SC1091
[ ! -r /var/lib/sbx/env ] || . /var/lib/sbx/env
