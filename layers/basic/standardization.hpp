#pragma once
/// Numbers in another statistics, and back.

#include <bochner/base/keys.hpp>
#include <bochner/layers/module.hpp>
#include <string>

namespace bochner::inline BOCHNER_PRECISION {

/// Numbers in the statistics of the data and with mean 0 and deviation 1 over the training data:
/// mean and deviation of each variate are buffers, saved with the model; each of several series has
/// its own. (B, V, ..) -> (B, V, ..)
class Standardize : public Module {
 public:
  explicit Standardize(std::size_t variates, std::size_t series = 1);
  /// (V), (V), one series after the other. A variate that does not change, with deviation 0, is
  /// only shifted.
  void set(const std::vector<double>& mean, const std::vector<double>& deviation);
  /// (x - mean) / deviation
  void apply(Tensor& x) const;
  /// x * deviation + mean
  void undo(Tensor& x) const;
  /// The same in the statistics of the series that each element of the batch is of. (B)
  void apply(Tensor& x, const std::vector<std::size_t>& series) const;
  void undo(Tensor& x, const std::vector<std::size_t>& series) const;
  /// (V), (V), one series after the other, in the order of set().
  std::vector<double> means() const { return {mean_.begin(), mean_.end()}; }
  std::vector<double> deviations() const { return {deviation_.begin(), deviation_.end()}; }
  void visit(Visitor& visitor) override;

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
       "forecaster: the statistics of each window of each variate: its mean and deviation (revin), "
       "its "
       "mean, its last value, none");
  keys("affine", spec.affine, "forecaster: a learned gain and bias of each variate behind it");
}

/// Reversible instance normalisation: every window of every variate in a statistics of its own, and
/// back. Kim et al., "Reversible instance normalization", 2022; "last" is that of NLinear (Zeng et
/// al., 2023).
class InstanceNorm : public Module {
 public:
  InstanceNorm(const InstanceNormSpec& spec, std::size_t variates);

  /// The statistics of each window: (B, V, 1), (B, V, 1); what a kind leaves out does not exist.
  struct Statistics {
    Var center, deviation;
  };
  /// (B, V, L)
  Statistics statistics_of(const Var& window) const;
  /// (B, V, n) -> (B, V, n)
  Var apply(Tape& tape, const Var& x, const Statistics& statistics);
  /// undo(apply(x)) = x. (B, V, n) -> (B, V, n)
  Var undo(Tape& tape, const Var& x, const Statistics& statistics);
  void visit(Visitor& visitor) override;

 private:
  InstanceNormSpec spec_;
  Parameter gain_, bias_;  ///< (V, 1)
};

}  // namespace bochner::inline BOCHNER_PRECISION
