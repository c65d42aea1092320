#pragma once
/// Templates of configs by model.kind, each defined in the folder of its task.

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

}  // namespace bochner
