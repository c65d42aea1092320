#pragma once
/// Standardization of variates, and its inverse.

#include <bochner/base/keys.hpp>
#include <bochner/layers/module.hpp>
#include <string>

namespace bochner::inline BOCHNER_PRECISION {

/// Converts data to mean 0 and deviation 1 over the training data, and back. Statistics per
/// variate, and per series if several, are buffers of the model. (B, V, ..) -> (B, V, ..)
class Standardize : public Module {
 public:
  explicit Standardize(std::size_t variates, std::size_t series = 1);
  /// Sets means and deviations, (V) each, series after series; a deviation of 0 becomes 1.
  void set(const std::vector<double>& mean, const std::vector<double>& deviation);
  /// (x - mean) / deviation
  void apply(Tensor& x) const { apply(x, {}); }
  /// x * deviation + mean
  void undo(Tensor& x) const { undo(x, {}); }
  /// Apply and undo with the statistics of `series` (B), the series of each element.
  void apply(Tensor& x, const std::vector<std::size_t>& series) const;
  void undo(Tensor& x, const std::vector<std::size_t>& series) const;
  /// Means and deviations in the order of set().
  std::vector<double> means() const { return {mean_.begin(), mean_.end()}; }
  std::vector<double> deviations() const { return {deviation_.begin(), deviation_.end()}; }
  void visit(Visitor& visitor) override {
    visitor("mean", mean_);
    visitor("deviation", deviation_);
  }

 private:
  template <class Change>
  void change_variates(Tensor& x, const std::vector<std::size_t>& series,
                       const Change& change) const;
  std::size_t variates_;
  Tensor mean_, deviation_;  // (V), or (series, V)
};

struct InstanceNormSpec {
  std::string kind = "revin";  ///< "none", "last" (x - last), "mean" (x - mean) or "revin" ((x -
                               ///< mean) / deviation)
  bool affine = false;
};
inline void describe(Keys& keys, InstanceNormSpec& spec) {
  keys("kind", spec.kind, one_of({"revin", "mean", "last", "none"}),
       "what each window of a variate is normalized by: its mean and deviation (revin), its mean, "
       "its last value, nothing");
  keys("affine", spec.affine, "then a learned gain and bias of each variate");
}
/// Reversible instance normalization: standardizes each window of each variate, and undoes it. Kim
/// et al., "Reversible instance normalization", 2022; "last" as in NLinear (Zeng et al., 2023).
class InstanceNorm : public Module {
 public:
  InstanceNorm(const InstanceNormSpec& spec, std::size_t variates);

  /// Statistics of each window: (B, V, 1), (B, V, 1); nonexistent if the kind does not use them.
  struct Statistics {
    Var center, deviation;
  };
  /// Computes the statistics of windows (B, V, L).
  Statistics statistics_of(const Var& window) const;
  /// Standardizes x. (B, V, n) -> (B, V, n)
  Var apply(Tape& tape, const Var& x, const Statistics& statistics);
  /// Inverts apply(). (B, V, n) -> (B, V, n)
  Var undo(Tape& tape, const Var& x, const Statistics& statistics);
  void visit(Visitor& visitor) override {
    if (!spec_.affine) return;
    visitor("gain", gain_);
    visitor("bias", bias_);
  }

 private:
  InstanceNormSpec spec_;
  Parameter gain_, bias_;  ///< (V, 1)
};

}  // namespace bochner::inline BOCHNER_PRECISION
