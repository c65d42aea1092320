#pragma once
#include <bochner/data/read_array.hpp>
#include <bochner/train/config/config.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// How the data.* keys of a config say that tables are to be read.
ReadOptions table_options(const Config& config);

}  // namespace bochner::inline BOCHNER_PRECISION
