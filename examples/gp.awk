# Prints a table of a level at irregular times: a line, a wave of period 1 that fades in and out, a slow drift and
# noise of standard deviation 0.3; a tenth of the values and a gap of two units are missing.
#   awk -f examples/gp.awk > gp.csv
#   awk -v seed=2 -v rows=4000 -f examples/gp.awk > gp.csv

# Returns a number uniform on (0, 1); awk's own generator differs between machines.
function uniform() {
  state = (state * 16807) % 2147483647
  return state / 2147483647
}
function normal() { return sqrt(-2 * log(uniform())) * cos(6.283185307179586 * uniform()) }

BEGIN {
  if (rows == 0) rows = 400
  state = 7919 * (seed == 0 ? 1 : seed)
  for (i = 0; i < 10; ++i) uniform()
  print "time,level"
  while (row < rows) {
    time += -log(uniform()) * 20 / rows
    if (time > 8 && time < 10) continue
    ++row
    level = 100 + 1.5 * time + 3 * sin(0.4 * time) + 0.3 * normal()
    level += (2 + sin(0.3 * time)) * sin(6.283185307179586 * time)
    if (uniform() < 0.1) printf "%.4f,NA\n", time
    else printf "%.4f,%.4f\n", time, level
  }
}
