# What the harnesses share that kill the real command: a tiny run, and the oracle that judges what is left of it.
# shellcheck shell=bash
export LC_ALL=C

# A harness that hangs is ended with all that it started, after `limit` seconds, which it sets before it reads this.
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

skip() { # skip REASON: ctest shows the test as skipped, not as passed
  echo "SKIPPED: $1"
  exit 77
}

die() {
  echo "FAILED: $*"
  exit 1
}

# until_said PATTERN LOG PID: waits for a line of a process; that one ended without it is a failure.
until_said() {
  local alive=yes
  while [ $alive = yes ]; do
    kill -0 "$3" 2>/dev/null || alive=no
    if grep -qs -e "$1" "$2"; then return; fi
    sleep 0.01
  done
  die "ended without saying $1: $(tail -1 "$2")"
}

# write_config FILE STEPS EVERY: a checkpoint every EVERY steps; validations, logs and averages at other ones.
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

# go_on CONFIG RUN: the words that start the run or, where a killed process left one, go on with it.
go_on() {
  if [ -e "$2/config.toml" ]; then echo "resume $2"; else echo "train $1 --run $2"; fi
}

# acknowledged LOG...: the newest step of which the command said that it is saved.
acknowledged() {
  sed -nE 's|^saved +.*/step-0*([0-9]+)\.ckpt$|\1|p' "$@" | sort -n | tail -1
}

# verdict BOCHNER RUN LOG: what is wrong with a run after a kill; nothing when every promise holds.
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

# digests BOCHNER RUN: a line for each tensor of the newest checkpoint: weights, averages, moments of the optimizer.
digests() { "$1" inspect "$2" --json | grep -oE '"(name|digest)": *"[^"]*"' | paste - -; }

# tensors_differ BOCHNER RUN REFERENCE: those that are not equal to the bit.
tensors_differ() { diff <(digests "$1" "$2") <(digests "$1" "$3") | sed -n 's/^[<>].*"name": *"\([^"]*\)".*/\1 differs/p' | uniq || true; }

# The tensors of a safetensors file, which stand behind its header; that one holds the run's config as well.
tensor_bytes() {
  tail -c +$((9 + $(od -A n -t u8 -N 8 "$1"))) "$1"
}

# differs BOCHNER RUN REFERENCE: what is not equal to the bit in two finished runs.
differs() {
  tensors_differ "$@"
  "$1" export "$2" -o "$scratch/exported.run" >"$scratch/words" 2>&1 || cat "$scratch/words"
  "$1" export "$3" -o "$scratch/exported.reference" >/dev/null
  cmp <(tensor_bytes "$scratch/exported.run") <(tensor_bytes "$scratch/exported.reference") 2>&1 || true
  cmp "$2/metrics.jsonl" "$3/metrics.jsonl" 2>&1 || true
}

require_strace() {
  command -v strace >/dev/null || skip "strace is not installed"
  strace -o /dev/null true 2>/dev/null || skip "this machine forbids ptrace"
}

# traced WORDS...: one thread, because strace counts the calls of each thread.
traced() {
  strace -f -qq "$@"
}

# kinds_of LOG: the kinds of calls, each with the first and the last number to disturb: from the first call on the run
# on, when the program is loaded and the config is read.
kinds_of() {
  awk '{ sub(/^[0-9]+ +/, ""); name = $0; sub(/\(.*/, "", name); if (name !~ /^[a-z0-9_]+$/) next; ++count[name] }
       /"run/ && name != "execve" && !found { found = 1; for (n in count) before[n] = count[n]; --before[name] }
       END { for (n in count) if (n != "mmap" && count[n] > before[n]) print n, before[n] + 1, count[n] }' "$1" | sort
}
