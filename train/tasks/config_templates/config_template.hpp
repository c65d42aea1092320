#pragma once
/// Initial configs: small, with comments on the lines that users often change.

#include <bochner/data/formats/csv.hpp>
#include <bochner/train/tasks/config_templates/template_request.hpp>
#include <filesystem>
#include <string>
#include <vector>

namespace bochner {

/// Returns the values of model.kind that have a template.
std::vector<std::string> config_template_kinds();
/// Returns a config (TOML) of this kind with example data.files. Throws std::invalid_argument for
/// another kind.
std::string config_template(const std::string& kind);

/// Returns whether a path is data and not a config: a folder, or a file whose name does not end in
/// .toml, in any case, and whose text does not begin like a config.
bool is_data(const std::filesystem::path& path);
/// Returns a config for a file or a folder, with a kind and a size that suit its data. `options`:
/// format of tables. Throws DataError with a remedy if it finds no kind, std::invalid_argument if
/// it cannot do what is requested, and the errors of readers.
std::string config_template_for(const std::filesystem::path& data, const CsvOptions& options = {},
                                const TemplateRequest& request = {});

}  // namespace bochner
