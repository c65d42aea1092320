// The same for sources that see no tensor.
#include <algorithm>
#include <bochner/autodiff/shape.hpp>
#include <cmath>
#include <filesystem>
#include <functional>
#include <map>
#include <xtensor/xarray.hpp>
