#pragma once
#include <bochner/data/formats/csv.hpp>
#include <cstddef>
#include <filesystem>
#include <string>

namespace bochner {

/// Returns a config for a CSV file. `files`: data.files of the config, this file or a pattern.
/// Throws DataError with a remedy if it finds no kind.
std::string table_config(const std::string& files, const std::filesystem::path& file,
                         const CsvOptions& options);
/// Returns a config for an array without column names.
std::string rows_config(const std::string& files, const std::filesystem::path& file,
                        std::size_t rows);

}  // namespace bochner
