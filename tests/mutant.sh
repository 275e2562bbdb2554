#!/bin/sh
# Passes if the program, a test of changed code, fails. Its first failed check ends it: a mutant may be slow, and later
# checks say no more. What it leaves in its temporary folder goes with it.
#   tests/mutant.sh PROGRAM
set -u
test -x "$1" || exit 1
ulimit -c 0
TMPDIR=$(mktemp -d) || exit 1
trap 'rm -rf "$TMPDIR"' EXIT
export TMPDIR CMOCKA_TEST_ABORT=1
! "$1"
