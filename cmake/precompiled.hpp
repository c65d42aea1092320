// What nearly every source includes and the compiler should read once.
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>
#include <xtensor/xarray.hpp>
