# Functions for harnesses of distributed runs: mpirun and the comparison of files.
# shellcheck shell=bash
command -v mpirun >/dev/null || skip "there is no mpirun"
"$bochner" --version | grep -q '^processes  Open MPI' || skip "this build has no MPI"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export ASAN_OPTIONS=detect_leaks=0:${ASAN_OPTIONS-} # Open MPI leaks memory
mpirun -n 2 --oversubscribe true 2>/dev/null || skip "mpirun cannot start processes here"

together() { # together N WORD...: runs bochner in N processes
  local count=$1
  shift
  mpirun -n "$count" --oversubscribe --bind-to none "$bochner" "$@"
}

# printed_together N WORD...: prints what process 0 prints; the others must print nothing. Each writes a file of its own,
# since mpirun of Open MPI 5.0.7 may print parts of standard output as errors.
printed_together() {
  local count=$1
  shift
  rm -f printed.*
  # shellcheck disable=SC2016
  mpirun -n "$count" --oversubscribe --bind-to none bash -c 'exec "$@" >"printed.$OMPI_COMM_WORLD_RANK"' bash "$bochner" "$@"
  cat printed.*
}

# pair WORD... + WORD...: runs one command in process 0 and another in process 1, since Open MPI 5.0.7 crashes on `a : b`.
pair() {
  mpirun -n 2 --oversubscribe --bind-to none bash -c '
    command=()
    for word; do
      if [ "$word" != + ]; then command+=("$word"); elif [ "$OMPI_COMM_WORLD_RANK" = 0 ]; then break; else command=(); fi
    done
    exec "${command[@]}"' bash "$@"
}

# Two checkpoints of the same step may differ only in the time of the run and its digests.
files_differ() { # files_differ RUN REFERENCE: prints files whose bytes differ
  local file bytes
  differs "$bochner" "$1" "$2"
  for file in "$2"/checkpoints/*.ckpt; do
    bytes=$({ cmp -l "$1/checkpoints/$(basename "$file")" "$file" 2>&1 || true; } | wc -l)
    [ "$bytes" -le 24 ] || echo "$(basename "$file") differs from that of $2 in $bytes bytes"
  done
}

same_files() { # same_files RUN REFERENCE
  local problem
  problem=$(files_differ "$1" "$2")
  [ -z "$problem" ] || die "$1: $problem"
}

ranks_of() { # ranks_of PID: prints the processes that mpirun started
  pgrep -P "$1" -x "$(basename "$bochner")" || true
}

nobody_left() { # nobody_left PID...
  local pid waited=0
  for pid in "$@"; do
    while kill -0 "$pid" 2>/dev/null; do
      [ $((waited += 1)) -lt 1000 ] || die "process $pid is still there after 10 s"
      sleep 0.01
    done
  done
}
