#pragma once
/// Templates of configs by model.kind, each defined in the folder of its task, and their blanks.

#include <bochner/data/formats/csv.hpp>
#include <bochner/train/tasks/config_templates/template_request.hpp>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace bochner {

extern const char lm_template[], classifier_template[], bag_of_words_template[],
    forecaster_template[], ensemble_template[], table_ensemble_template[], events_template[],
    field_template[], gp_template[], vae_template[], contrastive_template[], filter_bank_template[],
    series_classifier_template[];

struct ConfigTemplate {
  /// Values of the keys of training, and further lines of them or ""; without lr, no keys at all.
  struct Training {
    const char *lr = "3e-3", *batch = "16", *warmup = "20", *steps = "1000", *validate = "250";
    const char *optimizer = "", *decay = "", *clip = "clip = 1.0\n", *more = "";
  };
  const char *kind, *text;  ///< text: TOML of model and data for fill_in(), with blanks in braces
  Training training = {};
  const char* files = "\"table.csv\"";  ///< data.files when no data are given
};

inline constexpr const char* decay_line = "weight_decay = {weight_decay}\n";
inline constexpr ConfigTemplate config_templates[] = {
    {"lm",
     lm_template,
     {.lr = "1e-2", .optimizer = "kind = \"muon\"\n", .more = "validate.batches = 50\n"},
     R"("texts/**/*.txt")"},
    {"classifier", classifier_template, {.decay = decay_line}, R"("texts/*/*")"},
    {"bag_of_words", bag_of_words_template, {.lr = ""}, R"("texts/*/*")"},
    {"forecaster", forecaster_template, {.batch = "32", .decay = decay_line, .clip = ""}},
    {"ensemble", ensemble_template, {.lr = ""}},
    {"table", table_ensemble_template, {.lr = ""}},
    {"events", events_template, {.decay = decay_line}},
    {"field", field_template, {.warmup = "50"}, R"("film.npy")"},
    {"gp", gp_template, {"0.03", "1", "4", "40", "20", "", "", ""}},
    {"vae", vae_template, {.lr = "2e-3", .batch = "32", .clip = ""}, R"("digits/*")"},
    {"contrastive", contrastive_template, {"3e-3", "128", "50", "2000", "500"}, R"("images/*")"},
    {"filter_bank", filter_bank_template, {.lr = ""}, R"("series.ts")"},
    {"series_classifier",
     series_classifier_template,
     {.lr = "2e-3", .validate = "100", .decay = "weight_decay = 0.05\n"},
     R"("series.ts")"}};

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

/// Returns a config for a CSV file. `files`: data.files of the config, this file or a pattern.
/// Throws DataError with a remedy if it finds no kind.
std::string table_config(const std::string& files, const std::filesystem::path& file,
                         const CsvOptions& options, const TemplateRequest& request);
/// Returns a config for an array without column names.
std::string rows_config(const std::string& files, const std::filesystem::path& file,
                        std::size_t rows, const TemplateRequest& request);

}  // namespace bochner
