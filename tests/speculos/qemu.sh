#!/bin/sh
# Speculos needs Debian's qemu-user-static: installed with apt-get where that is possible, and otherwise said to be missing.
set -eu
command -v qemu-arm-static >/dev/null 2>&1 && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    echo "== installing qemu-user-static"
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq >/dev/null && apt-get install -y -qq --no-install-recommends qemu-user-static >/dev/null && exit 0
fi
echo "Speculos needs qemu-arm-static: as root, apt-get install qemu-user-static" >&2
exit 2
