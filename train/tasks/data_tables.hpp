#pragma once
#include <bochner/data/formats/read_array.hpp>
#include <bochner/train/config/config.hpp>
#include <filesystem>
#include <functional>

namespace bochner {

/// Calls take(file, table) for each table in turn, and adds the file's name to its DataError.
void for_each_table(
    const Config& config,
    const std::function<void(const std::filesystem::path& file, NamedArray& table)>& take);

/// Returns how to read only these columns, so that others may hold text; or all columns if numbers
/// select them. `time`: the column of data.time_format.
CsvOptions only_columns(const Config& config, const std::string& time,
                        const std::vector<std::string>& columns);

}  // namespace bochner
