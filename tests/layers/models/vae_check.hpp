#pragma once
/// Small variational autoencoders and their examples.

#include <bochner/layers/models/variational_autoencoder.hpp>
#include <bochner/optim/optimizer.hpp>

#include "layers/layer_check.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace vae_check {

using namespace layer_check;

inline VaeSpec tiny(const std::string& observed, const std::string& pooling = "each") {
  VaeSpec spec;
  spec.observed = observed;
  spec.tokens = 4, spec.values = 2, spec.vocabulary = 5;
  spec.variates = observed == "real" ? 2 : 1;
  spec.latent.size = 3, spec.latent.pooling = pooling, spec.latent.draws = 2;
  spec.stack.blocks = 1;
  spec.stack.block.width = 4, spec.stack.block.expansion = 1;
  spec.stack.block.mixer.kind = "softmax", spec.stack.block.mixer.heads = 2;
  return spec;
}

inline Observed examples(const VaeSpec& spec, std::size_t B = 3) {
  if (spec.observed == "symbols") {
    Observed x{{}, {{B, 4}, {}}};
    for (std::size_t i = 0; i < 4 * B; ++i) x.symbols.values.push_back(std::int32_t(i * i % 5));
    return x;
  }
  Observed x{random_tensor({B, 4, 2}, 1), {}};
  if (spec.observed == "binary")
    for (real& value : x.values) value = value > 0 ? 1 : 0;
  return x;
}

inline LatentBounds bounds_of(VariationalAutoencoder& model, const Observed& x,
                              const Tensor& noise) {
  Tape tape({.recording = false});
  return model.bounds(tape, x, noise);
}

/// Trains on x, with new noise at every step.
inline void fit(VariationalAutoencoder& model, const Observed& x, std::size_t steps, double rate) {
  const auto optimizer = make_optimizer({.kind = "adam", .weight_decay = 0}, parameters_of(model));
  const LatentSpec& latent = model.spec().latent;
  for (std::size_t step = 0; step < steps; ++step) {
    Tape tape;
    tape.training = true, tape.step = step;
    tape.backward(
        model.loss(tape, x, random_tensor({latent.draws, x.size(), latent.width()}, 10 + step)));
    optimizer->step(rate * (1 - double(step) / double(steps)));
    optimizer->zero_gradients();
  }
}

}  // namespace vae_check
}  // namespace bochner::inline BOCHNER_PRECISION
