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
  require(double(D) * double(spec.tokens) * double(spec.latent.width()) <= most_weights, "vae",
          "maps of ", spec.tokens, " tokens of ", D, " channels to ", spec.latent.width(),
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

/// Returns elements begin to end of the last axis of noise.
Tensor noise_part(const Tensor& noise, std::size_t begin, std::size_t end) {
  return slice(Var(noise), -1, begin, end).value();
}

/// Returns the noise of discrete variables. (S, B, w) -> (S, B, N, K)
Tensor discrete_noise(const Tensor& noise, const LatentSpec& spec) {
  Tensor part = noise_part(noise, spec.size, spec.width());
  part.reshape(
      {noise.shape()[0], noise.shape()[1], spec.discrete.variables, spec.discrete.categories});
  return part;
}

/// Appends discrete variables. (S, B, d), (S, B, N, K) -> (S, B, w)
Var with_categories(const Var& z, const Var& c) {
  return concat({z, reshape(c, {z.dim(0), z.dim(1), c.dim(2) * c.dim(3)})}, -1);
}

/// Returns ln p(z) - ln q(z | x) of an example at z = mean + deviation noise. z, noise (1, B, d)
double log_prior_ratio(const NormalRows& q, const Tensor& z, const Tensor& noise, std::size_t row) {
  const std::size_t d = q.mean.dim(1);
  double sum = 0;
  for (std::size_t i = row * d; i < (row + 1) * d; ++i)
    sum += double(noise.data()[i]) * double(noise.data()[i]) -
           double(z.data()[i]) * double(z.data()[i]) + double(q.log_variance.data()[i]);
  return sum / 2;
}

/// Returns ln p(c) - ln q(c | x) of an example. log_q (B, N, K), one-hot c (1, B, N, K)
double log_prior_ratio(const Tensor& log_q, const Tensor& c, std::size_t row) {
  const std::size_t K = log_q.shape()[2], n = log_q.shape()[1] * K;
  double sum = 0;
  for (std::size_t i = row * n; i < (row + 1) * n; ++i)
    if (c.data()[i] == 1) sum -= double(log_q.data()[i]) + std::log(double(K));
  return sum;
}

/// Smallest log variance of a value given z: a hundredth of the deviation of the training data.
const double least_log_variance = 2 * std::log(0.01);

/// Returns x, smoothly bounded from below. (..) -> (..)
Var bounded_log_variance(const Var& x) {
  return softplus(x - least_log_variance) + least_log_variance;
}

}  // namespace

Var kl_divergence(const LatentRows& q) {
  const Var normal = kl_divergence(q.normal);
  return q.discrete.exist() ? concat({normal, kl_divergence(q.discrete)}, 1) : normal;
}

Var most_probable(const LatentRows& q) {
  if (!q.discrete.exist()) return q.normal.mean;
  const Tensor c = one_hot_max(q.discrete.logits.value());
  return concat({q.normal.mean, reshape(Var(c), {c.shape()[0], c.shape()[1] * c.shape()[2]})}, 1);
}

VariationalAutoencoder::VariationalAutoencoder(const VaeSpec& spec)
    : spec_(checked("vae", spec)),
      standardize_(spec.variates),
      positions_(input_positions(spec)),
      encoder_(stack_of(spec.stack, spec.stack.blocks)),
      to_latent_(latent_map_width(spec), spec.latent.size + spec.latent.width()),
      from_latent_(spec.latent.width(), latent_map_width(spec)),
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
  const DiscreteSpec& discrete = spec.latent.discrete;
  require(spec.latent.width() > 0 && discrete.categories != 1, "vae",
          "requires latent dimensions or discrete variables of at least two categories");
  require(discrete.gradient != "exact" || count_categories(discrete.variables, discrete.categories,
                                                           most_exact_values) <= most_exact_values,
          "vae", discrete.variables, " variables of ", discrete.categories,
          " categories have more than the ", most_exact_values, " values of an exact gradient");
  if (spec.has_variance_of_z())  // starts with the variance of the data
    variance_head_ = std::make_unique<Linear>(spec.stack.block.width, spec.values, Initial{});
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

LatentRows VariationalAutoencoder::encode(Tape& tape, const Observed& x) {
  Var y = embed_tokens(tape, x);
  if (positions_) y = positions_->forward(tape, y, 0);
  if (encoder_) y = encoder_->forward(tape, y);
  y = has_token_maps(spec_) ? reshape(y, {x.size(), latent_map_width(spec_)}) : mean(y, {1});
  const Var all = to_latent_.forward(tape, y);
  const std::size_t d = spec_.latent.size;
  LatentRows q{{slice(all, 1, 0, d), slice(all, 1, d, 2 * d)}, {}};
  const DiscreteSpec& discrete = spec_.latent.discrete;
  if (discrete.exists())
    q.discrete.logits = reshape(slice(all, 1, 2 * d, all.dim(1)),
                                {x.size(), discrete.variables, discrete.categories});
  return q;
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
  const Var outputs = head_.forward(tape, y);
  if (!variance_head_) return outputs;
  return concat({outputs, bounded_log_variance(variance_head_->forward(tape, y))}, -1);
}

/// Returns log densities. decoded (S, B, T, n) or (S, B, T, 2n), values (B, T, n) -> (S, B)
Var VariationalAutoencoder::log_normal(Tape& tape, const Var& decoded, const Tensor& values) {
  const std::size_t S = decoded.dim(0), B = decoded.dim(1), T = spec_.tokens, V = spec_.variates,
                    n = spec_.values;
  Tensor targets = values;
  targets.reshape({B, T, V, n / V});
  const Shape by_variate{S, B, T, V, n / V};
  const bool of_z = variance_head_ != nullptr;
  const Var means = reshape(of_z ? slice(decoded, -1, 0, n) : decoded, by_variate);
  const Var log_variance = of_z ? reshape(slice(decoded, -1, n, 2 * n), by_variate)
                                : reshape(tape(log_variance_), {V, 1});
  const Var error = square(means - tape.constant(std::move(targets)));
  const Var terms = error * exp(-log_variance) + log_variance + log_two_pi;
  return sum(terms, {-1, -2, -3}) * -0.5;
}

Var VariationalAutoencoder::log_likelihood(Tape& tape, const Observed& x, const Var& z) {
  const std::size_t S = z.dim(0), B = z.dim(1);
  const Var decoded = decode(tape, reshape(z, {S * B, z.dim(2)}));
  const Var y = reshape(decoded, {S, B, spec_.tokens, decoded.dim(2)});
  if (spec_.observed == "real") return log_normal(tape, y, x.values);
  if (spec_.observed == "symbols") {
    const Var right = sum(y * tape.constant(one_hot(x.symbols, spec_.vocabulary)), -1);
    return sum(right - logsumexp(y, {-1}), -1);
  }
  return sum(y * tape.constant(x.values) - softplus(y), {-1, -2});
}

double VariationalAutoencoder::temperature(const Tape& tape) const {
  const DiscreteSpec& spec = spec_.latent.discrete;
  if (spec.anneal == 0) return spec.temperature;
  const double part = tape.training ? std::min(1.0, double(tape.step) / double(spec.anneal)) : 1;
  return spec.temperature * std::pow(spec.final_temperature / spec.temperature, part);
}

Var VariationalAutoencoder::mean_over_categories(Tape& tape, const Observed& x, const LatentRows& q,
                                                 const Var& z) {
  const DiscreteSpec& spec = spec_.latent.discrete;
  const Tensor values = all_categories(spec.variables, spec.categories);
  const std::size_t S = z.dim(0), B = z.dim(1), d = z.dim(2), C = values.shape()[0],
                    w = d + spec.width();
  const Var c = broadcast_to(reshape(Var(values), {1, C, 1, w - d}), {S, C, B, w - d});
  const Var pairs = concat({broadcast_to(reshape(z, {S, 1, B, d}), {S, C, B, d}), c}, -1);
  const Var each = reshape(log_likelihood(tape, x, reshape(pairs, {S * C, B, w})), {S, C, B});
  return sum(each * exp(log_probabilities(q.discrete, values)), {1});
}

Var VariationalAutoencoder::likelihood_of(Tape& tape, const Observed& x, const LatentRows& q,
                                          const Var& z, const Tensor& noise) {
  const DiscreteSpec& spec = spec_.latent.discrete;
  if (!spec.exists()) return log_likelihood(tape, x, z);
  if (spec.gradient == "exact") return mean_over_categories(tape, x, q, z);
  Var c = relaxed_points(q.discrete, discrete_noise(noise, spec_.latent), temperature(tape));
  if (spec.gradient == "straight_through") c = straight_through(c);
  return log_likelihood(tape, x, with_categories(z, c));
}

Var VariationalAutoencoder::loss(Tape& tape, const Observed& x, const Tensor& noise) {
  const LatentRows q = encode(tape, x);
  Var z = points(q.normal, noise_part(noise, 0, spec_.latent.size));
  const bool by_score = spec_.latent.gradient == "score" && spec_.latent.size > 0;
  if (by_score) z = tape.constant(z.value());
  const Var likelihood = likelihood_of(tape, x, q, z, noise);
  const Var kl = mean(sum(kl_divergence(q), -1)) * weight(tape);
  const Var bound = kl - mean(likelihood);
  if (!by_score) return bound;
  return bound - score_term(log_density(q.normal, z.value()), likelihood.value());
}

LatentBounds VariationalAutoencoder::bounds(Tape& tape, const Observed& x, const Tensor& noise) {
  const LatentSpec& spec = spec_.latent;
  const std::size_t S = noise.shape()[0], B = x.size(), w = spec.width();
  const LatentRows q = encode(tape, x);
  const Tensor log_q = q.discrete.exist() ? log_softmax(q.discrete.logits).value() : Tensor();
  const Var kl = kl_divergence(q);
  LatentBounds result{std::vector<double>(B), std::vector<double>(B), std::vector<double>(B)};
  for (std::size_t i = 0; i < kl.size(); ++i)
    result.divergence[i / kl.dim(1)] += double(kl.data()[i]);
  std::vector<std::vector<double>> logs(B, std::vector<double>(S));
  for (std::size_t s = 0; s < S; ++s) {  // one by one, to save memory
    Tensor one = uninitialized({1, B, w});
    std::copy_n(noise.data() + s * B * w, B * w, one.data());
    const Tensor normal = noise_part(one, 0, spec.size);
    const Var z = points(q.normal, normal);
    const Tensor c = q.discrete.exist() ? points(q.discrete, discrete_noise(one, spec)) : Tensor();
    const Var likelihood =
        log_likelihood(tape, x, q.discrete.exist() ? with_categories(z, Var(c)) : z);
    for (std::size_t b = 0; b < B; ++b) {
      result.reconstruction[b] += double(likelihood.data()[b]) / double(S);
      logs[b][s] = double(likelihood.data()[b]) + log_prior_ratio(q.normal, z.value(), normal, b);
      if (q.discrete.exist()) logs[b][s] += log_prior_ratio(log_q, c, b);
    }
  }
  for (std::size_t b = 0; b < B; ++b)
    result.weighted[b] = log_sum_exp<double>(logs[b]) - std::log(double(S));
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
  if (variance_head_)
    visitor("log_variance", *variance_head_);
  else if (is_real)
    visitor("log_variance", log_variance_);
}

}  // namespace bochner::inline BOCHNER_PRECISION
