#!/bin/sh
# Makes a virtual environment: venv.sh PYTHON FOLDER. Where Debian's python3 comes without ensurepip, installs
# python3-venv if that needs no question, and otherwise says what to install.
set -eu
python=$1
folder=$2

if ! command -v "$python" >/dev/null; then
  echo "There is no $python here; install Python 3.11 or newer (apt install python3 python3-venv), or make PYTHON=..." >&2
  exit 1
fi
if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
  echo "$("$python" --version) is too old: Python 3.11 or newer is needed. Name another with make PYTHON=python3.12" >&2
  exit 1
fi
if ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
  package=$("$python" -c 'import sys; print("python3.%d-venv" % sys.version_info.minor)')
  sh "$(dirname "$0")/apt.sh" "$package" "$python has no ensurepip, which a virtual environment needs"
fi
rm -rf "$folder"
"$python" -m venv "$folder"
