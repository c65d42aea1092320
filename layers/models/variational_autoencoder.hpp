#pragma once
#include <bochner/base/shape.hpp>
#include <bochner/layers/basic/position_wise.hpp>
#include <bochner/layers/basic/standardization.hpp>
#include <bochner/layers/encodings/positions.hpp>
#include <bochner/layers/models/block.hpp>
#include <bochner/layers/probability/categorical_rows.hpp>
#include <bochner/layers/probability/normal_rows.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// Discrete latent variables, each with a uniform prior.
struct DiscreteSpec {
  std::size_t categories = 0;  ///< of each variable (K)
  std::size_t variables = 1;   ///< N
  std::string gradient = "relaxed";
  double temperature = 1, final_temperature = 0.5;
  std::size_t anneal = 0;  ///< training steps

  bool exists() const { return categories > 0; }
  /// Returns the length of the variables, one-hot, side by side.
  std::size_t width() const { return exists() ? variables * categories : 0; }
};
/// Most values of all variables that gradient = "exact" sums over.
inline constexpr std::size_t most_exact_values = 256;

inline void describe(Keys& keys, DiscreteSpec& spec) {
  keys("categories", spec.categories, between(0, 1 << 12),
       "categories of each discrete latent variable (K), 0 for no such variable");
  keys.when(keys.is_not("categories", {"0"}), [&] {
    keys("variables", spec.variables, between(1, 1 << 10), "discrete latent variables (N)");
    keys("gradient", spec.gradient, one_of({"relaxed", "straight_through", "exact"}),
         "gradient of their probabilities: by Gumbel-softmax draws (relaxed), which the decoder "
         "sees one-hot (straight_through), or by the sum over all K^N values (exact)");
    keys.when(keys.is_not("gradient", {"exact"}), [&] {
      keys("temperature", spec.temperature, above(0), "temperature of the draws");
      keys("anneal", spec.anneal,
           "steps in which the temperature falls to final_temperature, 0 to keep it");
      keys.when(keys.is_not("anneal", {"0"}))("final_temperature", spec.final_temperature, above(0),
                                              "temperature after these steps");
    });
  });
}

struct LatentSpec {
  std::size_t size = 32;
  DiscreteSpec discrete = {};
  std::string pooling = "each";
  std::size_t decoder_blocks = 0;
  std::string gradient = "reparameterised";
  std::size_t draws = 1;
  std::size_t warmup = 0;  ///< training steps
  std::string binarise = "threshold";
  std::string variance = "shared";

  /// Returns the length of what the decoder gets: z and the discrete variables, one-hot.
  std::size_t width() const { return size + discrete.width(); }
};
inline void describe(Keys& keys, LatentSpec& spec) {
  keys("latent", spec.size, between(0, 1 << 12),
       "dimensions of the normal latent variable (d); 0 for discrete ones only");
  keys.section("discrete", spec.discrete);
  keys("pooling", spec.pooling, one_of({"each", "mean"}),
       "how tokens and latent variable meet: a linear map for each token, or the mean of the "
       "tokens and learned positions");
  keys("decoder_blocks", spec.decoder_blocks, between(0, 10000),
       "blocks of the decoder, 0 for model.blocks");
  const KeyCondition normal = keys.is_not("latent", {"0"});
  keys.when(normal)(
      "gradient", spec.gradient, one_of({"reparameterised", "score"}),
      "gradient of the encoder: through the draws, or by the score function with the mean of the "
      "other draws as baseline");
  keys.when(normal || keys.is("discrete.gradient", {"relaxed", "straight_through"}))(
      "draws", spec.draws, between(1, 1024), "latent draws for each example");
  keys("warmup", spec.warmup, "steps in which the weight of the KL divergence rises from 0 to 1");
  keys.when(when("data.kind", {"images", "shapes"}))(
      "binarise", spec.binarise, one_of({"threshold", "drawn"}),
      "a pixel is 1 above half the brightness, or with its brightness as probability, drawn anew "
      "every epoch");
  keys.when(when("data.kind", {"series"}))(
      "variance", spec.variance, one_of({"shared", "of_z"}),
      "variance of a value given z: one learned number per column, or a function of z and the row");
}

/// Spec of a VAE; the latent variable z of d numbers has a standard normal prior, discrete ones a
/// uniform prior.
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
  bool has_variance_of_z() const { return observed == "real" && latent.variance == "of_z"; }
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

/// q(z | x) of B examples: d normal numbers, and N variables of K categories if there are any.
struct LatentRows {
  NormalRows normal;
  CategoricalRows discrete;
};
/// Returns the KL divergence from the prior of each dimension, then of each discrete variable. ->
/// (B, d + N)
Var kl_divergence(const LatentRows& q);
/// Returns the mean of the normal numbers and the most probable categories, one-hot. -> (B, w)
Var most_probable(const LatentRows& q);

/// Bounds of ln p(x) per example in nats. (B)
struct LatentBounds {
  std::vector<double> reconstruction;  ///< E_q ln p(x | z) over the draws
  std::vector<double> divergence;      ///< KL(q(z | x) || p(z))
  std::vector<double> weighted;        ///< ln of the mean of p(x, z) / q(z | x) over the draws
};

/// Variational autoencoder of sequences (Kingma and Welling, 2014): tokens, blocks and a linear map
/// give q(z | x); a linear map of z, blocks and a head give p(x | z): Bernoulli variables, normals
/// with a learned variance per variate or per value as a function of z, or symbols. z holds d
/// normal numbers and N one-hot variables of K categories: w = d + N K.
class VariationalAutoencoder : public Module {
 public:
  explicit VariationalAutoencoder(const VaeSpec& spec);
  LatentRows encode(Tape& tape, const Observed& x);
  /// Returns logits of 1, means, or logits of symbols; with a variance of z, means and then log
  /// variances (R, T, 2n). z (R, w) -> (R, T, n)
  Var decode(Tape& tape, const Var& z);
  /// Returns ln p(x | z). z (S, B, w) -> (S, B)
  Var log_likelihood(Tape& tape, const Observed& x, const Var& z);
  /// Returns the mean over examples of -E_q ln p(x | z) + u KL(q(z | x) || p(z)), with the warm-up
  /// weight u of the tape's step. Standard normal noise (S, B, w) -> ()
  Var loss(Tape& tape, const Observed& x, const Tensor& noise);
  /// Returns bounds, the importance-weighted one by Burda, Grosse, Salakhutdinov, "Importance
  /// weighted autoencoders", 2016; with one draw it estimates the ELBO. Discrete variables are
  /// drawn one-hot. noise (S, B, w)
  LatentBounds bounds(Tape& tape, const Observed& x, const Tensor& noise);
  /// Returns the temperature of relaxed draws: that of the tape's step, else the final one.
  double temperature(const Tape& tape) const;

  /// Returns the standardization of real values.
  Standardize& standardize() { return standardize_; }
  const Standardize& standardize() const { return standardize_; }
  const VaeSpec& spec() const { return spec_; }
  void visit(Visitor& visitor) override;

 private:
  Var embed_tokens(Tape& tape, const Observed& x);
  Var log_normal(Tape& tape, const Var& decoded, const Tensor& values);
  /// Returns ln p(x | z, c) of relaxed draws of c, or its mean over all c. z (S, B, d) -> (S, B)
  Var likelihood_of(Tape& tape, const Observed& x, const LatentRows& q, const Var& z,
                    const Tensor& noise);
  Var mean_over_categories(Tape& tape, const Observed& x, const LatentRows& q, const Var& z);
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
  std::unique_ptr<Linear> variance_head_;  // of a variance of z
  Parameter log_variance_;                 // (V), for real values, if shared
};

}  // namespace bochner::inline BOCHNER_PRECISION
