#pragma once
#include <filesystem>
#include <string>
#include <string_view>

namespace bochner {

/// Returns the ending of a file name in small letters, without .gz: ".csv" of "A.CSV.gz".
std::string ending_of(const std::filesystem::path& file);

/// Throws DataError with a remedy if a file is in a known format that no reader has, by its ending
/// or its first bytes: Parquet, Excel, JSON, archives, ...
void refuse_foreign(const std::filesystem::path& file, std::string_view text);

}  // namespace bochner
