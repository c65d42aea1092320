#pragma once
/// Configs for tables: of the kind that their columns suggest.

#include <bochner/data/formats/csv.hpp>
#include <cstddef>
#include <filesystem>
#include <string>

namespace bochner {

/// For a CSV file; `files` is what the config says of it or of all that are like it. Throws
/// DataError with what to do where it cannot tell.
std::string table_config(const std::string& files, const std::filesystem::path& file,
                         const CsvOptions& options);
/// For an array of so many rows, without names.
std::string rows_config(const std::string& files, const std::filesystem::path& file,
                        std::size_t rows);

}  // namespace bochner
