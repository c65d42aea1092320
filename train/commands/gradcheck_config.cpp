#include <bochner/base/errors.hpp>
#include <bochner/train/commands/gradcheck_config.hpp>
#include <bochner/train/studies/small_model.hpp>
#include <bochner/train/tasks/registered_parameters.hpp>
#include <bochner/train/tasks/stack_checks.hpp>

namespace bochner {

ConfigModel model_of_config(const std::string& file, const std::vector<std::string>& sets) {
  const Config config =
      file.empty() ? with_sets(Config(registered_parameters()), sets) : read_config(file, sets);
  const std::string& kind = config.text("model.kind");
  if (!has_stack(config))
    throw std::invalid_argument(in_words(
        "gradcheck: model.kind = \"", kind,
        "\" of this config has no mixers to check; its kinds have checks of their own, such as "
        "gradcheck --density NAME"));
  auto spec = read_spec<LanguageModelSpec>(config, "model");
  const std::string name = file.empty() ? "model" : file;
  if (kind == "lm") return {name, model_settings(spec)};
  const bool crosses = norms().traits(spec.block.norm, {spec.block.width}).crosses_tokens;
  if (crosses) spec.block.norm = LanguageModelSpec().block.norm;
  return {in_words(name, " (only the blocks of the ", kind, ", below a language model",
                   crosses ? ", with norms of each token" : "", ")"),
          model_settings(spec)};
}

}  // namespace bochner
