#include <bochner/autodiff/ops/elementwise.hpp>
#include <bochner/layers/features/tempered.hpp>
#include <cmath>

namespace bochner::inline BOCHNER_PRECISION {

Tempered::Tempered(std::unique_ptr<FeatureMap> map, std::size_t heads)
    : map_(std::move(map)), log_temperature_({heads, 1}) {}

Var Tempered::warm(Tape& tape, const Var& x) { return x * exp(tape(log_temperature_)); }

std::vector<double> Tempered::warm(Point x, std::size_t head) const {
  std::vector<double> y(x.begin(), x.end());
  for (double& e : y) e *= std::exp(double(log_temperature_.value().data()[head]));
  return y;
}

Features Tempered::features(Tape& tape, const Var& x) {
  return map_->features(tape, warm(tape, x));
}

Features Tempered::queries(Tape& tape, const Var& q, std::size_t first) {
  return map_->queries(tape, warm(tape, q), first);
}

Features Tempered::keys(Tape& tape, const Var& k, std::size_t first) {
  return map_->keys(tape, warm(tape, k), first);
}

std::optional<double> Tempered::kernel(Point q, Point k, std::size_t head) const {
  return map_->kernel(warm(q, head), warm(k, head), head);
}

std::optional<double> Tempered::variance(Point q, Point k, std::size_t head) const {
  return map_->variance(warm(q, head), warm(k, head), head);
}

void Tempered::calibrate(const Tensor& q, const Tensor& k) {
  Tape tape;
  tape.recording = false;
  map_->calibrate(warm(tape, q).value(), warm(tape, k).value());
}

void Tempered::visit(Visitor& visitor) {
  map_->visit(visitor);
  visitor("log_temperature", log_temperature_);
}

}  // namespace bochner::inline BOCHNER_PRECISION
