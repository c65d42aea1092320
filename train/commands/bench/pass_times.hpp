#pragma once
/// Times at which a backward pass finishes each parameter.

#include <algorithm>
#include <bochner/autodiff/tape.hpp>
#include <chrono>

namespace bochner {

/// Observer of the steps of a single process with one pass per shard. `turns` passes that exchange
/// values and run interleaved count as one pass of their mean time.
class PassTimes : public TapeObserver {
 public:
  explicit PassTimes(std::vector<NamedParameter> parameters, std::size_t turns = 1)
      : parameters_(std::move(parameters)),
        done_(parameters_.size()),
        now_(parameters_.size()),
        turns_(turns) {}

  void last_pass_began() override {
    if (begun_++ % turns_ > 0) return;
    end();
    std::ranges::fill(now_, 0);
    last_ = 0;
    began_ = Clock::now();
  }

  void went_backward(const char*, std::size_t) override {
    last_ = std::chrono::duration<double>(Clock::now() - began_).count() / double(turns_);
    for (std::size_t i = 0; i < parameters_.size(); ++i)
      if (now_[i] == 0 && !parameters_[i].parameter->is_in_use()) now_[i] = last_;
  }

  /// Ends the measurement after the last step.
  void end() {
    if (last_ == 0) return;
    passes_.push_back(last_);
    for (std::size_t i = 0; i < now_.size(); ++i) done_[i] += now_[i] > 0 ? now_[i] : last_;
    last_ = 0;
  }

  /// Returns the seconds of each pass.
  const std::vector<double>& passes() const { return passes_; }
  /// Returns the mean seconds from the start of a pass until a parameter's gradient is complete.
  double done(std::size_t parameter) const { return done_[parameter] / double(passes_.size()); }

 private:
  using Clock = std::chrono::steady_clock;

  std::vector<NamedParameter> parameters_;
  std::vector<double> done_, now_;  ///< seconds per parameter: sum over passes, this pass
  std::vector<double> passes_;
  std::size_t turns_, begun_ = 0;
  double last_ = 0;  ///< seconds since this pass began
  Clock::time_point began_;
};

}  // namespace bochner
