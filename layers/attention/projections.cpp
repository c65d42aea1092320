#include <bochner/autodiff/ops.hpp>
#include <bochner/layers/attention/projections.hpp>
#include <bochner/layers/mixers/mixers.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// Sets a frequency per pair of channels for rotations.
TimeEncodingSpec with_frequencies(TimeEncodingSpec spec, std::size_t dim) {
  if (spec.use == "rotate") spec.m = dim / 2;
  return spec;
}

/// Rotates pairs of channels (i, i + d/2). x (B, T, H, d), cosine and sine (B, T, 1, d / 2)
Var rotated(const Var& x, const Var& cosine, const Var& sine) {
  const std::size_t half = x.dim(3) / 2;
  const Var first = slice(x, 3, 0, half), second = slice(x, 3, half, 2 * half);
  return concat({first * cosine - second * sine, first * sine + second * cosine}, 3);
}

}  // namespace

ShortConvolution::ShortConvolution(std::size_t taps, std::size_t width, ConvolutionInit start)
    : taps_(taps), mixing_(taps > 0 && start == ConvolutionInit::mixing) {
  if (taps == 0) return;
  const Initial bound = Initial::uniform(1 / std::sqrt(double(taps)));
  weight_ = Parameter({taps, width}, mixing_ ? bound : Initial::normal(0.1));
  bias_ = Parameter({width}, mixing_ ? bound : Initial{});
}

/// Subtracts 1 at lag 0: forward() adds the token itself.
void ShortConvolution::initialized() {
  for (std::size_t c = 0; mixing_ && c < bias_.value().size(); ++c) weight_.value()(0, c) -= 1;
}

Var ShortConvolution::forward(Tape& tape, const Var& x) {
  if (!active()) return x;
  return x + (short_convolution(x, tape(weight_)) + tape(bias_));
}

Var ShortConvolution::step(Tape& tape, const Var& x, Tensor& recent) {
  if (!active()) return x;
  const std::size_t B = x.dim(0), D = x.dim(2);
  if (recent.shape().empty()) recent = zeros({B, taps_, D});
  require(recent.shape() == Shape{B, taps_, D}, "convolution",
          "expected recent tokens (B, taps, D), got ", recent.shape(), " before ", x.shape());
  for (std::size_t b = 0; b < B; ++b) {
    real* row = recent.data() + b * taps_ * D;
    std::copy(row + D, row + taps_ * D, row);
    std::copy_n(x.data() + b * D, D, row + (taps_ - 1) * D);
  }
  return slice(forward(tape, tape.constant(recent)), 1, taps_ - 1, taps_);
}

TimeAttention::TimeAttention(const TimeEncodingSpec& spec, std::size_t heads, std::size_t dim)
    : time_(make_time_encoding(with_frequencies(spec, dim))) {
  require(spec.use == "attend" || spec.use == "rotate", "time_attention",
          "use must be attend or rotate, not ", spec.use);
  if (spec.use == "attend") {
    query_ = std::make_unique<Linear>(time_->features(), heads * dim);
    key_ = std::make_unique<Linear>(time_->features(), heads * dim);
  } else {
    require(time_->rotates() && dim % 2 == 0, "time_attention", "\"", spec.kind,
            "\" cannot rotate heads of ", dim,
            " channels; use an even number and an encoding with one phase per pair");
  }
}

Heads TimeAttention::forward(Tape& tape, const Heads& x, const Times& times) {
  require(
      times.dimension() == 2 && times.shape()[0] == x.q.dim(0) && times.shape()[1] == x.q.dim(1),
      "time_attention", "times must be (B, T) for q ", x.q.shape());
  const Var phi = time_->forward(tape, times);
  if (query_) {
    return {x.q + query_->forward(tape, phi, x.q.shape()),
            x.k + key_->forward(tape, phi, x.k.shape()), x.v};
  }
  const std::size_t m = x.q.dim(3) / 2;
  const Var phases = reshape(phi * std::sqrt(double(m)), {x.q.dim(0), x.q.dim(1), 1, 2 * m});
  const Var cosine = slice(phases, 3, 0, m), sine = slice(phases, 3, m, 2 * m);
  return {rotated(x.q, cosine, sine), rotated(x.k, cosine, sine), x.v};
}

UnitSphere::UnitSphere(std::size_t heads, double sharpness)
    : log_sharpness_(filled({heads, 1}, real(std::log(sharpness)))) {
  require(sharpness > 0, "mixer", "sharpness = ", sharpness, " must be above 0");
}

Heads UnitSphere::forward(Tape& tape, const Heads& x) {
  const double d = double(x.q.dim(3));
  const Var length = exp(0.5 * tape(log_sharpness_));
  const Var ones = tape.constant(filled({x.q.dim(3)}, real(std::pow(d, -0.25))));
  constexpr real epsilon = real(1e-12);
  return {rms_norm(x.q, ones, epsilon) * length, rms_norm(x.k, ones, epsilon) * length, x.v};
}

ValueResidual::ValueResidual(ValueRole role)
    : role_(role), scales_(filled({role == ValueRole::later ? 2u : 0u}, real(0.5))) {}

Var ValueResidual::forward(Tape& tape, const Var& v, FirstValues* first) {
  if (role_ == ValueRole::first && first && !first->v.exists()) first->v = v;
  if (role_ != ValueRole::later) return v;
  require(first && first->v.exists(), "mixer",
          "the values of the first block are missing: with value_residual, run the whole stack");
  const Var scales = tape(scales_);
  return v * slice(scales, 0, 0, 1) + reshape(first->v, v.shape()) * slice(scales, 0, 1, 2);
}

HeadProjection::HeadProjection(std::size_t width, std::size_t taps)
    : linear_(width, width), convolution_(taps, width) {}

Projections::Projections(const MixerSpec& spec)
    : heads_(spec.heads),
      rotary_(spec.rotary),
      query_(spec.width, spec.convolution),
      key_(spec.width, spec.convolution),
      value_(spec.width, spec.convolution),
      value_residual_(spec.values),
      output_(spec.width, spec.width) {
  require_heads(spec);
  if (spec.normalize == "l2") sphere_ = std::make_unique<UnitSphere>(spec.heads, spec.sharpness);
  if (spec.time.kind != "none")
    time_ = std::make_unique<TimeAttention>(spec.time, spec.heads, spec.width / spec.heads);
}

Heads Projections::with_positions(Tape& tape, Normed& x, Tensor* recent, std::size_t first,
                                  const Times& times, FirstValues* first_values) {
  const Shape tokens{x.dim(0), x.dim(1), x.dim(2)};
  const Shape by_heads{x.dim(0), x.dim(1), heads_, x.dim(2) / heads_};
  const std::vector<Var> linear =
      x.forward(tape, {&query_.linear(), &key_.linear(), &value_.linear()},
                query_.convolves() ? tokens : by_heads);
  const auto by_head = [&](HeadProjection& projection, std::size_t i) {
    return projection.convolve(tape, linear[i], by_heads, recent ? recent + i : nullptr);
  };
  Heads heads = {by_head(query_, 0), by_head(key_, 1), by_head(value_, 2)};
  heads.v = value_residual_.forward(tape, heads.v, first_values);
  if (sphere_) heads = sphere_->forward(tape, heads);
  if (rotary_) heads = {rotary(heads.q, first), rotary(heads.k, first), heads.v};
  return time_ ? time_->forward(tape, heads, times) : heads;
}

void Projections::visit(Visitor& visitor) {
  visitor("query", query_);
  visitor("key", key_);
  visitor("value", value_);
  visitor("output", output_);
  value_residual_.visit(visitor);
  if (sphere_) sphere_->visit(visitor);
  if (time_) time_->visit(visitor);
}

}  // namespace bochner::inline BOCHNER_PRECISION
