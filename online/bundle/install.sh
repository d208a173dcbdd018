#!/bin/sh
# Installs the online half from this bundle, and from nothing else: no registry is asked, no name is looked up, nothing is built.
#
#   sh install.sh FINGERPRINT PREFIX [PYTHON]
#
# FINGERPRINT is the SHA-256 of MANIFEST, from the paper: 64 hex digits, in quotes when they stand in groups. PREFIX is a folder whose bin
# is in the PATH, such as ~/.local or /usr/local: the program goes into PREFIX/lib, and links to it, to its manual page and its completions
# go where a shell looks. PYTHON is /usr/bin/python3 unless named. It verifies a private copy of the bundle and installs from that copy.
# Nothing is overwritten; when it fails or is stopped, nothing but empty folders stays behind. Exit codes: 0 done, 2 cannot be done here,
# 3 refused, 130 interrupted.
set -eu
caller_path=$PATH
PATH=/usr/sbin:/usr/bin:/sbin:/bin
LC_ALL=C
export PATH LC_ALL
unset CDPATH ENV IFS
umask 077

say() { printf '%s\n' "$*" | tr -c '[:print:]\n' '?' >&2; }
stop() { say "$1"; say "  do:       $2"; exit "${3-2}"; }
clean() { [ -z "$part" ] || rm -rf -- "$part"; }
value() { sed -n "s/^$1=//p" "$bundle/BUNDLE"; }

# Copy the medium into $bundle, and compare every file of the copy with MANIFEST, and MANIFEST with what was typed.
take_bundle() {
    get_again="do not install from this bundle: get it again, and find out where it was altered"
    mkdir "$bundle"
    cp -R --preserve=mode,links -- "$1/." "$bundle" || stop "the bundle could not be copied whole" "check the folder and the free space"
    cd -- "$bundle"
    if [ -L MANIFEST ] || [ ! -f MANIFEST ]; then
        stop "BUNDLE-MANIFEST: MANIFEST is missing, or not a file" "$get_again" 3
    fi
    got=$(sha256sum <MANIFEST | cut -c 1-64)
    [ "$got" = "$fingerprint" ] || stop "BUNDLE-MANIFEST: the list of this bundle does not match the fingerprint
  got:      $got
  expected: $fingerprint" "compare the digits with your paper; if they are right, $get_again" 3
    others=$(find . ! -type d ! -type f -print0 | tr '\n\0' '?\n')
    [ -z "$others" ] || stop "BUNDLE-FILE: neither a file nor a folder: $others" "$get_again" 3
    sha256sum --check --strict --quiet MANIFEST >&2 || stop "BUNDLE-FILE: not as listed, see above" "$get_again" 3
    listed=$(cut -c 67- MANIFEST | sort)
    found=$(find . -type f ! -path ./MANIFEST -print0 | tr '\n\0' '?\n' | cut -c 3- | sort)
    [ "$found" = "$listed" ] || stop "BUNDLE-FILE: there are files that are not in the list" "$get_again" 3
    say "The bundle matches the fingerprint: $(wc -l <MANIFEST | tr -d ' ') files are as listed, and there are no others."
}

# Print the path of the Python that was named, or say why the bundle is not for it.
interpreter() {
    "$python" -I -S -B -c 'import os, sys
kit = dict(line.split("=", 1) for line in sys.stdin.read().splitlines())
def stop(what, do):
    sys.stderr.write("%s\n  do:       %s\n" % (what, do)); sys.exit(2)
version = "%d.%d" % sys.version_info[:2]
libc = (os.confstr("CS_GNU_LIBC_VERSION") or "none").split()[-1]
if sys.implementation.name != "cpython" or version != kit["python"]:
    stop("this is %s %s, but the bundle is for CPython %s" % (sys.implementation.name, version, kit["python"]),
         "name the right Python as the third word, or build the bundle with KIT_PYTHON=" + version)
if os.uname().machine != kit["machine"] or sys.maxsize < 2**32:
    stop("this machine is %s, but the bundle is for 64-bit %s" % (os.uname().machine, kit["machine"]), "build a bundle for it")
if libc == "none" or [int(n) for n in libc.split(".")[:2]] < [int(n) for n in kit["glibc"].split(".")]:
    stop("the C library of the system is %s, but the bundle needs glibc %s" % (libc, kit["glibc"]), "use a newer system")
sys.stdout.write(os.path.realpath(sys.executable) + "\n")' <"$bundle/BUNDLE"
}

install() {
    system=$(uname -s)
    [ "$system" = Linux ] || stop "this system is $system, and the bundle is for Linux" \
        "on macOS install the online half from the pinned files: README.md, Install it for real"
    [ $# -eq 2 ] || [ $# -eq 3 ] || stop "a fingerprint, in quotes, and a folder are needed" "sh install.sh FINGERPRINT PREFIX [PYTHON]"
    fingerprint=$(printf '%s' "$1" | tr -d ' \t\n' | tr 'A-F' 'a-f')
    case $fingerprint in
        *[!0-9a-f]*) bad=yes ;;
        *) [ ${#fingerprint} -eq 64 ] && bad=no || bad=yes ;;
    esac
    [ "$bad" = no ] || stop "a bundle's fingerprint is 64 hex digits" "copy it from the paper that you received by another way"
    medium=$(cd -- "$(dirname -- "$0")" && pwd -P)
    python=${3-/usr/bin/python3}
    [ -x "$python" ] || stop "there is no $python" "install the system's python3, or name the Python as the third word"
    prefix=$(readlink -m -- "$2") || stop "the folder has no name" "name one, such as ~/.local"
    case $prefix/ in "$medium"/*) stop "$prefix is within the bundle" "name a folder outside it" ;; esac
    umask 022
    mkdir -p -- "$prefix/bin" "$prefix/lib" && [ -w "$prefix/bin" ] && [ -w "$prefix/lib" ] ||
        stop "$prefix cannot be written" "name another folder, or be root"
    umask 077

    part=
    trap clean EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM HUP
    part=$(mktemp -d -- "$prefix/lib/airlock-online.part.XXXXXX") || stop "no folder can be made in $prefix/lib" "check the free space"
    bundle=$part/bundle
    new=$part/new
    say "Copying the bundle ..."
    take_bundle "$medium"
    target=$prefix/lib/$(value name)
    umask 022
    { (cd -- "$bundle" && find share -type f) && printf '%s\n' "lib/$(value name)" bin/airlock-online; } | while read -r file; do
        if [ -e "$prefix/$file" ] || [ -L "$prefix/$file" ]; then
            stop "$prefix/$file exists already, and nothing is installed over anything" \
                "take away the earlier version, its folder in $prefix/lib and the links to it, or name another folder"
        fi
        above=$(dirname -- "$prefix/$file")
        mkdir -p -- "$above" && [ -w "$above" ] || stop "$above cannot be written" "make it yours, or name another folder"
    done
    interpreter=$(interpreter)

    packages=$new/lib/python$(value python)/site-packages
    mkdir -p "$new/bin" "$part/tmp" "$packages"
    ln -s "$interpreter" "$new/bin/python3"
    printf 'home = %s\ninclude-system-site-packages = false\n' "$(dirname -- "$interpreter")" >"$new/pyvenv.cfg"
    say "Installing ..."
    for pip in "$bundle"/wheels/pip-*.whl; do :; done
    env -i PATH="$PATH" HOME=/nonexistent TMPDIR="$part/tmp" LC_ALL=C.UTF-8 PIP_CONFIG_FILE=/dev/null \
        "$new/bin/python3" -I -B "$pip/pip" --isolated --quiet install --no-index --find-links "$bundle/wheels" \
        --require-hashes --no-deps --only-binary :all: --no-compile --no-cache-dir --no-input --disable-pip-version-check \
        --no-warn-script-location --root-user-action ignore --requirement "$bundle/requirements.txt" >&2 ||
        stop "The packages could not be installed." "check the free space; if there is enough, tell the maintainers what stands above"
    find "$new/bin" ! -name python3 ! -type d -exec rm -f -- {} + # programs beside ours, which name the folder of the copy
    cp -- "$bundle/program/airlock-online" "$new/bin/airlock-online"
    cp -R -- "$bundle/share" "$new/share"
    cp -- "$bundle/BUNDLE" "$bundle/MANIFEST" "$new/"
    find "$new" -type d -exec chmod 755 {} +
    find "$new" -type f -exec chmod 644 {} +
    chmod 755 "$new/bin/airlock-online"
    env -i PATH="$PATH" "$new/bin/python3" -I -m compileall -q -s "$new" -p "$target" "$packages" >&2 || :
    env -i PATH="$PATH" LC_ALL=C.UTF-8 HOME="$part/tmp" "$new/bin/airlock-online" --version >&2
    sync
    trap '' INT TERM HUP # from here on it is there, and its links follow
    mv -T -n -- "$new" "$target"
    [ ! -e "$new" ] || stop "$target was made by somebody else meanwhile" "see what it is, and begin again"
    cd -- "$target"
    find share -type f | while read -r file; do
        ln -s -- "$target/$file" "$prefix/$file"
    done
    ln -s -- "$target/bin/airlock-online" "$prefix/bin/airlock-online"
    printf '%s\n' "$prefix/bin/airlock-online"
    found=$(PATH=$caller_path && command -v airlock-online) || found=
    [ "$found" -ef "$target/bin/airlock-online" ] ||
        say "By your PATH airlock-online is not this program: put $prefix/bin first in it, or type the whole name."
    say "Next: airlock-online doctor, and man airlock-online"
}

# One line, and everything above it is functions: all is read before anything runs, and nothing is read afterwards.
install "$@"; exit
