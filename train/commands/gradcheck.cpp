#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <bochner/autodiff/gradcheck.hpp>
#include <bochner/layers/convolutions/filter.hpp>
#include <bochner/layers/models/step_error.hpp>
#include <bochner/layers/models/token_models.hpp>
#include <bochner/layers/module.hpp>
#include <bochner/layers/recurrences/ssm_spec.hpp>
#include <bochner/train/commands/command_line.hpp>
#include <bochner/train/storage/json.hpp>
#include <filesystem>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

constexpr bool is_double = sizeof(real) == sizeof(double);
constexpr double tolerance = is_double ? 1e-6 : 5e-2;  // differences in float are coarse

struct GradcheckOptions {
  std::string mixer, features, density;  ///< "" for all
  bool json = false;
  const CommandLine* line = nullptr;
};

/// Differences need double precision: the same program in double stands beside this one under the
/// name with 64. Returns where it does not.
void become_double_program(const CommandLine& line) {
  const std::string sibling = std::filesystem::read_symlink("/proc/self/exe").string() + "64";
  if (access(sibling.c_str(), X_OK) == 0) execv(sibling.c_str(), line.words().data());
  fmt::print(stderr,
             "in float, with a wide tolerance: no program with this one's name and 64 stands "
             "beside it\n");
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
  throw std::invalid_argument(fmt::format("gradcheck: no {} is called \"{}\"", what, name));
}

std::vector<GradientCase> cases_of(const GradcheckOptions& options) {
  std::vector<GradientCase> cases;
  const bool only_linear = !options.features.empty() || !options.density.empty();
  demand(!only_linear || options.mixer.empty() || options.mixer == "linear",
         "--features, --density: are varied of --mixer linear, not of {}", options.mixer);
  const std::string wanted = options.mixer.empty() && only_linear ? "linear" : options.mixer;
  for (const std::string& mixer : wanted_kinds(wanted, mixers().names(), "mixer")) {
    const MixerTraits traits = mixers().traits(mixer, {});
    std::vector<std::string> maps{""}, spectra{""};  // of mixers that have none
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
      for (const char* map : {"positive", "fourier"})  // maps have been checked
        if (std::ranges::count(maps, map) > 0)
          cases.push_back({mixer, map, spectra.front(), time_kernel, positions, "delta"});
    }
  }
  return cases;
}

LanguageModelSpec small_model(const GradientCase& which) {
  LanguageModelSpec spec;
  spec.vocabulary = 7;
  spec.length = 9;
  spec.blocks = 1;
  spec.positions = which.positions;
  spec.block.width = 8;
  spec.block.expansion = 2;
  MixerSpec& mixer = spec.block.mixer;
  mixer.kind = which.mixer;
  mixer.heads = 2;
  mixer.chunk = 4;
  mixer.time_kernel = {which.time_kernel, 2, 16, 2, 2};
  FilterSpec& filter = mixer.own.of<FilterSection>().filter;
  filter.length = spec.length, filter.hidden = 6;
  mixer.own.of<SsmSpec>().states = 4;  // slow turns: differences of fast ones are coarse
  if (which.mixer == "linear") {
    mixer.update = which.update;
    mixer.features.kind = which.features;
    mixer.features.m = 6;
    mixer.features.length = 256;
    mixer.features.density.kind = mixer.time_kernel.density.kind = which.density;
  }
  return spec;
}

/// Embeddings start so small that the norms above them bend too much for differences.
void enlarge_embeddings(LanguageModel& model) {
  for (const NamedParameter& named : parameters_of(model)) {
    if (!named.name.starts_with("embedding") && !named.name.starts_with("positions")) continue;
    for (real& x : named.parameter->value()) x *= 20;
  }
}

struct CaseReport {
  GradientReport gradients;
  double step_error;
  bool steps_well() const { return step_error < (is_double ? 1e-9 : 1e-3); }
  bool passed() const { return gradients.passed && steps_well(); }
};

/// The loss of a small language model on two short sequences, through all its parameters, and the
/// same sequences token by token.
CaseReport check_case(const GradientCase& which) {
  LanguageModel model(small_model(which));
  initialize(model, 1);
  enlarge_embeddings(model);
  Indices tokens{{2, 9}, {}}, targets{{2, 9}, {}};
  const RandomFunction random{1, Purpose::test, 0};
  for (std::uint64_t i = 0; i < 18; ++i) {
    tokens.values.push_back(std::int32_t(random.integer(2 * i, 7)));
    targets.values.push_back(std::int32_t(random.integer(2 * i + 1, 7)));
  }
  const std::vector<NamedParameter> parameters = parameters_of(model);
  const ParameterSet visited = set_of(parameters);
  const auto loss = [&](Tape& tape) {
    tape.visited = &visited;
    return model.loss(tape, tokens, targets);
  };
  return {check_gradient(loss, parameters, {.tolerance = tolerance}), step_error(model, tokens)};
}

std::string verdict(const CaseReport& report) {
  if (!report.gradients.passed) return "WRONG";
  if (report.steps_well()) return "ok";
  return fmt::format(
      "WRONG: token by token it is {:.1e} off, for forward() sees what is to come or "
      "step() is another function",
      report.step_error);
}

int gradcheck_command(const GradcheckOptions& options) {
  if (!is_double) become_double_program(*options.line);
  bool passed = true;
  for (const GradientCase& which : cases_of(options)) {
    const CaseReport report = check_case(which);
    const GradientReport& gradients = report.gradients;
    passed = passed && report.passed();
    if (options.json)
      fmt::print("{}\n", Json{{"case", which.name()},
                              {"elements", gradients.checked},
                              {"worst", gradients.worst_error},
                              {"at", gradients.worst_element},
                              {"steps", report.step_error},
                              {"passed", report.passed()}}
                             .line());
    else
      fmt::print("{:<64} {}   {}\n", which.name(), gradients.summary(), verdict(report));
  }
  return passed ? exit_done : exit_failed;
}

}  // namespace

void add_gradcheck(const Command& program) {
  const auto [command, options] =
      program.command("gradcheck", "small models: gradients against differences, tokens one by one",
                      gradcheck_command);
  options.line = &command.line();
  command.option("--mixer", &options.mixer, "only this mixer");
  command.option("--features", &options.features, "only this feature map");
  command.option("--density", &options.density, "only this density");
  command.flag("--json", &options.json, "print JSON lines");
}

}  // namespace bochner::inline BOCHNER_PRECISION
