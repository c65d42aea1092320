#pragma once
/// The tables that data.files names.

#include <bochner/data/formats/read_array.hpp>
#include <bochner/train/config/config.hpp>
#include <filesystem>
#include <functional>

namespace bochner {

/// Calls take(file, table) for each of them in turn. A DataError of it is told with the file's
/// name.
void for_each_table(
    const Config& config,
    const std::function<void(const std::filesystem::path& file, NamedArray& table)>& take);

/// Only these columns, so that others may hold text; all where numbers choose them. `time` is the
/// one that data.time_format is for.
CsvOptions only_columns(const Config& config, const std::string& time,
                        const std::vector<std::string>& columns);

}  // namespace bochner
