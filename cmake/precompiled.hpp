// What nearly every source includes and the compiler should read once.
#include <algorithm>
#include <bochner/autodiff/tape.hpp>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <variant>
#include <vector>
