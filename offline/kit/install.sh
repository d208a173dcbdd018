#!/bin/sh
# Installs the offline half from this kit into a new folder, and from nothing else: no network, no build.
#
#   sh install.sh FINGERPRINT FOLDER [PYTHON]
#
# It copies the kit into a private folder beside FOLDER, verifies that copy against the fingerprint that was typed, and from then
# on reads nothing from this medium: it installs with the copy's own pip, compares every installed file with the copy's list, and
# only then gives the folder its name. When it fails or is stopped, nothing stays behind.
# PYTHON is /usr/bin/python3 unless named. Exit codes: 0 done, 2 cannot be done here, 3 refused, 130 interrupted.
set -eu
PATH=/usr/sbin:/usr/bin:/sbin:/bin
LC_ALL=C
export PATH LC_ALL
unset CDPATH ENV IFS
umask 077

say() { printf '%s\n' "$*" | tr -c '[:print:]\n' '?' >&2; }
stop() { say "$1"; say "  do:       $2"; exit "${3-2}"; }
clean() { [ -z "$part" ] || rm -rf -- "$part"; }
run() { env -i PATH="$PATH" LC_ALL=C.UTF-8 "$interpreter" -I -S -B "$kit/program/packages.py" "$@"; }

# Copy the medium into $kit, and have the copy's own verify.sh look at it, once that is known to be the listed one.
take_kit() {
    get_again="do not install from this kit: get it again, and find out where it was altered"
    mkdir "$kit"
    cp -R --preserve=mode,links -- "$1/." "$kit" || stop "the kit could not be copied whole" "check the medium and the free space"
    if [ -L "$kit/MANIFEST" ] || [ ! -f "$kit/MANIFEST" ]; then
        stop "KIT-MANIFEST: MANIFEST is missing, or not a file" "$get_again" 3
    fi
    got=$(sha256sum <"$kit/MANIFEST" | cut -c 1-64)
    [ "$got" = "$fingerprint" ] || stop "KIT-MANIFEST: the list of this kit does not match the fingerprint
  got:      $got
  expected: $fingerprint" "compare the digits with your paper; if they are right, $get_again" 3
    if [ -L "$kit/verify.sh" ] || ! (cd -- "$kit" && sha256sum verify.sh | grep -qxF -f - MANIFEST); then
        stop "KIT-FILE: verify.sh: changed" "$get_again" 3
    fi
    sh "$kit/verify.sh" "$fingerprint"
}

install() {
    system=$(uname -s)
    [ "$system" = Linux ] || stop "this system is $system, and the kit is for Linux" "use a machine with Linux: elsewhere nothing real is signed"
    [ $# -eq 2 ] || [ $# -eq 3 ] || stop "a fingerprint and a new folder are needed" "sh install.sh FINGERPRINT FOLDER [PYTHON]"
    fingerprint=$(printf '%s' "$1" | tr -d ' \t\n' | tr 'A-F' 'a-f')
    case $fingerprint in
        *[!0-9a-f]*) bad=yes ;;
        *) [ ${#fingerprint} -eq 64 ] && bad=no || bad=yes ;;
    esac
    [ "$bad" = no ] || stop "a kit's fingerprint is 64 hex digits" "copy it from the paper that you received by another way"
    medium=$(cd -- "$(dirname -- "$0")" && pwd -P)
    python=${3-/usr/bin/python3}
    if [ -e "$2" ] || [ -L "$2" ]; then
        stop "$2 exists already, and nothing is installed over anything" "name a new folder"
    fi
    above=$(dirname -- "$2")
    [ -d "$above" ] && [ -w "$above" ] || stop "$above is not a folder that can be written" "make it, name another, or be root"
    target=$(cd -- "$above" && pwd -P)/$(basename -- "$2")
    case $target/ in "$medium"/*) stop "$target is within the kit" "name a folder outside it" ;; esac
    [ -x "$python" ] || stop "there is no $python" "install Debian's python3, or name the Python as the third word"

    part=
    trap clean EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM HUP
    part=$(mktemp -d -- "$target.part.XXXXXX") || stop "no folder can be made in $above" "check it and the free space"
    kit=$part/kit
    new=$part/new
    say "Copying the kit ..."
    take_kit "$medium"
    interpreter=$("$python" -I -S -B "$kit/program/packages.py" interpreter)

    umask 022
    packages=$new/lib/python$(sed -n 's/^python=//p' "$kit/KIT")/site-packages
    papers=$new/share/airlock-offline
    mkdir -p "$new/bin" "$part/tmp" "$packages" "$papers"
    ln -s "$interpreter" "$new/bin/python3"
    printf 'home = %s\ninclude-system-site-packages = false\n' "$(dirname -- "$interpreter")" >"$new/pyvenv.cfg"

    say "Installing ..."
    for pip in "$kit"/wheels/pip-*.whl; do :; done
    env -i PATH="$PATH" HOME=/nonexistent TMPDIR="$part/tmp" LC_ALL=C.UTF-8 PIP_CONFIG_FILE=/dev/null \
        "$new/bin/python3" -I -B "$pip/pip" --isolated --quiet install --no-index --find-links "$kit/wheels" \
        --require-hashes --no-deps --only-binary :all: --no-compile --no-cache-dir --no-input --disable-pip-version-check \
        --no-warn-script-location --root-user-action ignore --requirement "$kit/requirements.txt" >&2 ||
        stop "The packages could not be installed." "check the free space; if there is enough, tell the maintainers what stands above"

    # What pip writes for itself is not kept: programs beside ours, and lists that name this folder; INSTALLED stands for them.
    # Nor is "docs", which several packages bring by mistake, each over the other's, nor are the packages' own tests.
    rm -rf -- "$packages/docs"
    find "$packages" -type d -name tests -prune -exec rm -rf -- {} +
    find "$new/bin" ! -name python3 ! -type d -exec rm -f -- {} +
    rm -f -- "$packages"/*.dist-info/RECORD
    cp -- "$kit/program/airlock-offline" "$new/bin/airlock-offline"
    cp -R -- "$kit/KIT" "$kit/MANIFEST" "$kit/INSTALLED" "$kit/SYSTEM-LIBRARIES" "$kit/udev" "$kit/guides" "$papers/"
    cp -R -- "$kit/share/." "$new/share/"
    printf '%s\n' "$fingerprint" >"$papers/FINGERPRINT"
    find "$new" -type d -exec chmod 755 {} +
    find "$new" -type f -exec chmod 644 {} +
    chmod 755 "$new/bin/airlock-offline"

    say "Comparing what was installed ..."
    run compile "$packages"
    run examine "$new" "$fingerprint"
    env -i PATH="$PATH" LC_ALL=C.UTF-8 "$new/bin/airlock-offline" --version >&2
    sync
    run name "$new" "$target"
    printf '%s\n' "$target/bin/airlock-offline"
    case $target in *[!A-Za-z0-9_./-]*) target="'$(printf '%s' "$target" | sed "s/'/'\\\\''/g")'" ;; esac
    say "Next:"
    say "  1. Compare the words above with your paper again, and keep this medium: verify.sh needs a copy of it to examine the installation."
    say "  2. As root: cp $target/share/airlock-offline/udev/*.rules /etc/udev/rules.d/ && udevadm control --reload"
    say "  3. Install the packages of $target/share/airlock-offline/SYSTEM-LIBRARIES that are missing."
    say "  4. $target/bin/airlock-offline preflight"
    say "The manual: man -l $target/share/man/man1/airlock-offline.1"
}

# One line, and everything above it is functions: all is read before anything runs, and nothing is read afterwards.
install "$@"; exit
