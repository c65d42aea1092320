#pragma once
/// Configs of labelled series: of a file, of a table, and of a folder.

#include <bochner/data/files/regular_file.hpp>
#include <bochner/data/formats/csv.hpp>
#include <bochner/train/tasks/config_templates/template_request.hpp>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace bochner {

/// Returns a config for series. `files`: data.files in TOML; `test`: the file or pattern of
/// NAME_TEST, if there is one; `keys`: further lines of [data].
std::string labelled_series_config(const std::string& files,
                                   const std::optional<std::filesystem::path>& test,
                                   const std::string& keys);
/// Returns the file or folder of test series beside one to train on: NAME_TEST beside NAME_TRAIN.
std::optional<std::filesystem::path> test_file_of(const std::filesystem::path& file);

/// Returns a config for a file of series: .ts, .arff, or .npz with x and y.
std::string series_file_config(const std::string& files, const std::filesystem::path& file,
                               const TemplateRequest& request);
/// Returns a config for a table if it holds labelled series: rows of at least 16 numbers in columns
/// that are numbered, or a file named NAME_TRAIN; or rows of times with an id and a label that is
/// constant in each series. Throws DataError if several columns may be the label.
std::optional<std::string> labelled_table_config(const std::string& files,
                                                 const std::filesystem::path& file,
                                                 const Input& input, const CsvOptions& options,
                                                 const TemplateRequest& request);
/// Returns a config for a folder of recordings or tables, each a series, whose labels are their
/// subfolders or the beginnings of their names. Throws DataError for recordings without labels.
std::optional<std::string> labelled_folder_config(const std::filesystem::path& folder,
                                                  const std::vector<std::filesystem::path>& files,
                                                  const TemplateRequest& request);

}  // namespace bochner
