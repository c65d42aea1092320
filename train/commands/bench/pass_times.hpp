#pragma once
/// When the passes of a step are done with each parameter.

#include <bochner/autodiff/tape.hpp>
#include <chrono>

namespace bochner::inline BOCHNER_PRECISION {

/// Observes steps of one process alone, whose shards have a pass each.
class PassTimes : public TapeObserver {
 public:
  explicit PassTimes(std::vector<NamedParameter> parameters);
  void last_pass_began() override;
  void went_backward(const char* op, std::size_t bytes) override;
  /// Behind the last step.
  void end() { end_pass(); }

  /// Seconds of a pass in the mean.
  double seconds() const { return total_ / double(passes_); }
  /// Seconds from its beginning until its backward part is done with a parameter.
  double done(std::size_t parameter) const { return done_[parameter] / double(passes_); }

 private:
  using Clock = std::chrono::steady_clock;
  void end_pass();

  std::vector<NamedParameter> parameters_;
  std::vector<double> done_, now_;  ///< of all passes, of this one
  double total_ = 0, last_ = 0;     ///< of all passes; since this one began
  std::size_t passes_ = 0;
  Clock::time_point began_;
};

}  // namespace bochner::inline BOCHNER_PRECISION
