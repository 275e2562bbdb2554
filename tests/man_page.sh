#!/bin/sh
# The man page: a section for each verb of --help, each option of each verb, and nothing that man or mandoc complains of.
set -u
program=${PBDBENCH_PROGRAM:?the program}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
fail() { printf 'FAILED: %s\n' "$*"; failed=$((failed + 1)); }

"$program" help --man >"$work/page" || fail "help --man ends with $?"
verbs=$("$program" --help | sed -n 's/^  \([a-z][a-z]*\) .*/\1/p')
options=0
for verb in $verbs; do
    grep -q "^\.SS $verb: " "$work/page" || fail "no section of $verb"
    sed -n "/^\.SS $verb: /,/^\.S[SH] /p" "$work/page" >"$work/section"
    "$program" "$verb" --help | sed -n 's/^  .. *--\([a-z-]*\).*/\1/p' | grep -v '^help$' >"$work/options"
    while read -r option; do
        spelt=$(printf '%s' "--$option" | sed 's/-/\\\\-/g')
        grep -q "^\\\\fB.*$spelt\\\\fR" "$work/section" || fail "no $option of $verb"
        options=$((options + 1))
    done <"$work/options"
done
[ "$(echo "$verbs" | wc -w)" -ge 20 ] || fail "only these verbs: $verbs"
[ "$options" -ge 150 ] || fail "only $options options"
for code in 0 1 2 3 4 5 130; do
    sed -n '/^\.SH EXIT/,/^\.SH ENV/p' "$work/page" | grep -qx "$code" || fail "no exit code $code"
done
for verb in list run; do
    "$program" help "$verb" >"$work/a"
    "$program" "$verb" --help >"$work/b"
    cmp -s "$work/a" "$work/b" || fail "help $verb is not $verb --help"
done
LC_ALL=C grep -q '[^ -~]' "$work/page" && fail "a letter that is not ASCII"

lints=
if command -v man >/dev/null; then
    lints="$lints man"
    man --warnings -l -Tutf8 "$work/page" 2>"$work/warnings" >/dev/null </dev/null || fail "man ends with $?"
    [ ! -s "$work/warnings" ] || { fail "man --warnings:"; head -n 5 "$work/warnings"; }
fi
if command -v mandoc >/dev/null; then
    lints="$lints mandoc"
    # A page that is made by a build has the version, and no date that would be true.
    mandoc -Tlint -W warning "$work/page" 2>&1 | grep -v 'missing date' >"$work/warnings"
    [ ! -s "$work/warnings" ] || { fail "mandoc -Tlint:"; head -n 5 "$work/warnings"; }
fi
printf '%s verbs, %d options, linted by:%s\n' "$(echo "$verbs" | wc -w)" "$options" "${lints:- none}"
[ "$failed" -eq 0 ]
