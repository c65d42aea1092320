# Functions shared by the harnesses that kill the real command: a tiny run, and an oracle that judges what is left.
# shellcheck shell=bash
export LC_ALL=C

# Stops a hanging harness and its children after `limit` seconds, which it sets before sourcing this file.
if [ -z "${BOCHNER_LIMITED-}" ]; then
  status=0
  BOCHNER_LIMITED=1 timeout --kill-after=5 "${limit:-600}" "$0" "$@" &
  trap 'kill $!' INT TERM
  wait $! || status=$?
  [ $status -ne 124 ] || echo "FAILED: not done after ${limit:-600} seconds"
  exit $status
fi

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

skip() { # skip REASON: ctest shows the test as skipped
  echo "SKIPPED: $1"
  exit 77
}

die() {
  echo "FAILED: $*"
  exit 1
}

# until_said PATTERN LOG PID: waits for a line of a process; fails if it ends without it.
until_said() {
  local alive=yes
  while [ $alive = yes ]; do
    kill -0 "$3" 2>/dev/null || alive=no
    if grep -qs -e "$1" "$2"; then return; fi
    sleep 0.01
  done
  die "ended without saying $1: $(tail -1 "$2")"
}

# write_config FILE STEPS EVERY: a checkpoint every EVERY steps, with validations, logs and averages at other ones.
write_config() {
  [ -e "$scratch/text" ] || for i in $(seq 150); do echo "line $((i * i * 7919 % 1000)),"; done >"$scratch/text"
  cat >"$1" <<END
[model]
blocks = 1
width = 8
expansion = 1
mixer = { kind = "linear", heads = 2, m = 4, chunk = 4, time_kernel = "decay" }
[data]
files = ["$scratch/text"]
length = 8
[optim]
ema = 0.9
[train]
batch = 2
steps = $2
validate = { every = $((3 * $3 + 1)), batches = 2 }
checkpoint = { every = $3, keep_last = 1, keep_best = 1 }
log = { every = 3 }
END
}

# start_or_resume CONFIG RUN: prints the arguments that start the run, or resume one that a killed process left.
start_or_resume() {
  if [ -e "$2/config.toml" ]; then echo "resume $2"; else echo "train $1 --run $2"; fi
}

# acknowledged LOG...: prints the newest step reported as saved.
acknowledged() {
  sed -nE 's|^saved +.*/step-0*([0-9]+)\.ckpt$|\1|p' "$@" | sort -n | tail -1
}

# verdict BOCHNER RUN LOG: prints what is wrong with a run after a kill, or nothing.
verdict() {
  local acked found newest
  acked=$(acknowledged "$3")
  if [ ! -e "$2/config.toml" ]; then
    if [ -n "$acked" ]; then echo "the run with step $acked is gone"; fi
    return
  fi
  if [ -z "$(ls "$2/checkpoints" | grep -v tmp)" ]; then
    if [ -n "$acked" ]; then echo "step $acked was acknowledged and there is no checkpoint"; fi
    return
  fi
  if ! found=$("$1" inspect "$2" --json 2>&1); then
    echo "not loadable: $found"
  elif grep -q '^skipped' <<<"$found"; then
    echo "a published file is damaged: $(grep '^skipped' <<<"$found")"
  else
    newest=$(sed -nE '0,/"step"/ s/^ *"step": ([0-9]+),$/\1/p' <<<"$found")
    [ "${newest:-0}" -ge "${acked:-0}" ] || echo "step $acked was acknowledged, the newest is ${newest:-unknown}"
  fi
}

# digests BOCHNER RUN: prints a line per tensor of the newest checkpoint: weights, averages, optimizer moments.
digests() { "$1" inspect "$2" --json | grep -oE '"(name|digest)": *"[^"]*"' | paste - -; }

# tensors_differ BOCHNER RUN REFERENCE: prints the tensors that differ in a bit.
tensors_differ() { diff <(digests "$1" "$2") <(digests "$1" "$3") | sed -n 's/^[<>].*"name": *"\([^"]*\)".*/\1 differs/p' | uniq || true; }

# tensor_bytes FILE: prints the tensors of a safetensors file without its header, which also holds the config.
tensor_bytes() {
  tail -c +$((9 + $(od -A n -t u8 -N 8 "$1"))) "$1"
}

# differs BOCHNER RUN REFERENCE: prints what differs in two finished runs.
differs() {
  tensors_differ "$@"
  "$1" export "$2" -o "$scratch/exported.run" >"$scratch/words" 2>&1 || cat "$scratch/words"
  "$1" export "$3" -o "$scratch/exported.reference" >/dev/null
  cmp <(tensor_bytes "$scratch/exported.run") <(tensor_bytes "$scratch/exported.reference") 2>&1 || true
  cmp "$2/metrics.jsonl" "$3/metrics.jsonl" 2>&1 || true
}

require_strace() {
  command -v strace >/dev/null || skip "strace is not installed"
  strace -o /dev/null true 2>/dev/null || skip "this machine does not permit ptrace"
}

# traced WORDS...: strace; use one thread, because it counts the calls of each thread.
traced() {
  strace -f -qq "$@"
}

# kinds_of LOG: prints the kinds of calls, each with the first and last number to disturb: those from the first call on
# the run on, when the program is loaded and the config read.
kinds_of() {
  awk '{ sub(/^[0-9]+ +/, ""); name = $0; sub(/\(.*/, "", name); if (name !~ /^[a-z0-9_]+$/) next; ++count[name] }
       /"run/ && name != "execve" && !found { found = 1; for (n in count) before[n] = count[n]; --before[name] }
       END { for (n in count) if (n != "mmap" && count[n] > before[n]) print n, before[n] + 1, count[n] }' "$1" | sort
}
