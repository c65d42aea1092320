#include <fmt/format.h>

#include <bochner/train/run/loop.hpp>
#include <bochner/train/storage/json.hpp>
#include <chrono>
#include <cmath>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

class TrainingLoop {
 public:
  TrainingLoop(Session& session, Progress& progress, SignalGuard& signals, TapeObserver* observer)
      : session_(session),
        progress_(progress),
        signals_(signals),
        observer_(observer),
        log_every_(session.steps_of_key("train.log.every")),
        validate_every_(session.task().data().examples(Split::validation) == 0
                            ? 0
                            : session.steps_of_key("train.validate.every")),
        time_limit_(session.config().period("train.time").count),
        saved_step_(session.state().step) {
    const Period& checkpoint = session.config().period("train.checkpoint.every");
    if (checkpoint.is_time())
      checkpoint_seconds_ = checkpoint.count;
    else
      checkpoint_every_ = session.steps_of_key("train.checkpoint.every");
  }

  StopReason run() {
    while (true) {
      if (validation_is_due() && !validate())
        return stop(time_is_up() ? StopReason::time_limit : StopReason::signal);
      if (has_stopped_improving()) return stop(StopReason::no_improvement);
      if (session_.state().step >= session_.total_steps()) return stop(StopReason::finished);
      if (has_news() && checkpoint_is_due()) save_or_warn();
      if (signals_.stop_requested()) return stop(StopReason::signal);
      if (time_is_up()) return stop(StopReason::time_limit);
      train_one_step();
    }
  }

 private:
  using Clock = std::chrono::steady_clock;

  bool time_is_up() const { return time_limit_ > 0 && seconds_since(start_) >= time_limit_; }
  bool should_stop() const { return signals_.stop_requested() || time_is_up(); }

  bool validation_is_due() const {
    const TrainerState& state = session_.state();
    if (validate_every_ == 0 || state.step == 0 || state.validated_step == state.step) return false;
    return state.step % validate_every_ == 0 || state.step == session_.total_steps();
  }

  bool checkpoint_is_due() {
    if (signals_.take_save_request() || new_best_) return true;
    if (checkpoint_every_ > 0) return session_.state().step % checkpoint_every_ == 0;
    return checkpoint_seconds_ > 0 && seconds_since(last_save_) >= checkpoint_seconds_;
  }

  /// A run that stopped before its validation finds a new best at the step that is saved already.
  bool has_news() const { return session_.state().step > saved_step_ || new_best_; }

  bool has_stopped_improving() const {
    const std::int64_t patience = session_.config().integer("train.stop.patience");
    return patience > 0 &&
           session_.state().validations_since_improvement >= std::uint64_t(patience);
  }

  void train_one_step() {
    TrainerState& state = session_.state();
    const auto began = Clock::now();
    const StepResult result = session_.trainer().step(observer_);
    state.tokens += session_.tokens_per_step();
    state.loss_sum += result.loss;
    ++state.loss_count;
    state.wall_seconds += seconds_since(began);
    progress_.step(state.step, result.loss, result.learning_rate);
    if (log_every_ > 0 && state.step % log_every_ == 0) write_metrics(result);
  }

  void write_metrics(const StepResult& result) {
    TrainerState& state = session_.state();
    const double loss = state.loss_sum / double(state.loss_count);
    const double epoch =
        double(state.examples) / double(session_.task().data().examples(Split::train));
    const Json line = {
        {"step", state.step}, {"tokens", state.tokens},     {"epoch", epoch},
        {"loss", loss},       {"lr", result.learning_rate}, {"grad_norm", result.gradient_norm}};
    session_.run().metrics().append(line.line());
    progress_.log(state.step, loss, result.learning_rate);
    state.loss_sum = 0;
    state.loss_count = 0;
  }

  bool validate() {
    TrainerState& state = session_.state();
    const auto result = session_.trainer().validate([this] { return should_stop(); });
    if (!result) return false;
    const double loss = result->loss();
    if (!std::isfinite(loss))
      throw DivergedError(
          fmt::format("step {}: the validation loss {} is not finite; this step is not saved. "
                      "Lower optim.lr or set optim.clip",
                      state.step, loss));
    const std::vector<KernelMetrics> kernels = session_.trainer().kernels();
    Json line = Json{{"step", state.step}}.set(result->json());
    if (!kernels.empty()) line.set("kernels", json_of(kernels));
    session_.run().metrics().append(line.line());
    state.validated_step = state.step;
    record_improvement(state, loss, session_.config().number("train.stop.min_delta"));
    const auto keep = session_.config().count("train.checkpoint.keep_best");
    record_best(state, loss, keep);
    const auto is_this = [&](const BestCheckpoint& entry) { return entry.step == state.step; };
    new_best_ = keep > 0 && std::any_of(state.best.begin(), state.best.end(), is_this);
    const bool best = is_this(state.best.front());
    progress_.line(
        fmt::format("valid    step {}   {}{}", state.step, result->words(), best ? "   best" : ""));
    return true;
  }

  void save_or_warn() {
    last_save_ = Clock::now();
    new_best_ = false;
    try {
      const Path path = session_.save();
      saved_step_ = session_.state().step;
      progress_.line("saved    " + path.string());
    } catch (const IoError& error) {
      progress_.warning(
          fmt::format("could not save step {}: {}; training goes on, older checkpoints are intact",
                      session_.state().step, error.what()));
    }
  }

  StopReason stop(StopReason reason) {
    if (has_news() || reason != StopReason::signal)
      progress_.line("saved    " + session_.save().string());
    return reason;
  }

  Session& session_;
  Progress& progress_;
  SignalGuard& signals_;
  TapeObserver* observer_;
  std::uint64_t log_every_, validate_every_, checkpoint_every_ = 0;
  double time_limit_, checkpoint_seconds_ = 0;
  Clock::time_point start_ = Clock::now(), last_save_ = Clock::now();
  std::uint64_t saved_step_;
  bool new_best_ = false;
};

}  // namespace

StopReason run_loop(Session& session, Progress& progress, SignalGuard& signals,
                    TapeObserver* observer) {
  return TrainingLoop(session, progress, signals, observer).run();
}

}  // namespace bochner::inline BOCHNER_PRECISION
