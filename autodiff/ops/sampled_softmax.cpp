#include <bochner/autodiff/compute/gemm.hpp>
#include <bochner/autodiff/compute/ordered_sums.hpp>
#include <bochner/autodiff/compute/products.hpp>
#include <bochner/autodiff/ops/gradient_sums.hpp>
#include <bochner/autodiff/ops/sampled_softmax.hpp>
#include <cmath>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// Columns of weights gathered at a time: their rows stay in cache.
constexpr std::size_t channel_block = 8;

/// Candidate classes of the rows of x: U noise classes, then the row's own label.
struct Candidates {
  const char* op;
  std::size_t rows, D, V, U;
  std::vector<std::int32_t> labels;
  std::vector<std::int32_t> classes;
  std::vector<real> counts, log_rates, label_log_rates;
  real share = 0;                                 ///< weight of a label in the mean
  Tensor noise_weights = {}, label_weights = {};  // (D, U), (rows, D)
  Tensor slopes = {};  // (rows, U + 1): logits, then derivatives of the mean loss

  bool counts_row(std::size_t i) const { return labels[i] != -1; }
  /// Returns the class whose weights are gathered for row i; any class if its label is ignored.
  std::size_t label(std::size_t i) const { return std::size_t(std::max(0, labels[i])); }
  /// Returns the index of the label among the noise, U if absent.
  std::size_t hit(std::size_t i) const {
    const auto found = std::lower_bound(classes.begin(), classes.end(), labels[i]);
    return found != classes.end() && *found == labels[i] ? found - classes.begin() : U;
  }
};

void require_inputs(const char* op, const Var& x, const Var& w, const Var& bias,
                    const Indices& labels, const NoiseClasses& noise) {
  require(
      x.rank() >= 1 && w.rank() == 2 && w.dim(0) == x.dim(-1) && bias.shape() == Shape{w.dim(1)},
      op, "w must be (D, V) and bias (V) for x (.., D): x ", x.shape(), ", w ", w.shape(),
      ", bias ", bias.shape());
  require(labels.shape == without_last(x.shape()) &&
              labels.values.size() == element_count(labels.shape),
          op, "labels must be (..) for x (.., D): x ", x.shape(), ", labels ", labels.shape);
  require(!noise.classes.empty() && noise.counts.size() == noise.classes.size() &&
              noise.log_rates.size() == w.dim(1),
          op, "noise must have one count per class, ", noise.classes.size(),
          ", and a rate for each of w ", w.shape());
}

std::int32_t checked(const char* op, const char* what, std::int32_t index,
                     const NoiseClasses& noise) {
  const std::size_t V = noise.log_rates.size();
  require(index >= 0 && std::size_t(index) < V, op, what, " ", index, " is not in [0, ", V, ")");
  require(std::isfinite(noise.log_rates[std::size_t(index)]), op, what, " ", index,
          " must have a finite log rate in the noise");
  return index;
}

Candidates candidates_of(const char* op, const Var& x, const Var& w, const Var& bias,
                         const Indices& labels, const NoiseClasses& noise) {
  require_inputs(op, x, w, bias, labels, noise);
  Candidates all{op,
                 labels.values.size(),
                 w.dim(0),
                 w.dim(1),
                 noise.classes.size(),
                 labels.values,
                 noise.classes,
                 {},
                 {},
                 {}};
  for (std::size_t u = 0; u < all.U; ++u) {
    const std::int32_t index = checked(op, "noise", noise.classes[u], noise);
    require(u == 0 || noise.classes[u - 1] < index, op, "noise classes must ascend: ", index,
            " follows ", u == 0 ? 0 : noise.classes[u - 1]);
    all.counts.push_back(real(noise.counts[u]));
    all.log_rates.push_back(real(noise.log_rates[std::size_t(index)]));
  }
  std::size_t counted = 0;
  for (const std::int32_t label : labels.values) {
    if (label != -1) ++counted, checked(op, "label", label, noise);
    all.label_log_rates.push_back(real(noise.log_rates[std::size_t(std::max(0, label))]));
  }
  all.share = 1 / real(std::max<std::size_t>(1, counted));
  return all;
}

/// Gathers the needed columns of w: (D, U) of the noise, (rows, D) of the labels.
void gather_weights(Candidates& all, const real* w) {
  const std::size_t D = all.D, V = all.V, U = all.U;
  all.noise_weights = uninitialized({D, U});
  all.label_weights = uninitialized({all.rows, D});
  parallel_for(D, channel_block, [&](std::size_t begin, std::size_t end) {
    for (std::size_t d = begin; d < end; ++d)
      for (std::size_t u = 0; u < U; ++u)
        all.noise_weights.data()[d * U + u] = w[d * V + std::size_t(all.classes[u])];
    for (std::size_t i = 0; i < all.rows; ++i)
      for (std::size_t d = begin; d < end; ++d)
        all.label_weights.data()[i * D + d] = w[d * V + all.label(i)];
  });
}

/// Returns the sum over rows of row_loss(i, logits (U + 1)), which replaces logits by slopes; noise
/// logits are shifted by `shift` (U).
template <class RowLoss>
double forward(Candidates& all, const Var& x, const Var& w, const Var& bias,
               std::vector<real> shift, const RowLoss& row_loss) {
  gather_weights(all, w.data());
  const std::size_t D = all.D, U = all.U, ld = U + 1;
  all.slopes = uninitialized({all.rows, ld});
  for (std::size_t u = 0; u < U; ++u) shift[u] += bias.data()[all.classes[u]];
  return parallel_sum<double>(all.rows, product_row_tile, [&](std::size_t begin, std::size_t end) {
    real* tile = all.slopes.data() + begin * ld;
    gemm(end - begin, U, D, {x.data() + begin * D, D}, {all.noise_weights.data(), U}, 0, tile, ld);
    double sum = 0;
    for (std::size_t i = begin; i < end; ++i) {
      real* logits = all.slopes.data() + i * ld;
      if (!all.counts_row(i)) {
        std::fill_n(logits, ld, real(0));
        continue;
      }
      for (std::size_t u = 0; u < U; ++u) logits[u] += shift[u];
      logits[U] = dot_row(x.data() + i * D, all.label_weights.data() + i * D, D) +
                  bias.data()[all.label(i)];
      sum += row_loss(i, logits);
    }
    return sum;
  });
}

void add_input_gradient(const Candidates& all, const Var& x) {
  const std::size_t D = all.D, U = all.U, ld = U + 1;
  const GradientTarget dx(x);
  parallel_for(all.rows, product_row_tile, [&](std::size_t begin, std::size_t end) {
    const real* slopes = all.slopes.data() + begin * ld;
    gemm(end - begin, D, U, {slopes, ld}, {all.noise_weights.data(), U, transposed}, dx.beta,
         dx.data + begin * D, D);
    for (std::size_t i = begin; i < end; ++i) {
      const real slope = all.slopes.data()[i * ld + U];
      const real* __restrict weights = all.label_weights.data() + i * D;
      real* __restrict to = dx.data + i * D;
      for (std::size_t d = 0; d < D; ++d) to[d] += slope * weights[d];
    }
  });
}

/// Adds to the gradient columns of the classes used; others stay untouched.
void add_weight_gradient(const Candidates& all, const Var& x, const Var& w) {
  const std::size_t D = all.D, V = all.V, U = all.U, ld = U + 1, tile = product_reduction_chunk;
  Tensor of_noise = zeros({D, U});
  accumulate_products({1, ceil_div(all.rows, tile), D, U, tile, of_noise.data(), 0, U},
                      [&](std::size_t, std::size_t term, real beta, real* sum, std::size_t sum_ld) {
                        const std::size_t begin = term * tile,
                                          count = std::min(tile, all.rows - begin);
                        gemm(D, U, count, {x.data() + begin * D, D, transposed},
                             {all.slopes.data() + begin * ld, ld}, beta, sum, sum_ld);
                      });
  real* dw = w.gradient_buffer().data();
  parallel_for(D, channel_block, [&](std::size_t begin, std::size_t end) {
    for (std::size_t d = begin; d < end; ++d)
      for (std::size_t u = 0; u < U; ++u)
        dw[d * V + std::size_t(all.classes[u])] += of_noise.data()[d * U + u];
    for (std::size_t i = 0; i < all.rows; ++i) {
      const real slope = all.slopes.data()[i * ld + U];
      real* column = dw + all.label(i);
      for (std::size_t d = begin; d < end; ++d) column[d * V] += slope * x.data()[i * D + d];
    }
  });
}

void add_bias_gradient(const Candidates& all, const Var& bias) {
  const std::size_t U = all.U, ld = U + 1;
  std::vector<real> sums(ld);
  accumulate_columns(all.slopes.data(), all.rows, ld, sums.data());
  real* db = bias.gradient_buffer().data();
  for (std::size_t u = 0; u < U; ++u) db[all.classes[u]] += sums[u];
  for (std::size_t i = 0; i < all.rows; ++i) db[all.label(i)] += all.slopes.data()[i * ld + U];
}

/// Adds the gradient of a constant subtracted from all logits.
void add_shift_gradient(const Candidates& all, const Var& shift) {
  Tensor sum = uninitialized({1});
  sum_axes(all.slopes, {true, true}, sum.data());
  shift.add_gradient(Tensor(-sum));
}

/// Records the mean loss of x, w, bias and, if present, the constant subtracted from all logits.
Var recorded(Candidates all, double sum, const std::vector<Var>& inputs) {
  const char* op = all.op;
  const real loss = real(sum * double(all.share));
  std::vector<Var> saved = inputs;
  saved[1] = inputs[1].gradient_only(), saved.back() = inputs.back().gradient_only();
  return record(op, filled({}, loss), inputs,
                [all = std::move(all), saved = std::move(saved)](Tensor& g) mutable {
                  scale_in_place(all.slopes.data(), all.slopes.size(), g.data()[0]);
                  if (saved[0].needs_gradient()) add_input_gradient(all, saved[0]);
                  if (saved[1].needs_gradient()) add_weight_gradient(all, saved[0], saved[1]);
                  if (saved[2].needs_gradient()) add_bias_gradient(all, saved[2]);
                  if (saved.size() > 3 && saved[3].needs_gradient())
                    add_shift_gradient(all, saved[3]);
                });
}

/// Returns the sum of counts[u] softplus(x[u]), in blocks.
double weighted_softplus(const std::vector<real>& counts, const real* x) {
  constexpr std::size_t block = 256;
  double sum = 0;
  for (std::size_t begin = 0; begin < counts.size(); begin += block) {
    real terms[block];
    const std::size_t count = std::min(block, counts.size() - begin);
    for (std::size_t j = 0; j < count; ++j)
      terms[j] = counts[begin + j] * math::softplus(x[begin + j]);
    sum += double(sum_row(terms, count));
  }
  return sum;
}

}  // namespace

Var sampled_softmax(const Var& x, const Var& w, const Var& bias, const Indices& labels,
                    const NoiseClasses& noise) {
  Candidates all = candidates_of("sampled_softmax", x, w, bias, labels, noise);
  const std::size_t U = all.U;
  std::vector<real> shift(U);
  for (std::size_t u = 0; u < U; ++u) shift[u] = std::log(all.counts[u]) - all.log_rates[u];
  const double sum = forward(all, x, w, bias, std::move(shift), [&](std::size_t i, real* logits) {
    const std::size_t hit = all.hit(i);
    if (hit < U) logits[hit] = -std::numeric_limits<real>::infinity();
    const real largest = max_row(logits, U + 1), label = logits[U] - largest;
    for (std::size_t u = 0; u <= U; ++u) logits[u] = math::exp(logits[u] - largest);
    const real total = sum_row(logits, U + 1), share = all.share / total;
    for (std::size_t u = 0; u <= U; ++u) logits[u] *= share;
    logits[U] -= all.share;
    return double(math::log(total) - label);
  });
  return recorded(std::move(all), sum, {x, w, bias});
}

Var noise_contrastive(const Var& x, const Var& w, const Var& bias, const Var& log_z,
                      const Indices& labels, const NoiseClasses& noise) {
  require(log_z.shape() == Shape{1}, "noise_contrastive", "log_z must be (1), not ", log_z.shape());
  Candidates all = candidates_of("noise_contrastive", x, w, bias, labels, noise);
  const std::size_t U = all.U;
  const real z = log_z.data()[0];
  std::vector<real> shift(U), shares(U);
  for (std::size_t u = 0; u < U; ++u) {
    shift[u] = -all.log_rates[u] - z;
    shares[u] = all.share * all.counts[u];
  }
  const double sum = forward(all, x, w, bias, std::move(shift), [&](std::size_t i, real* logits) {
    logits[U] -= all.label_log_rates[i] + z;
    const double loss = double(math::softplus(-logits[U])) + weighted_softplus(all.counts, logits);
    for (std::size_t u = 0; u < U; ++u) logits[u] = shares[u] * math::sigmoid(logits[u]);
    logits[U] = all.share * (math::sigmoid(logits[U]) - 1);
    return loss;
  });
  return recorded(std::move(all), sum, {x, w, bias, log_z});
}

}  // namespace bochner::inline BOCHNER_PRECISION
