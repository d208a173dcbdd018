#!/bin/sh
# Runs a command with the network unshared (loopback alone, brought up) where the machine allows it, else as it is.
#   unshared.sh --note        says which of the two it would be
#   unshared.sh COMMAND ...   runs it
set -eu
here=$(dirname "$0")
if unshare --map-root-user --net true 2>/dev/null; then
    [ "$1" = "--note" ] && { echo ", with the network unshared"; exit 0; }
    exec unshare --map-root-user --net "$(command -v python3)" "$here/loopback_up.py" "$@"
fi
[ "$1" = "--note" ] && { echo "; this machine does not let us unshare the network"; exit 0; }
exec "$@"
