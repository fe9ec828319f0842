#!/bin/sh
# Installs a Debian package if that needs no question: apt.sh PACKAGE WHY. Otherwise says what to install, and fails.
set -eu
package=$1
why=$2

if [ "$(id -u)" = 0 ]; then
  as_root=
elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
  as_root="sudo -n"
else
  as_root=none
fi
if [ "$as_root" != none ] && command -v apt-get >/dev/null; then
  echo "$why: installing $package."
  $as_root apt-get update -qq >/dev/null || true # the lists at hand may do
  if $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$package" >/dev/null; then
    exit 0
  fi
fi
echo "$why. Install it and try again:" >&2
echo "    sudo apt install $package" >&2
exit 1
