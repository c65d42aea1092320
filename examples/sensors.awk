# Prints readings of 30 simulated sensors at irregular places and times (time, place, value; one in fifty missing):
# three waves that travel through the unit square, and noise.
#   awk -f examples/sensors.awk > sensors.csv
#   awk -v seed=2 -v rows=4000 -f examples/sensors.awk > sensors.csv

# Returns a number uniform on (0, 1); awk's own generator differs between machines.
function uniform() {
  state = (state * 16807) % 2147483647
  return state / 2147483647
}
function normal() { return sqrt(-2 * log(uniform())) * cos(6.283185307179586 * uniform()) }

BEGIN {
  sensors = 30; waves = 3; noise = 0.1
  if (rows == 0) rows = 12000
  state = 7919 * (seed == 0 ? 1 : seed)
  for (i = 0; i < 10; ++i) uniform()
  for (i = 0; i < sensors; ++i) { x[i] = uniform(); y[i] = uniform() }
  for (w = 0; w < waves; ++w) {  # a wavelength of 0.7 to 1.4 in its own direction
    angle = 6.283185307179586 * (w + uniform()) / waves; turns = 0.7 + 0.7 * uniform()
    kx[w] = turns * cos(angle); ky[w] = turns * sin(angle)
    rate[w] = 0.5 + 0.5 * uniform(); phase[w] = uniform()
  }
  print "time,x,y,level"
  for (row = 0; row < rows; ++row) {
    time += -log(uniform()) / 32  # 32 readings per unit of time
    i = int(sensors * uniform())
    level = noise * normal()
    for (w = 0; w < waves; ++w)
      level += sqrt(2 / waves) * cos(6.283185307179586 * (kx[w] * x[i] + ky[w] * y[i] - rate[w] * time + phase[w]))
    if (uniform() < 0.02) printf "%.4f,%.4f,%.4f,NA\n", time, x[i], y[i]
    else printf "%.4f,%.4f,%.4f,%.4f\n", time, x[i], y[i], level
  }
}
