#!/bin/sh
# Compares this kit with its fingerprint, every file of it, and then an installation that was made from it.
#
#   sh verify.sh FINGERPRINT                     the kit
#   sh verify.sh FINGERPRINT FOLDER [PYTHON]     the kit, and what is installed in FOLDER (by /usr/bin/python3)
#
# FINGERPRINT is the SHA-256 of MANIFEST, from the paper that came by another way than this medium: 64 hex digits, in quotes
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

[ $# -ge 1 ] && [ $# -le 3 ] || usage "the kit's fingerprint is missing" \
    "sh verify.sh FINGERPRINT [FOLDER [PYTHON]], with the fingerprint from paper, not from this medium"
fingerprint=$(printf '%s' "$1" | tr -d ' \t\n' | tr 'A-F' 'a-f')
case $fingerprint in
    *[!0-9a-f]*) bad=yes ;;
    *) [ ${#fingerprint} -eq 64 ] && bad=no || bad=yes ;;
esac
[ "$bad" = no ] || usage "a kit's fingerprint is 64 hex digits" "copy it from the paper that came by another way"
for tool in sha256sum find awk tr; do
    command -v $tool >/dev/null || usage "this machine has no $tool" "install it from the system's own medium"
done
folder=${2-}
[ $# -lt 2 ] || [ -d "$folder" ] || usage "$folder is not a folder" "name the folder of the installation"
[ $# -lt 2 ] || folder=$(cd -- "$folder" && pwd -P)
python=${3-/usr/bin/python3}

cd -- "$(dirname -- "$0")"
get_again="do not install from this kit: get it again, and find out where it was altered"

if [ -L MANIFEST ] || [ ! -f MANIFEST ]; then
    refuse "KIT-MANIFEST: MANIFEST is missing, or not a file" "" "" "$get_again"
fi
found=$(sha256sum <MANIFEST | cut -c 1-64)
[ "$found" = "$fingerprint" ] || refuse "KIT-MANIFEST: the list of this kit is not the one of the fingerprint" \
    "$found" "$fingerprint" "compare the digits with your paper; if they are right, $get_again"

others=$(find . ! -type d ! -type f) || refuse "KIT-FILE: not everything here can be read" "" "" "$get_again"
[ -z "$others" ] || refuse "KIT-FILE: neither a file nor a folder: $others" "" "" "$get_again"
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
say "The kit is the one of the fingerprint: $(wc -l <MANIFEST | tr -d ' ') files are as listed, and nothing else is here."

[ $# -ge 2 ] || exit 0
exec env -i PATH="$PATH" LC_ALL=C.UTF-8 "$python" -I -B program/packages.py examine "$folder" "$fingerprint"
