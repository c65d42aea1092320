#pragma once
/// Times at which a backward pass finishes each parameter.

#include <bochner/autodiff/tape.hpp>
#include <chrono>

namespace bochner {

/// Observer of the steps of a single process with one pass per shard. `turns` passes that exchange
/// values and run interleaved count as one pass of their mean time.
class PassTimes : public TapeObserver {
 public:
  explicit PassTimes(std::vector<NamedParameter> parameters, std::size_t turns = 1);
  void last_pass_began() override;
  void went_backward(const char* op, std::size_t bytes) override;
  /// Ends the measurement after the last step.
  void end() { end_pass(); }

  /// Returns the seconds of each pass.
  const std::vector<double>& passes() const { return passes_; }
  /// Returns the mean seconds from the start of a pass until a parameter's gradient is complete.
  double done(std::size_t parameter) const { return done_[parameter] / double(passes_.size()); }

 private:
  using Clock = std::chrono::steady_clock;
  void end_pass();

  std::vector<NamedParameter> parameters_;
  std::vector<double> done_, now_;  ///< seconds per parameter: sum over passes, this pass
  std::vector<double> passes_;
  std::size_t turns_, begun_ = 0;
  double last_ = 0;  ///< seconds since this pass began
  Clock::time_point began_;
};

}  // namespace bochner
