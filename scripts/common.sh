# What scripts share.
# shellcheck shell=bash

# usage: prints the comment at the head of the script, and ends it.
usage() {
  sed -n '2,/^[^#]/s/^# \?//p' "$0" >&2
  exit 2
}

refuse() { # refuse REASON: what was asked for is wrong
  echo "scripts/$(basename "$0"): $1" >&2
  exit 2
}

skip() { # skip REASON: ctest shows the test as skipped, not as passed
  echo "SKIPPED: $1"
  exit 77
}

require_program() { # require_program FILE
  [ -f "$1" ] && [ -x "$1" ] || refuse "$1: no such program; build it first"
}
