#!/bin/sh
# Installs the offline half from this kit into a new folder, and from nothing else: no network, no build.
#
#   sh install.sh FINGERPRINT FOLDER [PYTHON]
#
# It runs verify.sh first, installs with the kit's own pip into a folder beside FOLDER, compares every installed file with the
# kit's list, and only then gives the folder its name. When it fails or is stopped, nothing stays behind.
# PYTHON is /usr/bin/python3 unless named. Exit codes: 0 done, 2 cannot be done here, 3 refused, 130 interrupted.
set -eu
PATH=/usr/sbin:/usr/bin:/sbin:/bin
LC_ALL=C
export PATH LC_ALL
unset CDPATH ENV IFS

say() { printf '%s\n' "$*" | tr -c '[:print:]\n' '?' >&2; }
stop() { say "$1"; say "  do:       $2"; exit 2; }

[ $# -eq 2 ] || [ $# -eq 3 ] || stop "a fingerprint and a new folder are needed" "sh install.sh FINGERPRINT FOLDER [PYTHON]"
kit=$(cd -- "$(dirname -- "$0")" && pwd -P)
sh "$kit/verify.sh" "$1"
fingerprint=$(sha256sum <"$kit/MANIFEST" | cut -c 1-64)
python=${3-/usr/bin/python3}

if [ -e "$2" ] || [ -L "$2" ]; then
    stop "$2 exists already, and nothing is installed over anything" "name a new folder"
fi
above=$(dirname -- "$2")
[ -d "$above" ] && [ -w "$above" ] || stop "$above is not a folder that can be written" "name another, or be root"
target=$(cd -- "$above" && pwd -P)/$(basename -- "$2")
[ -x "$python" ] || stop "there is no $python" "install Debian's python3, or name the Python as the third word"
interpreter=$("$python" -I -S -B "$kit/program/packages.py" interpreter)

umask 022
part=
clean() { [ -z "$part" ] || rm -rf -- "$part"; }
trap clean EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
part=$(mktemp -d -- "$target.part.XXXXXX") || stop "no folder can be made in $above" "check it and the free space"
chmod 755 "$part"
packages=$part/lib/python$(sed -n 's/^python=//p' "$kit/KIT")/site-packages
papers=$part/share/airlock-offline
mkdir -p "$part/bin" "$part/tmp" "$packages" "$papers"
ln -s "$interpreter" "$part/bin/python3"
printf 'home = %s\ninclude-system-site-packages = false\n' "$(dirname -- "$interpreter")" >"$part/pyvenv.cfg"

say "Installing ..."
for pip in "$kit"/wheels/pip-*.whl; do :; done
env -i PATH="$PATH" HOME=/nonexistent TMPDIR="$part/tmp" LC_ALL=C.UTF-8 PIP_CONFIG_FILE=/dev/null \
    "$part/bin/python3" -I -B "$pip/pip" --isolated --quiet install --no-index --find-links "$kit/wheels" \
    --require-hashes --no-deps --only-binary :all: --no-compile --no-cache-dir --no-input --disable-pip-version-check \
    --no-warn-script-location --root-user-action ignore --requirement "$kit/requirements.txt" >&2 || {
    say "The packages could not be installed."
    say "  do:       check the free space; if there is enough, tell the maintainers what stands above"
    exit 2
}

# What pip writes for itself is not kept: programs beside ours, and lists that name this folder; INSTALLED stands for them.
# Nor is "docs", which several packages bring by mistake, each over the other's.
rm -rf -- "$part/tmp" "$packages/docs"
find "$part/bin" ! -name python3 ! -type d -exec rm -f -- {} +
rm -f -- "$packages"/*.dist-info/RECORD
cp -- "$kit/program/airlock-offline" "$part/bin/airlock-offline"
chmod 755 "$part/bin/airlock-offline"
cp -R -- "$kit/KIT" "$kit/MANIFEST" "$kit/INSTALLED" "$kit/SYSTEM-LIBRARIES" "$kit/udev" "$kit/guides" "$papers/"
printf '%s\n' "$fingerprint" >"$papers/FINGERPRINT"
find "$part" -type d -exec chmod 755 {} +
find "$part" -type f ! -path "$part/bin/airlock-offline" -exec chmod 644 {} +

say "Comparing what was installed ..."
run() { env -i PATH="$PATH" LC_ALL=C.UTF-8 "$interpreter" -I -B "$kit/program/packages.py" "$@"; }
run compile "$packages"
run examine "$part" "$fingerprint"
env -i PATH="$PATH" LC_ALL=C.UTF-8 "$part/bin/airlock-offline" --version >&2
sync
run name "$part" "$target"
part=
printf '%s\n' "$target/bin/airlock-offline"
say "Next:"
say "  1. Compare the words above with your paper once more, and keep this medium: verify.sh examines the installation from it."
say "  2. As root: cp $target/share/airlock-offline/udev/*.rules /etc/udev/rules.d/ && udevadm control --reload"
say "  3. Install the packages of $target/share/airlock-offline/SYSTEM-LIBRARIES that are missing."
say "  4. $target/bin/airlock-offline preflight"
