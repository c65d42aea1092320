#pragma once
/// Origins and units of times and places.

#include <bochner/autodiff/ops/fourier/fourier_features.hpp>
#include <bochner/base/time_array.hpp>
#include <bochner/layers/module.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// Origin and unit of a model's times, fitted to the training data and saved with the model.
class TimeScale : public Module {
 public:
  TimeScale();
  /// Fits the first time and the median gap of ascending sequences. times (B, T)
  void fit(const Times& times);
  /// Returns (t - origin) / unit, in double. (..) -> (..)
  Times scaled(const Times& times) const {
    const double origin = double(origin_.data()[0]), unit = double(unit_.data()[0]);
    Times scaled = times;
    for (double& time : scaled) time = (time - origin) / unit;
    return scaled;
  }
  double unit() const { return double(unit_.data()[0]); }
  void visit(Visitor& visitor) override {
    visitor("origin", origin_);
    visitor("unit", unit_);
  }

 private:
  Tensor origin_, unit_;  // (1) each
};

/// Origin and scale of places, and scale of times: buffers, saved with the model.
class PlaceScale : public Module {
 public:
  explicit PlaceScale(std::size_t dimensions);
  /// Sets origin and extent along each axis, (d) each, and the span of time.
  void set(const std::vector<double>& origin, const std::vector<double>& extent, double span);
  /// Scales places in double. (N, d) -> (N, d)
  Places scaled(const std::vector<double>& places) const;
  std::vector<double> scaled_times(std::vector<double> times) const {
    for (double& time : times) time /= double(span_.data()[0]);
    return times;
  }
  void visit(Visitor& visitor) override {
    visitor("origin", origin_);
    visitor("extent", extent_);
    visitor("span", span_);
  }

 private:
  Tensor origin_, extent_, span_;
};

}  // namespace bochner::inline BOCHNER_PRECISION
