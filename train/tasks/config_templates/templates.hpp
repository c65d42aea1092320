#pragma once
/// Templates of configs by model.kind, each defined in the folder of its task, and their blanks.

#include <bochner/data/formats/csv.hpp>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace bochner {

extern const char lm_template[], classifier_template[], forecaster_template[], events_template[],
    field_template[], gp_template[], vae_template[], contrastive_template[];

struct ConfigTemplate {
  const char *kind, *text;              ///< text: TOML for fill_in(), with blanks in braces
  const char* files = "\"table.csv\"";  ///< data.files when no data are given
};

inline constexpr ConfigTemplate config_templates[] = {
    {"lm", lm_template, R"("texts/**/*.txt")"},
    {"classifier", classifier_template, R"("texts/*/*")"},
    {"forecaster", forecaster_template},
    {"events", events_template},
    {"field", field_template, R"("film.npy")"},
    {"gp", gp_template},
    {"vae", vae_template, R"("digits/*")"},
    {"contrastive", contrastive_template, R"("images/*")"}};

inline constexpr const char* text_length = "length = 256                  # bytes of a text\n";

/// Values of the blanks of a template by name, as TOML.
using Blanks = std::map<std::string, std::string>;

/// Returns the template of a kind, with defaults for other blanks. Throws std::invalid_argument for
/// an unknown kind.
std::string fill_in(const std::string& kind, const Blanks& blanks);
/// Adds the steps of ten epochs, from 100 to 1000, with warmup and validation to match.
Blanks with_steps(Blanks blanks, std::size_t steps_of_epoch);
/// Returns names as a TOML list: ["a", "b"].
std::string quoted_list(const std::vector<std::string>& names);
/// Returns a config of a classifier of `texts` texts. `columns`: keys of a table; "" for files in
/// folders named like their labels.
std::string text_config(const std::string& files, const std::string& columns, std::size_t texts);

/// Returns a config for a CSV file. `files`: data.files of the config, this file or a pattern.
/// Throws DataError with a remedy if it finds no kind.
std::string table_config(const std::string& files, const std::filesystem::path& file,
                         const CsvOptions& options);
/// Returns a config for an array without column names.
std::string rows_config(const std::string& files, const std::filesystem::path& file,
                        std::size_t rows);

}  // namespace bochner
