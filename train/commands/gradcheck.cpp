#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <bochner/base/format.hpp>
#include <bochner/optim/optimizer.hpp>
#include <bochner/train/commands/common_options.hpp>
#include <bochner/train/commands/gradcheck_config.hpp>
#include <bochner/train/run/own_program.hpp>
#include <bochner/train/studies/density_checks.hpp>
#include <bochner/train/studies/model_checks.hpp>
#include <bochner/train/studies/optimizer_checks.hpp>
#include <bochner/train/studies/small_model.hpp>

namespace bochner {
namespace {

constexpr bool is_double = sizeof(real) == sizeof(double);
/// Tokens of the texts, and of a second check that crosses the chunks of most mixers.
constexpr std::size_t usual_length = 9, longer_length = 70;

struct GradcheckOptions {
  std::string mixer, features, density;  ///< "" for all
  std::string optimizer, schedule;
  std::string config;
  std::vector<std::string> sets;
  std::optional<std::size_t> length;
  bool json = false;
  std::string called, sources;  ///< from the program in float: name of the model, and its sources
  const CommandLine* line = nullptr;

  bool has_model() const { return !config.empty() || !sets.empty(); }
};

/// Returns the words that ask the program in double precision for the same.
std::vector<std::string> words_for_double(const GradcheckOptions& options) {
  std::vector<std::string> words{options.line->words()[0], "gradcheck"};
  const auto add = [&](const char* option, const std::string& value) {
    if (!value.empty()) words.insert(words.end(), {option, value});
  };
  add("--mixer", options.mixer), add("--features", options.features);
  add("--density", options.density), add("--optimizer", options.optimizer);
  add("--schedule", options.schedule), add("--called", options.called);
  add("--sources", program_sources());
  for (const std::string& setting : options.sets) add("--set", setting);
  if (options.length) add("--length", std::to_string(*options.length));
  if (options.line->threads() > 0) add("--threads", std::to_string(options.line->threads()));
  if (options.json) words.push_back("--json");
  return words;
}

/// Replaces this process by the program in double precision, NAME64 next to this one, since finite
/// differences need it. Returns if there is none.
void exec_double_program(const GradcheckOptions& options) {
  const std::string sibling = own_path() + "64";
  if (access(sibling.c_str(), X_OK) == 0) {
    std::vector<std::string> words = words_for_double(options);
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    execv(sibling.c_str(), pointers.data());
  }
  fmt::print(stderr,
             "{}: not found; build the target {}. Checking in float with a loose tolerance\n",
             sibling, std::filesystem::path(sibling).filename().string());
}

/// Throws std::invalid_argument if the program in float, which handed over to this one, was built
/// from other sources.
void require_same_sources(const GradcheckOptions& options) {
  const std::string name = std::filesystem::path(own_path()).filename().string();
  demand(options.sources.empty() || options.sources == program_sources(),
         "{} was built from other sources than {}: build {}", name, name.substr(0, name.size() - 2),
         name);
}

struct GradientCase {
  std::string mixer, features, density, time_kernel, positions, update = "sum";
  std::string name() const {
    const char* delta = update == "delta" ? ", delta" : "";
    const std::string kernel =
        mixer == "linear" ? fmt::format("linear({}, {}{})", features, density, delta) : mixer;
    return fmt::format("{}, time kernel {}, positions {}", kernel, time_kernel, positions);
  }
};

std::vector<std::string> wanted_kinds(const std::string& name, const std::vector<std::string>& all,
                                      const char* what) {
  if (name.empty()) return all;
  if (std::ranges::count(all, name) > 0) return {name};
  throw std::invalid_argument(
      fmt::format("gradcheck: unknown {} \"{}\"; there are: {}", what, name, joined(all)));
}

std::vector<GradientCase> cases_of(const GradcheckOptions& options) {
  std::vector<GradientCase> cases;
  const bool only_linear = !options.features.empty() || !options.density.empty();
  demand(!only_linear || options.mixer.empty() || options.mixer == "linear",
         "--features and --density apply to --mixer linear, not to {}", options.mixer);
  const std::string wanted = options.mixer.empty() && only_linear ? "linear" : options.mixer;
  for (const std::string& mixer : wanted_kinds(wanted, mixers().names(), "mixer")) {
    const MixerTraits traits = mixers().traits(mixer, {});
    std::vector<std::string> maps{""}, spectra{""};  // for mixers without them
    if (mixer == "linear") {
      maps = wanted_kinds(options.features, feature_maps().names(), "feature map");
      spectra = wanted_kinds(options.density, densities().names(), "density");
    }
    for (const auto& [time_kernel, positions] :
         {std::pair{"none", "learned"}, std::pair{"decay", "rotary"}, std::pair{"rotation", "none"},
          std::pair{"spectral", "none"}, std::pair{"gate", "none"}}) {
      if (!traits.has_time_kernel(time_kernel)) continue;
      for (const std::string& map : maps)
        for (const std::string& spectrum : spectra)
          cases.push_back({mixer, map, spectrum, time_kernel, positions});
      if (mixer != "linear" || time_kernel != std::string_view("gate")) continue;
      for (const char* map : {"positive", "fourier"})  // the maps themselves are checked above
        if (std::ranges::count(maps, map) > 0)
          cases.push_back({mixer, map, spectra.front(), time_kernel, positions, "delta"});
    }
  }
  return cases;
}

LanguageModelSpec model_of(const GradientCase& which, std::size_t length) {
  LanguageModelSpec spec;
  spec.positions = which.positions;
  MixerSpec& mixer = spec.block.mixer;
  mixer.kind = which.mixer;
  mixer.time_kernel.kind = which.time_kernel;
  mixer.time_kernel.harmonics = 2;
  if (which.mixer == "linear") {
    mixer.update = which.update;
    mixer.features.kind = which.features;
    mixer.features.density.kind = mixer.time_kernel.density.kind = which.density;
  }
  return small_model(spec, length);
}

void print_case(const std::string& name, const ModelReport& report, bool json) {
  const GradientReport& gradients = report.gradients;
  if (!json) return fmt::print("{:<64} {}   {}\n", name, gradients.summary(), report.verdict());
  const auto or_null = [](std::optional<double> number) { return number ? Json(*number) : Json(); };
  print_line({{"case", name},
              {"elements", gradients.checked},
              {"worst", gradients.worst_error},
              {"at", gradients.worst_element},
              {"steps", or_null(report.step_error)},
              {"batch", report.batch_error},
              {"future", report.future_error},
              {"interleaved", or_null(report.interleaved_error)},
              {"unused", report.unused},
              {"padding", or_null(report.padding_error)},
              {"signs", report.sign_error},
              {"longer",
               {{"length", report.longer.length},
                {"steps", or_null(report.longer.step_error)},
                {"future", report.longer.future_error},
                {"slope", report.longer.slope_error}}},
              {"note", report.note},
              {"passed", report.passed()}});
}

/// Checks the functions of a density, each on a line.
bool check_functions(const std::string& density, bool json) {
  bool passed = true;
  for (const DensityCheck& check : check_density(density)) {
    passed = passed && check.passed();
    if (json)
      print_line({{"density", density},
                  {"function", check.function},
                  {"distance", check.distance},
                  {"passed", check.passed()}});
    else
      fmt::print("{:<64} {:.2g} {}   {}\n", check.function + " of " + density, check.distance,
                 check.words, check.passed() ? "ok" : "WRONG: " + check.fault);
  }
  return passed;
}

/// Checks the model of a config, with the width and heads of the config if a kind refuses small
/// ones.
bool check_config_model(const GradcheckOptions& options) {
  const LanguageModelSpec spec = model_of_settings(options.sets);
  LanguageModelSpec small = small_model(spec, options.length.value_or(usual_length));
  try {
    static_cast<void>(LanguageModel(small));
  } catch (const std::invalid_argument&) {
    small.block.width = spec.block.width, small.block.mixer.heads = spec.block.mixer.heads;
  }
  const ModelReport report = check_model(small, options.length ? 0 : longer_length);
  print_case(fmt::format("{}: {}, D {}, {} tokens", options.called,
                         format_number_of(small.blocks, "block"), small.block.width, small.length),
             report, options.json);
  return report.passed();
}

/// Turns the config and its settings into those of the model.
GradcheckOptions with_model(GradcheckOptions options) {
  demand(options.mixer.empty() && options.features.empty() && options.density.empty(),
         "--mixer, --features and --density: not with a config or --set, which choose the model");
  if (is_double && options.config.empty()) {
    if (options.called.empty()) options.called = "model";
    return options;
  }
  ConfigModel model = model_of_config(options.config, options.sets);
  options.sets = std::move(model.settings), options.called = std::move(model.name);
  options.config.clear();
  if (options.sets.empty()) options.sets = {"model.mixer.kind=" + MixerSpec().kind};
  return options;
}

/// Checks the kinds of a registry, all or the wanted one, each on a line. Built-in kinds may need
/// what a small problem lacks.
template <class Kinds>
bool check_kinds(const Kinds& registry, const std::string& wanted, const char* what,
                 std::string (*fault_of)(const std::string&), bool json) {
  bool passed = true;
  for (const std::string& kind : wanted_kinds(wanted, registry.names(), what)) {
    std::string fault, refusal;
    try {
      fault = fault_of(kind);
    } catch (const std::invalid_argument& error) {
      (registry.is_built_in(kind) ? refusal : fault) = error.what();
    }
    passed = passed && fault.empty();
    const std::string name = fmt::format("{} {}", what, kind);
    const std::string verdict = !fault.empty()    ? "WRONG: " + fault
                                : refusal.empty() ? "ok"
                                                  : "not checked: " + refusal;
    if (json)
      print_line({{"case", name}, {"verdict", verdict}, {"passed", fault.empty()}});
    else
      fmt::print("{:<64} {}\n", name, verdict);
  }
  return passed;
}

bool check_optimizers(const GradcheckOptions& options) {
  return check_kinds(optimizers(), options.optimizer, "optimizer", optimizer_fault, options.json);
}

bool check_schedules(const GradcheckOptions& options) {
  return check_kinds(schedules(), options.schedule, "schedule", schedule_fault, options.json);
}

/// Checks small models of all kinds, or of the wanted ones, and their densities.
bool check_models(const GradcheckOptions& options) {
  bool passed = true;
  std::vector<std::string> spectra;
  for (const GradientCase& which : cases_of(options)) {
    const ModelReport report = check_model(model_of(which, options.length.value_or(usual_length)),
                                           options.length ? 0 : longer_length);
    passed = passed && report.passed();
    print_case(which.name(), report, options.json);
    if (!which.density.empty() && std::ranges::count(spectra, which.density) == 0)
      spectra.push_back(which.density);
  }
  for (const std::string& density : spectra)
    passed = check_functions(density, options.json) && passed;
  return passed;
}

bool check_all(const GradcheckOptions& options) {
  if (options.has_model()) return check_config_model(options);
  if (!options.optimizer.empty()) return check_optimizers(options);
  if (!options.schedule.empty()) return check_schedules(options);
  bool passed = check_models(options);
  if (options.mixer.empty() && options.features.empty() && options.density.empty()) {
    passed = check_optimizers(options) && passed;
    passed = check_schedules(options) && passed;
  }
  return passed;
}

int gradcheck_command(const GradcheckOptions& typed) {
  require_same_sources(typed);
  demand(typed.length.value_or(usual_length) > 1, "--length: must be at least 2");
  const GradcheckOptions options = typed.has_model() ? with_model(typed) : typed;
  if (!is_double) exec_double_program(options);
  return check_all(options) ? exit_done : exit_failed;
}

}  // namespace

void add_gradcheck(const Command& program) {
  const auto [command, options] = program.command("gradcheck",
                                                  "check small models and kinds: gradients, steps, "
                                                  "batches, padding, signs, densities, optimizers",
                                                  gradcheck_command);
  options.line = &command.line();
  command.option("config", &options.config, "check the model of this config (TOML) only", "FILE");
  add_sets(command, options.sets);
  command.option("--length", &options.length, "tokens of the texts, instead of 9 and 70");
  command.option("--called", &options.called, "name of the model").hidden();
  command.option("--sources", &options.sources, "sources of the program in float").hidden();
  command.option("--mixer", &options.mixer, "only this mixer");
  command.option("--features", &options.features, "only this feature map");
  command.option("--density", &options.density, "only this density");
  command.option("--optimizer", &options.optimizer, "only this optimizer");
  command.option("--schedule", &options.schedule, "only this schedule");
  command.flag("--json", &options.json, "print JSON lines");
}

}  // namespace bochner
