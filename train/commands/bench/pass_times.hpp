#pragma once
/// When the passes of a step are done with each parameter.

#include <bochner/autodiff/tape.hpp>
#include <chrono>

namespace bochner {

/// Observes steps of one process alone, whose shards have a pass each. Of `turns` passes that
/// cross, and take turns, all together are counted as one of their mean time.
class PassTimes : public TapeObserver {
 public:
  explicit PassTimes(std::vector<NamedParameter> parameters, std::size_t turns = 1);
  void last_pass_began() override;
  void went_backward(const char* op, std::size_t bytes) override;
  /// Behind the last step.
  void end() { end_pass(); }

  /// Seconds of each pass.
  const std::vector<double>& passes() const { return passes_; }
  /// Seconds from its beginning until its backward part is done with a parameter, in the mean.
  double done(std::size_t parameter) const { return done_[parameter] / double(passes_.size()); }

 private:
  using Clock = std::chrono::steady_clock;
  void end_pass();

  std::vector<NamedParameter> parameters_;
  std::vector<double> done_, now_;  ///< of all passes, of this one
  std::vector<double> passes_;
  std::size_t turns_, begun_ = 0;
  double last_ = 0;  ///< seconds since this one began
  Clock::time_point began_;
};

}  // namespace bochner
