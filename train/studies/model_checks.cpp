#include <fmt/format.h>

#include <algorithm>
#include <bochner/base/join.hpp>
#include <bochner/layers/attention/feature_heads.hpp>
#include <bochner/layers/features/exponential_moments.hpp>
#include <bochner/layers/models/step_error.hpp>
#include <bochner/train/studies/layer_checks.hpp>
#include <bochner/train/studies/model_checks.hpp>
#include <bochner/train/studies/small_model.hpp>
#include <cmath>

namespace bochner {
namespace {

constexpr bool is_double = sizeof(real) == sizeof(double);
constexpr double largest_gradient_error =
    is_double ? 1e-6 : 5e-2;  // differences in float are coarse
/// The slope along a direction of all parameters adds up their rounding errors.
constexpr double largest_slope_error = 100 * largest_gradient_error;
/// Largest relative difference of values that are equal up to rounding.
constexpr double equal_up_to = is_double ? 1e-9 : 1e-3;

bool is_off(std::optional<double> error) { return error && !(*error < equal_up_to); }

/// Describes a fault of steps or of the order of tokens; "" if there is none.
std::string order_fault(std::optional<double> step_error, double future_error) {
  if (is_off(step_error))
    return fmt::format(
        "step() differs from forward() by {:.1e}: forward() sees later tokens or step() is "
        "another function",
        *step_error);
  if (is_off(future_error))
    return fmt::format("outputs change by {:.1e} without later tokens: the future is seen",
                       future_error);
  return "";
}

std::string long_fault(const LongCheck& longer) {
  std::string fault = order_fault(longer.step_error, longer.future_error);
  if (fault.empty() && !(longer.slope_error < largest_slope_error))
    fault = fmt::format("the gradient is off by {:.1e} along a direction", longer.slope_error);
  return fault.empty() ? "" : fmt::format("WRONG: at {} tokens {}", longer.length, fault);
}

/// Scales up embeddings: initial ones are so small that norms are too curved for differences.
void enlarge_embeddings(Module& model) {
  for (const NamedParameter& named : parameters_of(model)) {
    if (!named.name.starts_with("embedding") && !named.name.starts_with("positions")) continue;
    for (real& x : named.parameter->value()) x *= 20;
  }
}

/// Two sequences of tokens and their targets. (2, T)
struct Texts {
  Indices tokens, targets;

  explicit Texts(const LanguageModelSpec& spec)
      : tokens{{2, spec.length}, {}}, targets{{2, spec.length}, {}} {
    const RandomFunction random{1, Purpose::test, 0};
    for (std::uint64_t i = 0; i < 2 * spec.length; ++i) {
      tokens.values.push_back(std::int32_t(random.integer(2 * i, spec.vocabulary)));
      targets.values.push_back(std::int32_t(random.integer(2 * i + 1, spec.vocabulary)));
    }
  }
};

/// Model with its loss on two texts.
struct Checked {
  Texts texts;
  LanguageModel model;
  std::vector<NamedParameter> parameters;
  ParameterSet visited;

  explicit Checked(const LanguageModelSpec& spec) : texts(spec), model(spec) {
    initialize(model, 1);
    enlarge_embeddings(model);
    parameters = parameters_of(model);
    visited = set_of(parameters);
  }
  Var loss(Tape& tape) {
    tape.visited = &visited;
    return model.loss(tape, texts.tokens, texts.targets);
  }
};

void check_steps(LanguageModel& model, const Indices& tokens, ModelReport& report) try {
  report.step_error = step_error(model, tokens);
  report.interleaved_error = interleaved_error(model, tokens);
} catch (const NoSteps&) {  // it has none
}

/// Checks padding with the layer in both directions, which a kind may refuse.
void check_padding(const LanguageModelSpec& spec, const Indices& tokens, ModelReport& report) try {
  Trunk trunk(in_both_directions(spec));
  initialize(trunk, 1);
  enlarge_embeddings(trunk);
  const std::size_t T = spec.length;
  report.padding_error = padding_error(trunk, tokens, {(T + 1) / 2, T - T / 5 - 1});
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

LongCheck check_longer(const LanguageModelSpec& spec) {
  LongCheck found{.length = spec.length};
  Checked checked(spec);
  const auto loss = [&](Tape& tape) { return checked.loss(tape); };
  found.slope_error = slope_error(checked.parameters, loss);
  found.future_error = future_error(checked.model, checked.texts.tokens);
  try {
    found.step_error = step_error(checked.model, checked.texts.tokens);
  } catch (const NoSteps&) {  // it has none
  }
  return found;
}

bool has_features(const LanguageModelSpec& spec) {
  return spec.pattern.empty() ? spec.block.mixer.kind == "linear"
                              : std::ranges::count(spec.pattern, "linear") > 0;
}

}  // namespace

std::string ModelReport::fault() const {
  if (!gradients.passed) return "WRONG";
  if (const std::string order = order_fault(step_error, future_error); !order.empty())
    return "WRONG: " + order;
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
  return longer.length > 0 ? long_fault(longer) : "";
}

std::string ModelReport::verdict() const {
  if (const std::string found = fault(); !found.empty()) return found;
  std::string text = "ok";
  if (!step_error) text += ", no steps";
  if (!padding_error) text += ", not in both directions: " + refusal;
  if (!note.empty()) text += "; note: " + note;
  return text;
}

ModelReport check_model(const LanguageModelSpec& spec, std::size_t longer) {
  Checked checked(spec);
  const Indices& tokens = checked.texts.tokens;
  const auto loss = [&](Tape& tape) { return checked.loss(tape); };
  ModelReport report{
      .gradients = check_gradient(loss, checked.parameters, {.tolerance = largest_gradient_error}),
      .batch_error = batch_error(checked.model, tokens),
      .future_error = future_error(checked.model, tokens),
      .unused = unused_parameters(checked.parameters, loss)};
  check_steps(checked.model, tokens, report);
  check_padding(spec, tokens, report);
  if (has_features(spec)) {
    report.sign_error = sign_error_of(spec.block.mixer);
    report.note = infinite_kernel(spec.block.mixer.features);
  }
  if (longer > 0 && report.passed()) report.longer = check_longer(with_length(spec, longer));
  return report;
}

}  // namespace bochner
