# Functions shared by scripts.
# shellcheck shell=bash

# usage: prints the comment at the head of the script and exits with 2.
usage() {
  sed -n '2,/^[^#]/s/^# \?//p' "$0" >&2
  exit 2
}

refuse() { # refuse REASON: the arguments are wrong
  echo "scripts/$(basename "$0"): $1" >&2
  exit 2
}

skip() { # skip REASON: ctest shows the test as skipped
  echo "SKIPPED: $1"
  exit 77
}

require_program() { # require_program FILE
  [ -f "$1" ] && [ -x "$1" ] || refuse "$1: no such program; build it first"
}
