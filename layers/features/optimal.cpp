#include <bochner/autodiff/ops.hpp>
#include <bochner/layers/features/closed_forms.hpp>
#include <bochner/layers/features/exponents.hpp>
#include <bochner/layers/features/optimal.hpp>
#include <cmath>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

Tensor identities(std::size_t H, std::size_t d) {
  Tensor x = zeros({H, d, d});
  for (std::size_t i = 0; i < H * d; ++i) x.data()[i * d + i % d] = 1;
  return x;
}

}  // namespace

OptimalFeatures::Variant OptimalFeatures::variant_of(const std::string& kind) {
  if (kind == "saderf") return Variant::scaled;
  if (kind == "sderf") return Variant::rotated;
  if (kind == "aderf") return Variant::paired;
  require(kind == "oprf", "optimal_features", "no variant is called \"", kind,
          "\"; there are: oprf, saderf, sderf, aderf");
  return Variant::plain;
}

OptimalFeatures::OptimalFeatures(const FeatureSpec& spec)
    : m_(spec.m),
      d_(spec.dim),
      variant_(variant_of(spec.kind)),
      frequencies_(spec),
      log_rho_(filled({spec.heads, 1, is(Variant::rotated) ? d_ : 1},
                      real(optimal_log_rho(double(d_), 2 * std::sqrt(double(d_)))))),
      log_psi_(zeros({is(Variant::scaled) ? spec.heads : 0, d_})) {
  if (is(Variant::rotated) || is(Variant::paired)) query_matrix_ = identities(spec.heads, d_);
  if (is(Variant::paired)) key_matrix_ = query_matrix_;
}

Var OptimalFeatures::side_of(Tape& tape, const Var& x, Side side) {
  if (is(Variant::scaled)) return x * exp(tape(log_psi_) * (side == Side::query ? 1 : -1));
  if (is(Variant::rotated)) return project_heads(x, tape.view(query_matrix_));
  if (is(Variant::paired))
    return project_heads(x, tape.view(side == Side::query ? query_matrix_ : key_matrix_));
  return x;
}

Features OptimalFeatures::side(Tape& tape, const Var& x, Side side, std::size_t) {
  const Var w = frequencies_.draws(tape), r = exp(-tape(log_rho_));
  const Var A = (1 - r) / 8, g = (1 + r) / 2;  // g = 1 - 4 A
  const double times = is(Variant::rotated) ? 0.25 : 0.25 * double(d_);
  const Var offset = sum(A * square(w), -1) + sum(log(g), -1) * times;
  return exponential(side_of(tape, x, side), w * sqrt(g), 0.5, offset);
}

std::vector<double> OptimalFeatures::side_of(const std::vector<double>& y, std::size_t head,
                                             Side side) const {
  std::vector<double> u(d_);
  const Tensor& matrix = is(Variant::paired) && side == Side::key ? key_matrix_ : query_matrix_;
  for (std::size_t l = 0; l < d_; ++l) {
    if (is(Variant::scaled)) {
      const double log_psi = double(log_psi_.value().data()[head * d_ + l]);
      u[l] = y[l] * std::exp(side == Side::query ? log_psi : -log_psi);
    } else if (is(Variant::rotated) || is(Variant::paired)) {
      for (std::size_t j = 0; j < d_; ++j)
        u[l] += double(matrix.data()[(head * d_ + l) * d_ + j]) * y[j];
    } else {
      u[l] = y[l];
    }
  }
  return u;
}

double OptimalFeatures::r_of(std::size_t head, std::size_t l) const {
  const real* log_rho = log_rho_.value().data();
  return std::exp(-double(is(Variant::rotated) ? log_rho[head * d_ + l] : log_rho[head]));
}

std::optional<double> OptimalFeatures::kernel(Point q, Point k, std::size_t) const {
  return ScaledPair(q, k).softmax();
}

std::optional<double> OptimalFeatures::variance(Point q, Point k, std::size_t head) const {
  const ScaledPair pair(q, k);
  const auto x = side_of(pair.x, head, Side::query), y = side_of(pair.y, head, Side::key);
  double second = 1;
  for (std::size_t l = 0; l < d_; ++l) second *= optimal_second_moment(x[l], y[l], r_of(head, l));
  return (second - std::exp(2 * pair.xy)) / double(m_);
}

void OptimalFeatures::visit(Visitor& visitor) {
  frequencies_.visit(visitor);
  visitor("log_rho", log_rho_);
  if (is(Variant::scaled)) visitor("log_psi", log_psi_);
  if (is(Variant::rotated) || is(Variant::paired)) visitor("query_matrix", query_matrix_);
  if (is(Variant::paired)) visitor("key_matrix", key_matrix_);
}

}  // namespace bochner::inline BOCHNER_PRECISION
