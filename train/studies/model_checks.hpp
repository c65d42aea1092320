#pragma once
/// All checks of gradcheck on a small language model.

#include <bochner/autodiff/gradcheck.hpp>
#include <bochner/layers/models/token_models.hpp>
#include <optional>
#include <string>
#include <vector>

namespace bochner {

/// Checks without differences of every parameter, at a length beyond the chunks of most mixers.
struct LongCheck {
  std::size_t length = 0;  ///< 0: not checked
  std::optional<double> step_error = {};
  double future_error = 0;
  double slope_error = 0;  ///< of the loss along a direction of all parameters
};

struct ModelReport {
  GradientReport gradients;
  std::optional<double> step_error = {};  ///< none if step() is not supported
  double batch_error = 0;
  double future_error = 0;
  std::optional<double> interleaved_error = {};  ///< none if step() is not supported
  std::vector<std::string> unused = {};          ///< visited parameters without a gradient
  std::optional<double> padding_error = {};      ///< none if both directions are not supported
  std::string refusal = {};                      ///< error of the kind for both directions
  double sign_error = 0;
  LongCheck longer = {};
  std::string note = {};  ///< on a result that is not a fault

  /// Describes the first fault; "" if there is none.
  std::string fault() const;
  bool passed() const { return fault().empty(); }
  /// Returns the fault, or "ok" and what was not checked.
  std::string verdict() const;
};

/// Checks a small model on two short sequences: gradients of all parameters, step(), independence
/// of later tokens, of the batch and of padding, and the signs of features; then, at
/// `longer` tokens unless that is 0, steps, later tokens and the slope along a direction.
ModelReport check_model(const LanguageModelSpec& spec, std::size_t longer);

}  // namespace bochner
