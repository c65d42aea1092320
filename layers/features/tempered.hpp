#pragma once
#include <bochner/layers/features/feature_map.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// Any map of exp(log_temperature) x, one learned log_temperature per head.
class Tempered : public FeatureMap {
 public:
  Tempered(std::unique_ptr<FeatureMap> map, std::size_t heads);
  Features features(Tape& tape, const Var& x) override;
  Features queries(Tape& tape, const Var& q, std::size_t first) override;
  Features keys(Tape& tape, const Var& k, std::size_t first) override;
  bool positive() const override { return map_->positive(); }
  std::optional<double> kernel(Point q, Point k, std::size_t head) const override;
  std::optional<double> variance(Point q, Point k, std::size_t head) const override;
  void calibrate(const Tensor& q, const Tensor& k) override;
  void initialized() override { map_->initialized(); }
  void visit(Visitor& visitor) override;

 private:
  Var warm(Tape& tape, const Var& x);
  std::vector<double> warm(Point x, std::size_t head) const;
  std::unique_ptr<FeatureMap> map_;
  Parameter log_temperature_;  // (H, 1)
};

}  // namespace bochner::inline BOCHNER_PRECISION
