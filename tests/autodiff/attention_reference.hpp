#pragma once
/// Reference attention over all pairs in long double, with gradients; blocked and chunked ops must
/// equal it. A kernel provides ln K(q, k) and its derivatives.

#include "autodiff/op_check.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace attention_reference {

using op_check::check_op;
using op_check::error_of;
using op_check::expect_equal_bits;
using op_check::expect_equal_bits_for_threads;
using op_check::expect_gradients;
using op_check::expect_near;
using op_check::is_double;
using op_check::Op;
using op_check::random_tensor;
using op_check::value_and_gradients;
using op_check::value_of;

using Wide = long double;
using Wides = std::vector<Wide>;

/// Returns token t of sequence b of x (B, T, H, ..) -> (1, 1, H, ..)
inline Tensor token_of(const Tensor& x, std::size_t b, std::size_t t) {
  Shape shape = x.shape();
  shape[0] = shape[1] = 1;
  Tensor token = uninitialized(shape);
  std::copy_n(x.data() + (b * x.shape()[1] + t) * token.size(), token.size(), token.data());
  return token;
}

inline Wides widen(const real* x, std::size_t n) { return Wides(x, x + n); }

/// K = phi_q . phi_k of positive features.
struct LinearKernel {
  static Wide logarithm(const Wides& q, const Wides& k) {
    Wide sum = 0;
    for (std::size_t f = 0; f < q.size(); ++f) sum += q[f] * k[f];
    return std::log(sum);
  }
  /// Returns d ln K / d q_f; exchange q and k for k_f.
  static Wide derivative(const Wides&, const Wides& k, Wide log_kernel, std::size_t f) {
    return k[f] / std::exp(log_kernel);
  }
};

/// K = sum_f exp(q_f + k_f) of logarithmic features.
struct LogarithmicKernel {
  static Wide logarithm(const Wides& q, const Wides& k) {
    Wide top = -std::numeric_limits<Wide>::infinity(), sum = 0;
    for (std::size_t f = 0; f < q.size(); ++f) top = std::max(top, q[f] + k[f]);
    for (std::size_t f = 0; f < q.size(); ++f) sum += std::exp(q[f] + k[f] - top);
    return top + std::log(sum);
  }
  static Wide derivative(const Wides& q, const Wides& k, Wide log_kernel, std::size_t f) {
    return std::exp(q[f] + k[f] - log_kernel);
  }
};

/// K = exp(q . k / sqrt(d)).
struct SoftmaxKernel {
  static Wide logarithm(const Wides& q, const Wides& k) {
    Wide sum = 0;
    for (std::size_t f = 0; f < q.size(); ++f) sum += q[f] * k[f];
    return sum / std::sqrt(Wide(q.size()));
  }
  static Wide derivative(const Wides&, const Wides& k, Wide, std::size_t f) {
    return k[f] / std::sqrt(Wide(k.size()));
  }
};

struct Inputs {
  Tensor q, k, v, rate;  ///< (B, T, H, F) twice, (B, T, H, d), (H) or (B, T, H) or empty
  std::vector<Tensor> list() const {
    return rate.size() > 0 ? std::vector<Tensor>{q, k, v, rate} : std::vector<Tensor>{q, k, v};
  }
};

/// Returns the output, then the gradients of q, k, v and rate for the cotangent g.
template <class Kernel>
std::vector<Wides> naive_attention(const Inputs& in, const Tensor& g, bool causal) {
  const std::size_t B = in.v.shape()[0], T = in.v.shape()[1], H = in.v.shape()[2],
                    d = in.v.shape()[3], F = in.q.shape()[3];
  std::vector<Wides> out{Wides(in.v.size()), Wides(in.q.size()), Wides(in.k.size()),
                         Wides(in.v.size()), Wides(in.rate.size())};
  Wides &y = out[0], &dq = out[1], &dk = out[2], &dv = out[3], &drate = out[4];
  for (std::size_t task = 0; task < B * H * T; ++task) {
    const std::size_t b = task / (H * T), h = task / T % H, i = task % T;
    const auto row = [&](std::size_t t) { return (b * T + t) * H + h; };
    const std::size_t keys = causal ? i + 1 : T;
    const Wides q = widen(in.q.data() + row(i) * F, F);
    const bool by_token = in.rate.shape().size() == 3;
    const auto rate_at = [&](std::size_t t) { return by_token ? row(t) : h; };
    Wides elapsed(T);  // cumulative rates
    for (std::size_t t = 0; t < T && in.rate.size() > 0; ++t)
      elapsed[t] = (t > 0 ? elapsed[t - 1] : 0) + in.rate.data()[rate_at(t)];
    const auto decay = [&](std::size_t j) { return std::abs(elapsed[i] - elapsed[j]); };
    Wides log_kernel(keys), weight(keys);
    Wide top = -std::numeric_limits<Wide>::infinity(), sum = 0;
    for (std::size_t j = 0; j < keys; ++j) {
      log_kernel[j] = Kernel::logarithm(q, widen(in.k.data() + row(j) * F, F));
      weight[j] = log_kernel[j] - decay(j);
      top = std::max(top, weight[j]);
    }
    for (Wide& w : weight) sum += w = std::exp(w - top);
    for (Wide& w : weight) w /= sum;
    Wide mean = 0;
    for (std::size_t e = 0; e < d; ++e) {
      for (std::size_t j = 0; j < keys; ++j)
        y[row(i) * d + e] += weight[j] * in.v.data()[row(j) * d + e];
      mean += y[row(i) * d + e] * g.data()[row(i) * d + e];
    }
    for (std::size_t j = 0; j < keys; ++j) {
      const Wides k = widen(in.k.data() + row(j) * F, F);
      Wide slope = -mean;
      for (std::size_t e = 0; e < d; ++e) {
        slope += Wide(g.data()[row(i) * d + e]) * in.v.data()[row(j) * d + e];
        dv[row(j) * d + e] += weight[j] * g.data()[row(i) * d + e];
      }
      slope *= weight[j];
      for (std::size_t t = std::min(i, j) + 1; t <= std::max(i, j) && in.rate.size() > 0; ++t)
        drate[rate_at(t)] -= slope;
      for (std::size_t f = 0; f < F; ++f) {
        dq[row(i) * F + f] += slope * Kernel::derivative(q, k, log_kernel[j], f);
        dk[row(j) * F + f] += slope * Kernel::derivative(k, q, log_kernel[j], f);
      }
    }
  }
  return out;
}

inline void expect_near(const Tensor& x, const Wides& reference, double limit) {
  ASSERT_EQ(x.size(), reference.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    ASSERT_NEAR(double(x.data()[i]), double(reference[i]),
                limit * std::max(1.0, double(std::abs(reference[i]))))
        << "element " << i;
  }
}

inline void expect_all(const Tensor& x, real value) {
  for (std::size_t i = 0; i < x.size(); ++i) ASSERT_EQ(x.data()[i], value) << "element " << i;
}

/// Counts outputs before `token` whose bits change when q, k and v of `token` do.
template <class Attention>
std::size_t changed_before(const Attention& attention, const Inputs& in, std::size_t token,
                           real change) {
  Inputs other = in;
  const std::size_t B = in.v.shape()[0], T = in.v.shape()[1];
  for (Tensor* x : {&other.q, &other.k, &other.v}) {
    const std::size_t row = x->size() / (B * T);
    for (std::size_t b = 0; b < B; ++b) {
      for (std::size_t f = 0; f < row; ++f)
        x->data()[(b * T + token) * row + f] += change * real(1 + f % 3);
    }
  }
  const Tensor before = attention(in), after = attention(other);
  const std::size_t row = before.size() / (B * T);
  std::size_t changed = 0;
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (i / row % T >= token) continue;
    changed += std::memcmp(before.data() + i, after.data() + i, sizeof(real)) != 0;
  }
  return changed;
}

/// Returns the largest gradient after `token` when only outputs up to `token` have a cotangent.
inline double gradient_after(const Op& op, const Inputs& in, std::size_t token) {
  Tape tape;
  std::vector<Var> leaves;
  for (const Tensor& x : in.list()) leaves.push_back(tape.input(x));
  const Var y = op(tape, leaves);
  const std::size_t T = in.v.shape()[1];
  const auto position = [&](const Tensor& x, std::size_t i) {
    return i / (x.size() / (x.shape()[0] * T)) % T;
  };
  Tensor g = random_tensor(y.shape(), 99);
  for (std::size_t i = 0; i < g.size(); ++i) {
    if (position(g, i) > token) g.data()[i] = 0;
  }
  tape.backward(y, g);
  double largest = 0;
  for (std::size_t input = 0; input < 3; ++input) {
    const Tensor gradient = gradient_of(leaves[input]);
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      const double x = std::abs(double(gradient.data()[i]));
      if (position(gradient, i) > token && !(x <= largest)) largest = x;
    }
  }
  return largest;
}

/// Returns positions around the borders of chunks and of the sequence.
inline std::vector<std::size_t> telling_positions(std::size_t T) {
  std::vector<std::size_t> positions;
  for (std::size_t t : {0, 1, 2, 3, 15, 16, 17, 47, 62, 63, 64, 65, 99, 100, 127, 128, 129}) {
    if (t < T) positions.push_back(t);
  }
  return positions;
}

/// Compares values and gradients with 1, 2, 3, 4 and 8 threads.
inline void expect_equal_for_all_threads(const Op& op, const std::vector<Tensor>& in) {
  expect_equal_bits_for_threads(op, in, {2, 3, 4, 8});
}

/// Returns the first n tokens of x (B, T, ..).
inline Tensor first_tokens(const Tensor& x, std::size_t n) {
  Shape shape = x.shape();
  const std::size_t T = shape[1];
  shape[1] = n;
  Tensor y = uninitialized(shape);
  const std::size_t row = x.size() / (shape[0] * T);
  for (std::size_t b = 0; b < shape[0]; ++b)
    std::copy_n(x.data() + b * T * row, n * row, y.data() + b * n * row);
  return y;
}

}  // namespace attention_reference
}  // namespace bochner::inline BOCHNER_PRECISION
