#!/bin/sh
# Compares this kit with its fingerprint, every file of it, and then an installation that was made from it.
#
#   sh verify.sh FINGERPRINT                     the kit
#   sh verify.sh FINGERPRINT FOLDER [PYTHON]     the kit, and what is installed in FOLDER (by /usr/bin/python3)
#
# FINGERPRINT is the SHA-256 of MANIFEST, from the paper that did not come with this medium: 64 hex digits, in quotes
# when they stand in groups. Nothing can be skipped. Exit codes: 0 everything is as listed, 2 wrong words, 3 refused.
# Before this script itself may be trusted, see docs/reference/kit.md: two commands of the system look at it first.
set -eu
PATH=/usr/sbin:/usr/bin:/sbin:/bin
LC_ALL=C
export PATH LC_ALL
unset CDPATH ENV IFS
umask 077

say() { printf '%s\n' "$*" | tr -c '[:print:]\n' '?' >&2; }
usage() { say "$1"; say "  do:       $2"; exit 2; }
refuse() { # check id and what, got, expected, what to do
    say "$1"
    [ -z "$2" ] || say "  got:      $2"
    [ -z "$3" ] || say "  expected: $3"
    say "  do:       $4"
    exit 3
}
found() { find . "$@" -print0 | tr '\n\0' '?\n'; } # one a line, whatever a name holds
refuse_found() { # what, the names that were found, if any, and what to do
    [ -z "$2" ] || refuse "$(printf '%s\n' "$2" | sed "s|^\./||; s|^|KIT-FILE: |; s|\$|: $1|")" "" "" "${3-$get_again}"
}

# The folders of listed files are the only ones; the programs alone may be run, or every file or none where a medium keeps no
# modes (FAT); nobody else may write, and no file has a second name.
look_at_modes() {
    folders=$(found -type d)
    refuse_found "a folder that is not in the list" "$(printf '%s\n' "$folders" | awk '
        NR == FNR { path = substr($0, 67); while (sub("/[^/]*$", "", path)) listed["./" path] = 1; next }
        $0 != "." && !($0 in listed)' MANIFEST -)"
    refuse_found "a hard link" "$(found -type f -links +1)"
    refuse_found "its mode lets others write, or changes who runs it" "$(found \( -type f -o -type d \) -perm /7022)" "$copy_it"
    runnable=$(found -type f -perm /111 | sort)
    programs='./install.sh
./program/airlock-offline
./verify.sh'
    [ -z "$runnable" ] || [ "$runnable" = "$programs" ] || [ "$runnable" = "$(found -type f | sort)" ] ||
        refuse "KIT-FILE: the executable files are not the kit's programs" "$runnable" "$programs" "$copy_it"
}

verify() {
    [ $# -ge 1 ] && [ $# -le 3 ] || usage "the kit's fingerprint is missing" \
        "sh verify.sh FINGERPRINT [FOLDER [PYTHON]], with the fingerprint from paper, not from this medium"
    fingerprint=$(printf '%s' "$1" | tr -d ' \t\n' | tr 'A-F' 'a-f')
    case $fingerprint in
        *[!0-9a-f]*) bad=yes ;;
        *) [ ${#fingerprint} -eq 64 ] && bad=no || bad=yes ;;
    esac
    [ "$bad" = no ] || usage "a kit's fingerprint is 64 hex digits" "copy it from the paper that you received by another way"
    for tool in sha256sum find awk tr sed sort; do
        command -v $tool >/dev/null || usage "this machine has no $tool" "install it from the system's own medium"
    done
    folder=${2-}
    [ $# -lt 2 ] || [ -d "$folder" ] || usage "$folder is not a folder" "name the folder of the installation"
    [ $# -lt 2 ] || folder=$(cd -- "$folder" && pwd -P)
    python=${3-/usr/bin/python3}
    [ $# -lt 2 ] || [ -x "$python" ] || usage "there is no $python" "install Debian's python3, or name the Python as the third word"

    cd -- "$(dirname -- "$0")"
    get_again="do not install from this kit: get it again, and find out where it was altered"
    copy_it="copy the kit to this machine's own disk (cp -R, umask 022) and verify the copy; if the result is the same, $get_again"

    if [ -L MANIFEST ] || [ ! -f MANIFEST ]; then
        refuse "KIT-MANIFEST: MANIFEST is missing, or not a file" "" "" "$get_again"
    fi
    got=$(sha256sum <MANIFEST | cut -c 1-64)
    [ "$got" = "$fingerprint" ] || refuse "KIT-MANIFEST: the list of this kit does not match the fingerprint" \
        "$got" "$fingerprint" "compare the digits with your paper; if they are right, $get_again"

    find . >/dev/null || refuse "KIT-FILE: not everything here can be read" "" "" "$get_again"
    refuse_found "neither a file nor a folder" "$(found ! -type d ! -type f)"
    hashes=$(find . -type f ! -path ./MANIFEST -exec sha256sum {} +) ||
        refuse "KIT-FILE: not every file here can be read" "" "" "$get_again"
    wrong=$(printf '%s\n' "$hashes" | awk '
        NR == FNR { expected[substr($0, 67)] = substr($0, 1, 64); next }
        { path = substr($0, substr($0, 1, 1) == "\\" ? 70 : 69) } # a name that sha256sum had to escape is in no list of ours
        !(path in expected) { print "KIT-FILE: " path ": not in the list"; next }
        {
            seen[path] = 1
            if (substr($0, 1, 64) != expected[path])
                print "KIT-FILE: " path ": changed\n  got:      " substr($0, 1, 64) "\n  expected: " expected[path]
        }
        END { for (path in expected) if (!(path in seen)) print "KIT-FILE: " path ": missing" }
    ' MANIFEST -)
    [ -z "$wrong" ] || refuse "$wrong" "" "" "$get_again"
    look_at_modes
    say "The kit matches the fingerprint: $(wc -l <MANIFEST | tr -d ' ') files are as listed, and there are no others."

    [ $# -ge 2 ] || exit 0
    exec env -i PATH="$PATH" LC_ALL=C.UTF-8 "$python" -I -S -B program/packages.py examine "$folder" "$fingerprint"
}

# One line, and everything above it is functions: all is read before anything runs, and nothing is read afterwards.
verify "$@"; exit
