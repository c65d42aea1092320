// Headers that nearly every source includes, independent of the precision.
#include <algorithm>
#include <bochner/base/keys.hpp>
#include <bochner/base/shape.hpp>
#include <bochner/base/xtensor.hpp>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <sstream>
#include <string>
#include <variant>
#include <vector>
