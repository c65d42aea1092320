#include <fmt/format.h>

#include <bochner/autodiff/compute/parallel.hpp>
#include <bochner/train/charts/format.hpp>
#include <bochner/train/commands/common_options.hpp>
#include <bochner/train/commands/training.hpp>
#include <bochner/train/run/loop.hpp>
#include <bochner/train/run/profile.hpp>
#include <bochner/train/run/version.hpp>
#include <bochner/train/tasks/registered_parameters.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

void print_header(Session& session, Progress& progress) {
  progress.line(fmt::format("{} · {} · seed {}", version_line(),
                            format_number_of(thread_count(), "thread"), session.state().seed));
  progress.line(fmt::format("model    {}   {} parameters", session.task().describe_model(),
                            format_count(double(count_parameters(session.task().model())))));
  progress.line("data     " + session.task().data().words());
  progress.line("run      " + session.run().path().string());
}

/// The last words; `program` is what was typed to start it.
int report(StopReason reason, Session& session, SignalGuard& signals, Progress& progress,
           const std::string& program) {
  const TrainerState& state = session.state();
  const std::string run = shell_word(session.run().path().string());
  const std::string best =
      state.best.empty()
          ? ""
          : fmt::format("; best validation {:.4f} {} at step {}", state.best.front().metric,
                        session.task().loss_unit(), state.best.front().step);
  switch (reason) {
    case StopReason::finished:
      progress.line(fmt::format("done     step {}{}", state.step, best));
      return exit_done;
    case StopReason::no_improvement:
      progress.line(fmt::format("done     step {}, no improvement in {}{}", state.step,
                                format_number_of(state.validations_since_improvement, "validation"),
                                best));
      return exit_done;
    case StopReason::time_limit:
    case StopReason::signal:
      progress.line(fmt::format(
          "stopped at step {} by {}; continue with:  {} resume {}", state.step,
          reason == StopReason::signal ? signals.stop_name() : "train.time", program, run));
      return exit_stopped;
  }
  return exit_failed;
}

/// The loop, whose errors say how to go on with this run.
StopReason train(Session& session, Progress& progress, SignalGuard& signals, TapeObserver* observer,
                 const std::string& program) {
  const std::string path = session.run().path().string(), run = shell_word(path);
  try {
    return run_loop(session, progress, signals, observer);
  } catch (const DivergedError& error) {
    // The learning rate of a run is fixed by its checkpoints.
    const bool saved = !session.run().list_checkpoints().empty();
    throw DivergedError(fmt::format(
        "{}: {} in {}", path, error.what(),
        saved ? fmt::format("a fork: {} fork {} CONFIG --run DIR --set optim.lr=...", program, run)
              : "a new run"));
  } catch (const IoError& error) {
    throw IoError(fmt::format("{}; then continue with:  {} resume {}", error.what(), program, run));
  }
}

}  // namespace

void add_training(const Command& command, TrainingOptions& options, bool in_new_run) {
  options.line = &command.line();
  const auto words = options.line->words();
  options.program = shell_word(words[0]);
  options.typed = options.program;
  for (const char* word : words.subspan(1)) options.typed += ' ' + shell_word(word);
  if (in_new_run)
    command.option("--run", &options.run, "directory of the run (default: runs/NAME of the config)",
                   "DIR");
  add_sets(command, options.sets);
  command.option("--progress", &options.progress,
                 "bar, plain or none; auto: a bar on a terminal, else plain lines", "MODE");
  command.flag("--profile", &options.profile,
               "print at the end where the time went, by op; kept as profile.json");
}

Path run_directory(const std::string& config, const TrainingOptions& options) {
  return options.run.empty() ? Path("runs") / Path(config).stem() : Path(options.run);
}

int drive(Session& session, ProgressMode mode, const TrainingOptions& options,
          const std::vector<std::string>& notes, const std::string& origin) {
  options.line->needs_reader = false;
  SignalGuard signals;
  Progress progress(mode, session.total_steps(), session.tokens_per_step(), session.state().step);
  print_header(session, progress);
  for (const std::string& note : notes) progress.warning("note     " + note);
  if (!origin.empty()) progress.line(origin);
  OpProfile profile;
  const StopReason reason =
      train(session, progress, signals, options.profile ? &profile : nullptr, options.program);
  if (options.profile) {
    progress.line(profile.table());
    session.run().write_profile(profile.json().lines());
  }
  return report(reason, session, signals, progress, options.program);
}

}  // namespace bochner::inline BOCHNER_PRECISION
