#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <bochner/autodiff/gradcheck.hpp>
#include <bochner/layers/initialize.hpp>
#include <bochner/layers/models/language_model.hpp>
#include <bochner/train/commands/exit_codes.hpp>
#include <bochner/train/commands/gradcheck.hpp>
#include <bochner/train/storage/json.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// Differences in float are coarse.
constexpr double float_tolerance = 5e-2;

struct Case {
  std::string mixer, features, density, time_kernel, positions;
  std::string name() const {
    const std::string kernel =
        mixer == "linear" ? fmt::format("linear({}, {})", features, density) : mixer;
    return fmt::format("{}, time kernel {}, positions {}", kernel, time_kernel, positions);
  }
};

std::vector<std::string> wanted(const std::string& name, const std::vector<std::string>& all,
                                const char* what) {
  if (name.empty()) return all;
  if (std::find(all.begin(), all.end(), name) != all.end()) return {name};
  throw std::invalid_argument(fmt::format("gradcheck: no {} is called \"{}\"", what, name));
}

std::vector<Case> cases_of(const std::string& mixer, const std::string& features,
                           const std::string& density) {
  std::vector<Case> cases;
  const bool only_linear = !features.empty() || !density.empty();
  for (const std::string& one :
       wanted(mixer.empty() && only_linear ? "linear" : mixer, mixers().names(), "mixer")) {
    for (const auto& [time_kernel, positions] :
         {std::pair{"none", "learned"}, std::pair{"decay", "rotary"}, std::pair{"rotation", "none"},
          std::pair{"gate", "none"}}) {
      if (one != "linear") {
        if (positions == std::string_view("none")) continue;
        cases.push_back({one, "", "", time_kernel, positions});
        continue;
      }
      for (const std::string& map : wanted(features, feature_maps().names(), "feature map")) {
        for (const std::string& spectrum : wanted(density, densities().names(), "density")) {
          cases.push_back({one, map, spectrum, time_kernel, positions});
        }
      }
    }
  }
  return cases;
}

LanguageModelSpec small_model(const Case& which) {
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
  mixer.time_kernel = {which.time_kernel, 2, 16};
  if (which.mixer == "linear") {
    mixer.features.kind = which.features;
    mixer.features.m = 6;
    mixer.features.length = 256;
    mixer.features.density.kind = which.density;
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

/// The loss of a small language model on two short sequences, through all its parameters.
GradientReport check(const Case& which, double tolerance) {
  LanguageModel model(small_model(which));
  initialize(model, 1);
  enlarge_embeddings(model);
  Indices tokens{{2, 9}, {}}, targets{{2, 9}, {}};
  const RandomFunction random{1, Purpose::test, 0};
  for (std::uint64_t i = 0; i < 18; ++i) {
    tokens.values.push_back(std::int32_t(random.integer(2 * i, 7)));
    targets.values.push_back(std::int32_t(random.integer(2 * i + 1, 7)));
  }
  GradientOptions options;
  options.tolerance = tolerance;
  return check_gradient([&](Tape& tape) { return model.loss(tape, tokens, targets); },
                        parameters_of(model), options);
}

}  // namespace

void add_options(CLI::App& command, GradcheckOptions& options) {
  command.add_option("--mixer", options.mixer, "only this mixer");
  command.add_option("--features", options.features, "only this feature map");
  command.add_option("--density", options.density, "only this density");
  command.add_flag("--json", options.json, "print JSON lines");
}

int check_gradients(const GradcheckOptions& options) {
  const double tolerance = sizeof(real) == sizeof(double) ? 1e-6 : float_tolerance;
  bool passed = true;
  for (const Case& which : cases_of(options.mixer, options.features, options.density)) {
    const GradientReport report = check(which, tolerance);
    passed = passed && report.passed;
    if (options.json) {
      const Json line = {{"case", which.name()},
                         {"elements", report.checked},
                         {"worst", report.worst_error},
                         {"at", report.worst_element},
                         {"passed", report.passed}};
      fmt::print("{}\n", line.line());
    } else {
      fmt::print("{:<64} {}   {}\n", which.name(), report.summary(),
                 report.passed ? "ok" : "WRONG");
    }
  }
  return passed ? exit_done : exit_failed;
}

}  // namespace bochner::inline BOCHNER_PRECISION
