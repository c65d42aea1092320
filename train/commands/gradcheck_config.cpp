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
        "\" has no mixers; check its density with: gradcheck --density NAME --features fourier"));
  ConfigModel model{file.empty() ? "model" : file,
                    model_settings(read_spec<LanguageModelSpec>(config, "model"))};
  if (kind != "lm") model.name += " (only the blocks of the " + kind + ", below a language model)";
  return model;
}

}  // namespace bochner
