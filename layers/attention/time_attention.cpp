#include <bochner/autodiff/ops.hpp>
#include <bochner/layers/attention/time_attention.hpp>
#include <cmath>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

TimeEncodingSpec sized(TimeEncodingSpec spec, std::size_t dim) {
  if (spec.use == "rotate") spec.m = dim / 2;
  return spec;
}

/// x (B, T, H, d), cosine and sine (B, T, 1, d / 2)
Var rotated(const Var& x, const Var& cosine, const Var& sine) {
  const std::size_t half = x.dim(3) / 2;
  const Var first = slice(x, 3, 0, half), second = slice(x, 3, half, 2 * half);
  return concat({first * cosine - second * sine, first * sine + second * cosine}, 3);
}

}  // namespace

TimeAttention::TimeAttention(const TimeEncodingSpec& spec, std::size_t heads, std::size_t dim)
    : time_(make_time_encoding(sized(spec, dim))) {
  require(spec.use == "attend" || spec.use == "rotate", "time_attention",
          "attention can attend to times or rotate by them, not ", spec.use);
  if (spec.use == "attend") {
    query_ = std::make_unique<Linear>(time_->features(), heads * dim);
    key_ = std::make_unique<Linear>(time_->features(), heads * dim);
  } else {
    require(time_->rotates() && dim % 2 == 0, "time_attention", "\"", spec.kind,
            "\" cannot rotate heads of ", dim,
            " channels: that takes an even number of them and an encoding of one phase each pair");
  }
}

TimeAttention::Pair TimeAttention::forward(Tape& tape, const Pair& x, const Times& times) {
  require(
      times.dimension() == 2 && times.shape()[0] == x.q.dim(0) && times.shape()[1] == x.q.dim(1),
      "time_attention", "needs the times (B, T) of its tokens: q ", x.q.shape());
  const Var phi = time_->forward(tape, times);
  if (query_) {
    return {x.q + query_->forward(tape, phi, x.q.shape()),
            x.k + key_->forward(tape, phi, x.k.shape())};
  }
  const std::size_t m = x.q.dim(3) / 2;
  const Var phases = reshape(phi * std::sqrt(double(m)), {x.q.dim(0), x.q.dim(1), 1, 2 * m});
  const Var cosine = slice(phases, 3, 0, m), sine = slice(phases, 3, m, 2 * m);
  return {rotated(x.q, cosine, sine), rotated(x.k, cosine, sine)};
}

void TimeAttention::visit(Visitor& visitor) {
  visitor("time", *time_);
  if (!query_) return;
  visitor("time_query", *query_);
  visitor("time_key", *key_);
}

}  // namespace bochner::inline BOCHNER_PRECISION
