#pragma once
#include <bochner/base/shape.hpp>
#include <bochner/layers/basic/position_wise.hpp>
#include <bochner/layers/basic/standardization.hpp>
#include <bochner/layers/encodings/positions.hpp>
#include <bochner/layers/models/block.hpp>
#include <bochner/layers/probability/normal_rows.hpp>

namespace bochner::inline BOCHNER_PRECISION {

struct LatentSpec {
  std::size_t size = 32;
  std::string pooling = "each";
  std::size_t decoder_blocks = 0;
  std::string gradient = "reparameterised";
  std::size_t draws = 1;
  std::size_t warmup = 0;  ///< training steps
  std::string binarise = "threshold";
};
inline void describe(Keys& keys, LatentSpec& spec) {
  keys("latent", spec.size, between(1, 1 << 12), "dimensions of the latent variable (d)");
  keys("pooling", spec.pooling, one_of({"each", "mean"}),
       "how tokens and latent variable meet: a linear map for each token, or the mean of the "
       "tokens and learned positions");
  keys("decoder_blocks", spec.decoder_blocks, between(0, 10000),
       "blocks of the decoder, 0 for model.blocks");
  keys("gradient", spec.gradient, one_of({"reparameterised", "score"}),
       "gradient of the encoder: through the draws, or by the score function with the mean of the "
       "other draws as baseline");
  keys("draws", spec.draws, between(1, 1024), "latent draws for each example");
  keys("warmup", spec.warmup, "steps in which the weight of the KL divergence rises from 0 to 1");
  keys.when(when("data.kind", {"images", "shapes"}))(
      "binarise", spec.binarise, one_of({"threshold", "drawn"}),
      "a pixel is 1 above half the brightness, or with its brightness as probability, drawn anew "
      "every epoch");
}

/// Spec of a VAE; the latent variable z of d numbers has a standard normal prior.
struct VaeSpec {
  StackSpec stack = {};  ///< of encoder and decoder; 0 blocks for linear maps
  LatentSpec latent = {};
  // from the data
  std::string observed = "binary";  ///< or "real", "symbols"
  std::size_t tokens = 1;           ///< per example (T)
  std::size_t values = 1;           ///< per token (n), binary and real
  std::size_t variates = 1;         ///< per token, one after the other (V), real
  std::size_t vocabulary = 256;     ///< symbols

  std::size_t outputs() const { return observed == "symbols" ? vocabulary : values; }
};
inline void describe(Keys& keys, VaeSpec& spec) {
  describe(keys, spec.stack);
  keys.section("vae", spec.latent);
}

/// Observations of B examples: numbers (B, T, n) or symbols (B, T).
struct Observed {
  Tensor values = {};
  Indices symbols = {};
  std::size_t size() const { return symbols.shape.empty() ? values.shape()[0] : symbols.shape[0]; }
};

/// Bounds of ln p(x) per example in nats. (B)
struct LatentBounds {
  std::vector<double> reconstruction;  ///< E_q ln p(x | z) over the draws
  std::vector<double> divergence;      ///< KL(q(z | x) || p(z))
  std::vector<double> weighted;        ///< ln of the mean of p(x, z) / q(z | x) over the draws
};

/// Variational autoencoder of sequences (Kingma and Welling, 2014): tokens, blocks and a linear map
/// give a normal q(z | x); a linear map of z, blocks and a head give p(x | z): Bernoulli variables,
/// normals with a learned variance per variate, or symbols.
class VariationalAutoencoder : public Module {
 public:
  explicit VariationalAutoencoder(const VaeSpec& spec);
  NormalRows encode(Tape& tape, const Observed& x);
  /// Returns logits of 1, means, or logits of symbols. z (R, d) -> (R, T, n)
  Var decode(Tape& tape, const Var& z);
  /// Returns ln p(x | z). z (K, B, d) -> (K, B)
  Var log_likelihood(Tape& tape, const Observed& x, const Var& z);
  /// Returns the mean over examples of -E_q ln p(x | z) + w KL(q(z | x) || p(z)), with the warm-up
  /// weight w of the tape's step. Standard normal noise (K, B, d) -> ()
  Var loss(Tape& tape, const Observed& x, const Tensor& noise);
  /// Returns bounds, the importance-weighted one by Burda, Grosse, Salakhutdinov, "Importance
  /// weighted autoencoders", 2016; with one draw it estimates the ELBO. noise (K, B, d)
  LatentBounds bounds(Tape& tape, const Observed& x, const Tensor& noise);

  /// Returns the standardization of real values.
  Standardize& standardize() { return standardize_; }
  const Standardize& standardize() const { return standardize_; }
  const VaeSpec& spec() const { return spec_; }
  void visit(Visitor& visitor) override;

 private:
  Var embed_tokens(Tape& tape, const Observed& x);
  Var log_normal(Tape& tape, const Var& means, const Tensor& values);
  double weight(const Tape& tape) const {
    const std::size_t warmup = spec_.latent.warmup;
    if (!tape.training || warmup == 0) return 1;
    return std::min(1.0, double(tape.step + 1) / double(warmup));
  }

  VaeSpec spec_;
  Standardize standardize_;
  std::unique_ptr<Linear> input_;         // for numbers
  std::unique_ptr<Embedding> embedding_;  // for symbols
  std::unique_ptr<PositionEncoding> positions_;
  std::unique_ptr<BlockStack> encoder_;
  Linear to_latent_, from_latent_;
  std::unique_ptr<PositionEncoding> decoder_positions_;
  std::unique_ptr<BlockStack> decoder_;
  Linear head_;
  Parameter log_variance_;  // (V), for real values
};

}  // namespace bochner::inline BOCHNER_PRECISION
