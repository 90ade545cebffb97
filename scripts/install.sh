#!/bin/sh
# Finds a supported Python and hands over to install.py. Usage: install.sh course|dev
set -eu
here=$(cd "$(dirname "$0")" && pwd)
seen=""
for candidate in ${PYTHON:-python3.11 python3 python}; do
  version=$("$candidate" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null) || continue
  if [ "$version" = "3.11" ]; then
    exec "$candidate" "$here/install.py" "$1"
  fi
  seen="$seen $candidate is $version;"
done
echo "This course needs Python 3.11, which was not found (${seen:-no Python at all;} set PYTHON=/path/to/python3.11 if it is elsewhere)." >&2
exit 1
