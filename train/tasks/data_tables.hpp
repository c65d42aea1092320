#pragma once
/// The tables that data.files names.

#include <bochner/data/formats/array.hpp>
#include <bochner/train/config/config.hpp>
#include <filesystem>
#include <functional>

namespace bochner {

/// Calls take(file, table) for each of them in turn. A DataError of it is told with the file's
/// name.
void for_each_table(
    const Config& config,
    const std::function<void(const std::filesystem::path& file, NamedArray& table)>& take);

}  // namespace bochner
