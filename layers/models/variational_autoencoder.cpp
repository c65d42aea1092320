#include <bochner/autodiff/compute/softmax.hpp>
#include <bochner/autodiff/ops.hpp>
#include <bochner/layers/models/variational_autoencoder.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

std::unique_ptr<BlockStack> stack_of(StackSpec spec, std::size_t blocks) {
  if (blocks == 0) return nullptr;
  spec.blocks = blocks;
  return std::make_unique<BlockStack>(in_both_directions(std::move(spec)));
}

bool has_token_maps(const VaeSpec& spec) { return spec.latent.pooling == "each"; }

/// Returns the width of the features that map to and from the latent variable.
std::size_t latent_map_width(const VaeSpec& spec) {
  constexpr double most_weights = 1 << 30;
  const std::size_t D = spec.stack.block.width;
  if (!has_token_maps(spec)) return D;
  require(double(D) * double(spec.tokens) * double(spec.latent.size) <= most_weights, "vae",
          "maps of ", spec.tokens, " tokens of ", D, " channels to ", spec.latent.size,
          " latent dimensions are too large; choose model.vae.pooling = \"mean\"");
  return D * spec.tokens;
}

std::unique_ptr<PositionEncoding> input_positions(const VaeSpec& spec) {
  return make_positions(spec.stack.positions, spec.tokens, spec.stack.block.width);
}

std::unique_ptr<PositionEncoding> output_positions(const VaeSpec& spec) {
  if (has_token_maps(spec)) return nullptr;
  return make_positions("learned", spec.tokens, spec.stack.block.width);
}

/// Encodes symbols as rows with a single 1. (B, T) -> (B, T, V)
Tensor one_hot(const Indices& symbols, std::size_t V) {
  Tensor rows = zeros({symbols.shape[0], symbols.shape[1], V});
  for (std::size_t i = 0; i < symbols.values.size(); ++i) {
    const std::int32_t symbol = symbols.values[i];
    require(symbol >= 0 && std::size_t(symbol) < V, "vae", "symbol ", symbol,
            " is out of range for ", V);
    rows.data()[i * V + std::size_t(symbol)] = 1;
  }
  return rows;
}

/// Returns ln p(z) - ln q(z | x) of an example at z = mean + deviation noise. noise (B, d)
double log_prior_ratio(const NormalRows& q, const Tensor& z, const real* noise, std::size_t row) {
  const std::size_t d = q.mean.dim(1);
  double sum = 0;
  for (std::size_t i = row * d; i < (row + 1) * d; ++i)
    sum += double(noise[i]) * double(noise[i]) - double(z.data()[i]) * double(z.data()[i]) +
           double(q.log_variance.data()[i]);
  return sum / 2;
}

}  // namespace

VariationalAutoencoder::VariationalAutoencoder(const VaeSpec& spec)
    : spec_(checked("vae", spec)),
      standardize_(spec.variates),
      positions_(input_positions(spec)),
      encoder_(stack_of(spec.stack, spec.stack.blocks)),
      to_latent_(latent_map_width(spec), 2 * spec.latent.size),
      from_latent_(spec.latent.size, latent_map_width(spec)),
      decoder_positions_(output_positions(spec)),
      decoder_(stack_of(spec.stack, spec.latent.decoder_blocks > 0 ? spec.latent.decoder_blocks
                                                                   : spec.stack.blocks)),
      head_(spec.stack.block.width, spec.outputs()),
      log_variance_(Shape{spec.variates}) {
  const std::string& kind = spec.observed;
  require(kind == "binary" || kind == "real" || kind == "symbols", "vae",
          "observed must be binary, real or symbols, not ", kind);
  require(spec.values % spec.variates == 0, "vae", spec.values,
          " values per token must be a multiple of ", spec.variates, " variates");
  require(spec.latent.gradient != "score" || spec.latent.draws > 1, "vae",
          "gradient = \"score\" requires at least two draws");
  if (kind == "symbols")
    embedding_ = std::make_unique<Embedding>(spec.vocabulary, spec.stack.block.width);
  else
    input_ = std::make_unique<Linear>(spec.values, spec.stack.block.width);
}

Var VariationalAutoencoder::embed_tokens(Tape& tape, const Observed& x) {
  const Shape shape = embedding_ ? Shape(x.symbols.shape.begin(), x.symbols.shape.end())
                                 : Shape(x.values.shape().begin(), x.values.shape().end());
  require(shape.size() == (embedding_ ? 2 : 3) && shape[1] == spec_.tokens &&
              (embedding_ || shape[2] == spec_.values),
          "vae", "expected ", spec_.tokens, " tokens of ", spec_.values, " values: ", shape);
  return embedding_ ? embedding_->forward(tape, x.symbols)
                    : input_->forward(tape, tape.constant(x.values));
}

NormalRows VariationalAutoencoder::encode(Tape& tape, const Observed& x) {
  Var y = embed_tokens(tape, x);
  if (positions_) y = positions_->forward(tape, y, 0);
  if (encoder_) y = encoder_->forward(tape, y);
  y = has_token_maps(spec_) ? reshape(y, {x.size(), latent_map_width(spec_)}) : mean(y, {1});
  const Var both = to_latent_.forward(tape, y);
  const std::size_t d = spec_.latent.size;
  return {slice(both, 1, 0, d), slice(both, 1, d, 2 * d)};
}

Var VariationalAutoencoder::decode(Tape& tape, const Var& z) {
  const std::size_t R = z.dim(0), T = spec_.tokens, D = spec_.stack.block.width;
  Var y = from_latent_.forward(tape, z);
  if (has_token_maps(spec_)) {
    y = reshape(y, {R, T, D});
  } else {
    y = broadcast_to(reshape(y, {R, 1, D}), {R, T, D});
    y = decoder_positions_->forward(tape, y, 0);
  }
  if (decoder_) y = decoder_->forward(tape, y);
  return head_.forward(tape, y);
}

/// Returns log densities. means (K, B, T, n), values (B, T, n) -> (K, B)
Var VariationalAutoencoder::log_normal(Tape& tape, const Var& means, const Tensor& values) {
  const std::size_t K = means.dim(0), B = means.dim(1), T = spec_.tokens, V = spec_.variates,
                    n = spec_.values / V;
  Tensor targets = values;
  targets.reshape({B, T, V, n});
  const Var log_variance = reshape(tape(log_variance_), {V, 1});
  const Var error = square(reshape(means, {K, B, T, V, n}) - tape.constant(std::move(targets)));
  const Var terms = error * exp(-log_variance) + log_variance + log_two_pi;
  return sum(terms, {-1, -2, -3}) * -0.5;
}

Var VariationalAutoencoder::log_likelihood(Tape& tape, const Observed& x, const Var& z) {
  const std::size_t K = z.dim(0), B = z.dim(1), T = spec_.tokens, n = spec_.outputs();
  const Var y = reshape(decode(tape, reshape(z, {K * B, z.dim(2)})), {K, B, T, n});
  if (spec_.observed == "real") return log_normal(tape, y, x.values);
  if (spec_.observed == "symbols") {
    const Var right = sum(y * tape.constant(one_hot(x.symbols, n)), -1);
    return sum(right - logsumexp(y, {-1}), -1);
  }
  return sum(y * tape.constant(x.values) - softplus(y), {-1, -2});
}

Var VariationalAutoencoder::loss(Tape& tape, const Observed& x, const Tensor& noise) {
  const NormalRows q = encode(tape, x);
  Var z = points(q, noise);
  const bool by_score = spec_.latent.gradient == "score";
  if (by_score) z = tape.constant(z.value());
  const Var likelihood = log_likelihood(tape, x, z);
  const Var kl = mean(sum(kl_divergence(q), -1)) * weight(tape);
  const Var bound = kl - mean(likelihood);
  if (!by_score) return bound;
  return bound - score_term(log_density(q, z.value()), likelihood.value());
}

LatentBounds VariationalAutoencoder::bounds(Tape& tape, const Observed& x, const Tensor& noise) {
  const std::size_t K = noise.shape()[0], B = x.size(), d = spec_.latent.size;
  const NormalRows q = encode(tape, x);
  const Var kl = kl_divergence(q);
  LatentBounds result{std::vector<double>(B), std::vector<double>(B), std::vector<double>(B)};
  for (std::size_t i = 0; i < B * d; ++i) result.divergence[i / d] += double(kl.data()[i]);
  std::vector<std::vector<double>> logs(B, std::vector<double>(K));
  for (std::size_t k = 0; k < K; ++k) {  // one by one, to save memory
    Tensor one = uninitialized({1, B, d});
    std::copy_n(noise.data() + k * B * d, B * d, one.data());
    const Var z = points(q, one), likelihood = log_likelihood(tape, x, z);
    for (std::size_t b = 0; b < B; ++b) {
      result.reconstruction[b] += double(likelihood.data()[b]) / double(K);
      logs[b][k] = double(likelihood.data()[b]) + log_prior_ratio(q, z.value(), one.data(), b);
    }
  }
  for (std::size_t b = 0; b < B; ++b)
    result.weighted[b] = log_sum_exp<double>(logs[b]) - std::log(double(K));
  return result;
}

void VariationalAutoencoder::visit(Visitor& visitor) {
  const bool is_real = spec_.observed == "real";
  if (is_real) visitor("standardize", standardize_);
  if (input_) visitor("input", *input_);
  if (embedding_) visitor("embedding", *embedding_);
  if (positions_) visitor("positions", *positions_);
  if (encoder_) visitor("encoder", *encoder_);
  visitor("to_latent", to_latent_);
  visitor("from_latent", from_latent_);
  if (decoder_positions_) visitor("decoder_positions", *decoder_positions_);
  if (decoder_) visitor("decoder", *decoder_);
  visitor("head", head_);
  if (is_real) visitor("log_variance", log_variance_);
}

}  // namespace bochner::inline BOCHNER_PRECISION
