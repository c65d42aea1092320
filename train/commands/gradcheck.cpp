#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <bochner/autodiff/gradcheck.hpp>
#include <bochner/base/join.hpp>
#include <bochner/layers/attention/feature_heads.hpp>
#include <bochner/layers/convolutions/filter.hpp>
#include <bochner/layers/models/step_error.hpp>
#include <bochner/layers/module.hpp>
#include <bochner/layers/recurrences/recurrent_specs.hpp>
#include <bochner/train/commands/common_options.hpp>
#include <bochner/train/run/own_program.hpp>
#include <bochner/train/studies/density_checks.hpp>
#include <bochner/train/studies/layer_checks.hpp>

namespace bochner {
namespace {

constexpr bool is_double = sizeof(real) == sizeof(double);
constexpr double tolerance = is_double ? 1e-6 : 5e-2;  // differences in float are coarse

struct GradcheckOptions {
  std::string mixer, features, density;  ///< "" for all
  bool json = false;
  const CommandLine* line = nullptr;
};

/// Replaces this process by the program in double precision, NAME64 next to this one, since finite
/// differences need it. Returns if there is none.
void exec_double_program(const CommandLine& line) {
  const std::string sibling = own_path() + "64";
  if (access(sibling.c_str(), X_OK) == 0) execv(sibling.c_str(), line.words().data());
  fmt::print(stderr,
             "NAME64 not found next to this program; checking in float with a loose tolerance\n");
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
  throw std::invalid_argument(fmt::format("gradcheck: unknown {} \"{}\"", what, name));
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
  mixer.own.of<SsmSpec>().states = 4;  // slow rotations: finite differences of fast ones are coarse
  if (which.mixer == "linear") {
    mixer.update = which.update;
    mixer.features.kind = which.features;
    mixer.features.m = 6;
    mixer.features.length = 256;
    mixer.features.density.kind = mixer.time_kernel.density.kind = which.density;
  }
  return spec;
}

/// Scales up embeddings: initial ones are so small that norms are too curved for differences.
void enlarge_embeddings(Module& model) {
  for (const NamedParameter& named : parameters_of(model)) {
    if (!named.name.starts_with("embedding") && !named.name.starts_with("positions")) continue;
    for (real& x : named.parameter->value()) x *= 20;
  }
}

/// Largest relative difference of values that are equal up to rounding.
constexpr double rounding = is_double ? 1e-9 : 1e-3;

struct CaseReport {
  GradientReport gradients;
  std::optional<double> step_error = {};  ///< none if step() is not supported
  double batch_error = 0;
  double future_error = 0;
  std::optional<double> interleaved_error = {};  ///< none if step() is not supported
  std::vector<std::string> unused = {};          ///< visited parameters without a gradient
  std::optional<double> padding_error = {};      ///< none if both directions are not supported
  std::string refusal = {};                      ///< error of the kind for both directions
  double sign_error = 0;
  std::string fault() const;
  bool passed() const { return fault().empty(); }
};

bool is_off(std::optional<double> error) { return error && !(*error < rounding); }

/// Describes the first fault; "" if there is none.
std::string CaseReport::fault() const {
  if (!gradients.passed) return "WRONG";
  if (is_off(step_error))
    return fmt::format(
        "WRONG: step() differs from forward() by {:.1e}: forward() sees later tokens or step() is "
        "another function",
        *step_error);
  if (is_off(future_error))
    return fmt::format("WRONG: outputs change by {:.1e} without later tokens: the future is seen",
                       future_error);
  if (is_off(interleaved_error))
    return fmt::format(
        "WRONG: steps of two texts in turn change by {:.1e}: memory belongs in the MixerState, not "
        "in a member",
        *interleaved_error);
  if (!unused.empty())
    return fmt::format("WRONG: {} is visited but never used", joined(unused, ", "));
  if (is_off(batch_error))
    return fmt::format("WRONG: the output changes by {:.1e} when another sequence is in the batch",
                       batch_error);
  if (is_off(padding_error))
    return fmt::format(
        "WRONG: in both directions the output changes by {:.1e} with padding: tokens after "
        "layout.lengths are seen",
        *padding_error);
  if (is_off(sign_error))
    return fmt::format(
        "WRONG: positive() features are negative: the lowest is -{:.1e} of the largest",
        sign_error);
  return "";
}

std::string verdict(const CaseReport& report) {
  if (const std::string fault = report.fault(); !fault.empty()) return fault;
  std::string text = "ok";
  if (!report.step_error) text += ", no steps";
  if (!report.padding_error) text += ", not in both directions: " + report.refusal;
  return text;
}

void check_steps(LanguageModel& model, const Indices& tokens, CaseReport& report) try {
  report.step_error = step_error(model, tokens);
  report.interleaved_error = interleaved_error(model, tokens);
} catch (const NoSteps&) {  // it has none
}

/// Checks padding with the layer in both directions, which a kind may refuse.
void check_padding(const LanguageModelSpec& spec, const Indices& tokens, CaseReport& report) try {
  Trunk trunk(in_both_directions(spec));
  initialize(trunk, 1);
  enlarge_embeddings(trunk);
  report.padding_error = padding_error(trunk, tokens, {5, 7});
} catch (const std::exception& refusal) {
  report.refusal = refusal.what();
}

double sign_error_of(const MixerSpec& mixer) {
  const FeatureSpec spec = features_per_head(mixer);
  const auto map = make_feature_map(spec);
  initialize(*map, 1);
  const RandomFunction random{1, Purpose::test, stream_of("signs")};
  Tensor x = uninitialized({1, 16, spec.heads, spec.dim});
  for (std::size_t i = 0; i < x.size(); ++i) x.data()[i] = real(random.normal(i));
  return sign_error(*map, x);
}

/// Checks a small language model on two short sequences: gradients of all parameters, step(),
/// independence of the batch and of padding, and the signs of features.
CaseReport check_case(const GradientCase& which) {
  const LanguageModelSpec spec = small_model(which);
  LanguageModel model(spec);
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
  CaseReport report{.gradients = check_gradient(loss, parameters, {.tolerance = tolerance}),
                    .batch_error = batch_error(model, tokens),
                    .future_error = future_error(model, tokens),
                    .unused = unused_parameters(parameters, loss)};
  check_steps(model, tokens, report);
  check_padding(spec, tokens, report);
  if (which.mixer == "linear") report.sign_error = sign_error_of(spec.block.mixer);
  return report;
}

void print_case(const GradientCase& which, const CaseReport& report, bool json) {
  const GradientReport& gradients = report.gradients;
  if (!json)
    return fmt::print("{:<64} {}   {}\n", which.name(), gradients.summary(), verdict(report));
  const auto or_null = [](std::optional<double> number) { return number ? Json(*number) : Json(); };
  print_line({{"case", which.name()},
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

int gradcheck_command(const GradcheckOptions& options) {
  if (!is_double) exec_double_program(*options.line);
  bool passed = true;
  std::vector<std::string> spectra;
  for (const GradientCase& which : cases_of(options)) {
    const CaseReport report = check_case(which);
    passed = passed && report.passed();
    print_case(which, report, options.json);
    if (!which.density.empty() && std::ranges::count(spectra, which.density) == 0)
      spectra.push_back(which.density);
  }
  for (const std::string& density : spectra)
    passed = check_functions(density, options.json) && passed;
  return passed ? exit_done : exit_failed;
}

}  // namespace

void add_gradcheck(const Command& program) {
  const auto [command, options] = program.command(
      "gradcheck", "check small models: gradients, steps, batches, padding, signs, densities",
      gradcheck_command);
  options.line = &command.line();
  command.option("--mixer", &options.mixer, "only this mixer");
  command.option("--features", &options.features, "only this feature map");
  command.option("--density", &options.density, "only this density");
  command.flag("--json", &options.json, "print JSON lines");
}

}  // namespace bochner
