#pragma once
/// The training loop: steps, metrics, validation, checkpoints, and the reasons to stop.

#include <bochner/train/run/progress.hpp>
#include <bochner/train/run/session.hpp>
#include <bochner/train/run/signals.hpp>
#include <chrono>

namespace bochner::inline BOCHNER_PRECISION {

enum class StopReason { finished, no_improvement, time_limit, signal };

class TrainingLoop {
 public:
  TrainingLoop(Session& session, Progress& progress, SignalGuard& signals,
               TapeObserver* observer = nullptr);
  /// Trains until there is a reason to stop; the last checkpoint is on the disk when it returns.
  /// Throws DivergedError, and IoError when the metrics or the last checkpoint cannot be written.
  StopReason run();

 private:
  using Clock = std::chrono::steady_clock;
  bool should_stop() const;
  bool time_is_up() const;
  bool validation_is_due() const;
  bool checkpoint_is_due();
  bool has_news() const;
  bool has_stopped_improving() const;
  void train_one_step();
  bool validate();
  void write_metrics(const StepResult& result);
  void save_or_warn();
  StopReason stop(StopReason reason);

  Session& session_;
  Progress& progress_;
  SignalGuard& signals_;
  TapeObserver* observer_;
  std::uint64_t log_every_, validate_every_, checkpoint_every_;
  double time_limit_, checkpoint_seconds_;
  Clock::time_point start_ = Clock::now(), last_save_ = Clock::now();
  std::uint64_t saved_step_;
  bool new_best_ = false;
};

}  // namespace bochner::inline BOCHNER_PRECISION
