#pragma once
#include <bochner/data/event_files.hpp>
#include <bochner/data/formats/read_array.hpp>
#include <bochner/train/config/config.hpp>

namespace bochner {

/// How the data.* keys of a config say that tables are to be read.
ReadOptions table_options(const Config& config);
/// Where it says that the columns of event_files are.
EventColumns event_columns(const Config& config);

}  // namespace bochner
