#include <bochner/autodiff/compute/math.hpp>
#include <bochner/autodiff/compute/ordered_sums.hpp>
#include <bochner/autodiff/ops/shape.hpp>
#include <bochner/base/numeric/parallel.hpp>
#include <bochner/layers/attention/kv_cache.hpp>
#include <cmath>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// Computes y (d) = factor sum_j weight_j value_j in blocks of tokens: adding floats one by one
/// would lose 1 % of a sum of a million.
void weighted_sum(const real* weights, const real* values, std::size_t n, std::size_t stride,
                  std::size_t d, double factor, real* y) {
  constexpr std::size_t block = 64;
  std::vector<double> sum(d);
  std::vector<real> part(d);
  for (std::size_t first = 0; first < n; first += block) {
    std::ranges::fill(part, real(0));
    for (std::size_t j = first; j < std::min(n, first + block); ++j) {
      for (std::size_t e = 0; e < d; ++e) part[e] += weights[j] * values[j * stride + e];
    }
    for (std::size_t e = 0; e < d; ++e) sum[e] += double(part[e]);
  }
  for (std::size_t e = 0; e < d; ++e) y[e] = real(factor * sum[e]);
}

/// Attends with one query of a head to n keys at ascending times, the last its own; `weights` is
/// scratch (n). y (d + 1): the mean of values, then the logarithm of the sum of weights.
void attend_one(const real* q, const real* keys, const real* values,
                const std::vector<double>& times, std::size_t stride, std::size_t d, real rate,
                std::vector<real>& weights, real* y) {
  const std::size_t n = times.size();
  const real scale = 1 / std::sqrt(real(d));
  for (std::size_t j = 0; j < n; ++j) {
    weights[j] = scale * dot_row(q, keys + j * stride, d) - rate * real(times.back() - times[j]);
  }
  const real top = max_row(weights.data(), n);
  for (std::size_t j = 0; j < n; ++j) weights[j] = math::exp(weights[j] - top);
  const real total = sum_row(weights.data(), n);
  weighted_sum(weights.data(), values, n, stride, d, 1 / double(total), y);
  y[d] = top + std::log(total);
}

}  // namespace

void KvCache::append(const Var& k, const Var& v, double time) {
  require(size() == 0 || k.size() == H_ * d_, "attention", "expected keys of ", H_, " heads, got ",
          k.dim(0) * k.dim(2));
  H_ = k.dim(0) * k.dim(2), d_ = k.dim(3);
  keys_.insert(keys_.end(), k.data(), k.data() + k.size());
  values_.insert(values_.end(), v.data(), v.data() + v.size());
  times_.push_back(time);
}

Tensor KvCache::pop_front() {
  Tensor value = uninitialized({H_, d_});
  std::copy_n(values_.begin(), value.size(), value.data());
  const auto token = std::ptrdiff_t(value.size());
  values_.erase(values_.begin(), values_.begin() + token);
  keys_.erase(keys_.begin(), keys_.begin() + token);
  times_.erase(times_.begin());
  return value;
}

Tensor KvCache::attend(const Var& q, const Tensor& rates) const {
  Tensor y = zeros({H_, d_ + 1});
  const bool has_rates = rates.dimension() > 0;
  parallel_rows(H_, times_.size() * d_, [&](std::size_t h) {
    std::vector<real> weights(times_.size());
    attend_one(q.data() + h * d_, keys_.data() + h * d_, values_.data() + h * d_, times_, H_ * d_,
               d_, has_rates ? rates.data()[h] : real(0), weights, y.data() + h * (d_ + 1));
  });
  return y;
}

Var means_of(Tape& tape, Tensor& means, Shape shape) {
  const std::size_t d = shape.back()++;
  return slice(tape.constant(means.reshape(shape)), -1, 0, d);
}

}  // namespace bochner::inline BOCHNER_PRECISION
