#include <fmt/format.h>

#include <bochner/train/run/loop.hpp>
#include <bochner/train/storage/json.hpp>

namespace bochner {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

class TrainingLoop {
 public:
  TrainingLoop(Session& session, Progress& progress, SignalGuard& signals, TapeObserver* observer,
               std::uint64_t until)
      : session_(session),
        progress_(progress),
        signals_(signals),
        observer_(observer),
        until_(until) {}

  StopReason run() {
    // Refuses a loss without tangents before the first step.
    if (!spec_.curvature_every.off() && state_.step < session_.total_steps())
      session_.trainer().curvature(1);
    while (true) {
      session_.require_same_data();
      if (validation_is_due() && !validate()) return stop(interruption());
      if (session_.has_stopped_improving()) return stop(StopReason::no_improvement);
      if (state_.step >= session_.total_steps()) return stop(StopReason::finished);
      if (state_.step >= until_) return stop(StopReason::until);
      if (is_alone() || !is_agreed_) agree();
      if (has_news() && checkpoint_is_due()) save_or_warn();
      if (stops_) return stop(StopReason::signal);
      if (time_is_up_) return stop(StopReason::time_limit);
      train_one_step();
    }
  }

 private:
  bool time_is_over() const {
    return !spec_.time.off() && seconds_since(start_) >= spec_.time.count;
  }
  bool should_stop() const { return signals_.stop_requested() || time_is_over(); }

  bool is_alone() const { return session_.processes().size() == 1; }

  bool time_to_save() const {
    const Period& every = spec_.checkpoint_every;
    return every.is_time() && seconds_since(last_save_) >= every.count;
  }

  StopRequests stop_requests() {
    const bool save = signals_.take_save_request();
    return {signals_.asked_by(), time_is_over(), save || time_to_save()};
  }

  /// Adopts the requests that reached any process.
  void adopt(const StopRequests& of_all) {
    signals_.adopt_stop(of_all.signal);
    stops_ = of_all.signal != 0;
    time_is_up_ = of_all.time_is_up;
    save_requested_ = save_requested_ || of_all.save;
    is_agreed_ = true;
  }

  /// Exchanges stop requests outside of a step, which sends them with its gradients.
  void agree() {
    const auto [signal, time_is_up, save] = stop_requests();
    const auto all =
        session_.processes().largest({double(signal), double(time_is_up), double(save)});
    adopt({int(all[0]), all[1] > 0, all[2] > 0});
  }

  /// Returns why a validation was interrupted.
  StopReason interruption() {
    agree();
    return time_is_up_ ? StopReason::time_limit : StopReason::signal;
  }

  bool is_step_of(const Period& every) const {
    return !every.off() && state_.step % session_.steps(every) == 0;
  }

  bool is_last_step() const { return state_.step == session_.total_steps(); }

  bool metrics_are_due() const {
    return is_step_of(spec_.log_every) || (!spec_.log_every.off() && is_last_step());
  }

  bool validation_is_due() const {
    if (spec_.validate_every.off() || session_.task().data().examples(Split::validation) == 0 ||
        state_.step == 0 || state_.validated_step == state_.step)
      return false;
    return is_step_of(spec_.validate_every) || is_last_step();
  }

  bool checkpoint_is_due() {
    if (std::exchange(save_requested_, false) || new_best_) return true;
    return !spec_.checkpoint_every.is_time() && is_step_of(spec_.checkpoint_every);
  }

  /// Whether a save would add anything; a run that stopped before its validation finds a new best
  /// at the step that is already saved.
  bool has_news() const { return state_.step > saved_step_ || new_best_; }

  void train_one_step() {
    const auto began = Clock::now();
    const StepResult result =
        is_alone() ? session_.trainer().step(observer_)
                   : session_.trainer().step(observer_, [this] { return stop_requests(); });
    if (!is_alone()) adopt(result.stop_requests);
    state_.tokens += session_.tokens_per_step();
    state_.loss_sum += result.loss;
    ++state_.loss_count;
    state_.wall_seconds += seconds_since(began);
    progress_.step(state_.step, result.loss, result.learning_rate);
    if (metrics_are_due()) write_metrics(result);
    if (is_step_of(spec_.curvature_every))
      append({{"step", state_.step},
              {"curvature", session_.trainer().curvature(spec_.curvature_iterations)}});
    if (is_step_of(spec_.verify)) session_.require_equal_weights();
  }

  void write_metrics(const StepResult& result) {
    const double loss = state_.loss_sum / double(state_.loss_count);
    const double epoch =
        double(state_.examples) / double(session_.task().data().examples(Split::train));
    Json line = {
        {"step", state_.step}, {"tokens", state_.tokens},    {"epoch", epoch},
        {"loss", loss},        {"lr", result.learning_rate}, {"grad_norm", result.gradient_norm}};
    if (result.divergence) line.set("kl", *result.divergence);
    for (const auto& [name, mean] : session_.trainer().reports()) line.set("report." + name, mean);
    append(line);
    progress_.log(state_.step, loss, result.learning_rate);
    state_.loss_sum = 0;
    state_.loss_count = 0;
  }

  /// Writes a line of metrics. Lines that cannot be written are in the next checkpoint.
  void append(const Json& line) {
    const std::string problem = session_.append(line.line());
    progress_.metrics(line, state_.wall_seconds);
    warn_once(metrics_warning_, problem,
              "lines of metrics wait in memory and in the next checkpoint, training continues");
  }

  /// Warns once about a problem that persists.
  void warn_once(std::string& warned, const std::string& problem, const char* consequence) {
    if (!problem.empty() && problem != warned)
      progress_.warning(fmt::format("{}; {}", problem, consequence));
    warned = problem;
  }

  bool validate() {
    const auto result = session_.trainer().validate([this] { return should_stop(); });
    if (!result) return false;
    const double loss = result->loss();
    if (!std::isfinite(loss))
      throw DivergedError(
          fmt::format("step {}: the validation loss {} is not finite; this step is not saved. "
                      "Lower optim.lr or set optim.clip",
                      state_.step, loss));
    const auto kernels = session_.trainer().kernels([this] { return should_stop(); });
    if (!kernels) return false;
    Json line = Json{{"step", state_.step}}.set(result->json());
    if (!kernels->empty()) line.set("kernels", json_of(*kernels));
    if (const auto scale = session_.trainer().noise_scale()) line.set("noise_scale", *scale);
    append(line);
    state_.validated_step = state_.step;
    record_improvement(state_, loss, spec_.min_delta);
    record_best(state_, loss, spec_.keep_best);
    const auto is_this = [&](const BestCheckpoint& entry) { return entry.step == state_.step; };
    new_best_ = spec_.keep_best > 0 && std::ranges::any_of(state_.best, is_this);
    const bool best = is_this(state_.best.front());
    progress_.line(fmt::format("valid    step {}   {}{}", state_.step, result->words(),
                               best ? "   best" : ""));
    return true;
  }

  void save_or_warn() {
    last_save_ = Clock::now();
    new_best_ = false;
    try {
      save();
    } catch (const InUseError&) {
      throw;
    } catch (const IoError& error) {
      progress_.warning(fmt::format(
          "could not save step {}: {}; training continues, older checkpoints are intact",
          state_.step, error.what()));
    }
  }

  /// Saves, reports it, and only then removes older checkpoints, which may fail.
  void save() {
    session_.recheck_data();
    const Path path = session_.save();
    saved_step_ = state_.step;
    progress_.line("saved    " + path.string());
    warn_once(removal_warning_, session_.retain(), "the old checkpoint stays, training continues");
  }

  static bool is_done(StopReason reason) {
    return reason == StopReason::finished || reason == StopReason::no_improvement;
  }

  /// Stops, at the end of training only when all data are known to be unchanged.
  StopReason stop(StopReason reason) {
    if (is_done(reason) && session_.compares_data())
      progress_.line("waiting  until all bytes of data.files are compared");
    if (is_done(reason) && !session_.await_same_data([this] { return should_stop(); }))
      reason = time_is_over() ? StopReason::time_limit : StopReason::signal;
    // Only one process knows that the disk was full.
    if (session_.processes().any(has_news() || reason != StopReason::signal)) save();
    if (const std::string problem = session_.unwritten(); !problem.empty() && is_done(reason))
      throw IoError(problem, "; the last lines of metrics are in the last checkpoint");
    return reason;
  }

  Session& session_;
  Progress& progress_;
  SignalGuard& signals_;
  TapeObserver* observer_;
  std::uint64_t until_;
  const TrainSpec& spec_ = session_.spec();
  TrainerState& state_ = session_.state();
  Clock::time_point start_ = Clock::now(), last_save_ = Clock::now();
  std::uint64_t saved_step_ = state_.step;
  bool new_best_ = false, save_requested_ = false;
  bool stops_ = false, time_is_up_ = false;  ///< in any process
  bool is_agreed_ = false;
  std::string metrics_warning_, removal_warning_;
};

}  // namespace

StopReason run_loop(Session& session, Progress& progress, SignalGuard& signals,
                    TapeObserver* observer, std::uint64_t until) {
  return TrainingLoop(session, progress, signals, observer, until).run();
}

}  // namespace bochner
