#pragma once
/// Configs to begin with: small, with a comment on every line that a user will want to change.

#include <bochner/data/formats/csv.hpp>
#include <filesystem>
#include <string>
#include <vector>

namespace bochner {

/// What a config can be begun for: model.kind.
std::vector<std::string> config_template_kinds();
/// A config (TOML) of this kind, whose data.files are to be filled in where it reads any. Throws
/// std::invalid_argument for another kind.
std::string config_template(const std::string& kind);

/// Whether a path stands where a config is expected and is none: a folder, or a file that is not
/// called *.toml, in any case, and has none of the sections of configs.
bool is_data(const std::filesystem::path& path);
/// A config for the data of a file or of a folder: of a kind and of a size that they suggest.
/// `options` say how tables are written. Throws DataError with what to do where it cannot tell, and
/// what readers throw.
std::string config_template_for(const std::filesystem::path& data, const CsvOptions& options = {});

}  // namespace bochner
