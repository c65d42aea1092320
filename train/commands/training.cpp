#include <fmt/format.h>

#include <bochner/base/format.hpp>
#include <bochner/base/join.hpp>
#include <bochner/base/numeric/parallel.hpp>
#include <bochner/train/commands/common_options.hpp>
#include <bochner/train/commands/shared_work.hpp>
#include <bochner/train/distributed/mpi.hpp>
#include <bochner/train/run/log/estimate.hpp>
#include <bochner/train/run/log/live_log.hpp>
#include <bochner/train/run/log/profile.hpp>
#include <bochner/train/run/log/progress.hpp>
#include <bochner/train/run/loop.hpp>
#include <bochner/train/run/session.hpp>
#include <bochner/train/run/version.hpp>
#include <bochner/train/tasks/config_templates/config_template.hpp>
#include <bochner/train/tasks/kernel_note.hpp>
#include <bochner/train/tasks/registered_parameters.hpp>
#include <cmath>
#include <ranges>
#include <sstream>

namespace bochner {
namespace {

struct TrainingOptions {
  std::string config, run, progress = "auto", until;
  std::vector<std::string> sets;
  bool profile = false;
  CommandLine* line = nullptr;
};

struct TrainOptions : TrainingOptions {
  TemplateRequest request;
  double minutes = 0;
};

struct ResumeOptions : TrainingOptions {
  bool strict = false;
};

struct ForkOptions : TrainingOptions {
  std::string parent, resets;
};

/// Returns the typed command, quoted for a shell, for meta.json.
std::string typed_words(const TrainingOptions& options) {
  return joined(options.line->words() | std::views::transform(shell_word), " ");
}

Path new_run(const TrainingOptions& options) {
  if (!options.run.empty()) return options.run;
  const Path config = std::filesystem::absolute(options.config).lexically_normal();
  return Path("runs") / (config.has_filename() ? config : config.parent_path()).stem();
}

/// Describes the share of the data and of the training time that validation takes; a training step
/// costs about three forward passes.
std::string describe_validation(Session& session) {
  const TrainSpec& spec = session.spec();
  const Dataset& data = session.task().data();
  const std::size_t batch = spec.validation_batch();
  const auto [taken, all] = batches_taken(data, Split::validation, batch, spec.validate_batches);
  if (all == 0 || spec.validate_every.off()) return "";
  const std::uint64_t period = session.steps(spec.validate_every);
  const std::uint64_t examples = std::min(taken * batch, data.examples(Split::validation));
  const double tokens = double(examples * data.tokens_per_example());
  const double share = tokens / (tokens + 3 * double(period * session.tokens_per_step()));
  return fmt::format("validate {} of {} batches every {}, about {:.0f} % of the time{}", taken, all,
                     format_number_of(period, "step"), std::ceil(100 * share),
                     taken < all ? "; train.validate.batches = 0 takes all" : "");
}

/// Prints the header. The estimate takes a pass or two; runs of a sweep, which print nothing, skip
/// it.
void print_header(Session& session, Progress& progress, bool with_estimate) {
  const std::size_t processes = session.processes().size();
  progress.line(fmt::format("{} · {}{} · seed {}", version_line(),
                            processes > 1 ? fmt::format("{} processes of ", processes) : "",
                            format_number_of(thread_count(), "thread"), session.state().seed));
  progress.line(fmt::format("model    {}   {} parameters", session.task().learner().describe(),
                            format_count(double(count_parameters(session.task().model())))));
  progress.line("data     " + session.task().data().words());
  if (const std::string note = kernel_note(session.config()); !note.empty())
    progress.line("note     " + note);
  if (const std::string words = describe_validation(session); !words.empty()) progress.line(words);
  if (session.spec().partition && processes > 1) {
    const auto [here, whole] = session.trainer().optimizer_bytes();
    progress.line(fmt::format("moments  {} in each of {} processes, {} without train.partition",
                              format_bytes(double(here)), processes, format_bytes(double(whole))));
  }
  if (with_estimate && session.processes().leads() && session.state().step < session.total_steps())
    progress.line("estimate " + words_of(estimate_training(session)));
  progress.line("run      " + session.path().string());
}

/// Describes the best checkpoint, which may not be the last one.
std::string words_of_best(Session& session) {
  const TrainerState& state = session.state();
  if (state.best.empty()) return "";
  const auto& best = state.best.front();
  const bool is_kept = session.config().count("train.checkpoint.keep_best") > 0;
  return fmt::format("; best validation {:.4f} {} at step {}{}", best.metric,
                     session.task().learner().loss_unit(), best.step,
                     best.step != state.step && is_kept
                         ? ": " + shell_word(session.path().string() + "@best")
                         : "");
}

/// Returns what may help a model that is no better than a naive answer.
std::string remedy(Session& session, const std::string& program) {
  const std::uint64_t steps = session.total_steps();
  if (steps == 0) return "more rows may help";
  if (session.state().step < steps) return "more data or time may help";
  return fmt::format("more data may help, or more steps: {} resume {} --set train.steps={}",
                     program, shell_word(session.path().string()), 2 * steps);
}

/// Prints the verdict in every mode, and keeps it in the run.
void report_verdict(Session& session, Progress& progress, const std::string& program) {
  if (!session.processes().leads()) return;
  const Verdict verdict = session.trainer().verdict();
  if (!verdict.exists()) return;
  session.run().write_verdict(Json{{"step", session.state().step}}.set(verdict.json()).lines());
  for (const std::string& line : verdict.details) progress.line(line);
  progress.result("verdict  " + verdict.words() +
                  (verdict.beats_naive() ? "" : "; " + remedy(session, program)));
}

/// Keeps in the run what held-out examples show, for intervals and p-values of its predictions.
void keep_calibration(Session& session) {
  if (!session.processes().leads()) return;
  if (const auto calibration = session.trainer().held_out_scores(session.config()))
    session.run().write_calibration(encode_facts(*calibration));
}

/// Prints how the run ended and returns the exit code; `program` is the typed program name.
int report(StopReason reason, Session& session, SignalGuard& signals, Progress& progress,
           const std::string& program) {
  const TrainerState& state = session.state();
  const std::string run = shell_word(session.path().string());
  if (reason != StopReason::signal && reason != StopReason::until) {
    report_verdict(session, progress, program);
    keep_calibration(session);
  }
  if (reason == StopReason::signal || reason == StopReason::time_limit ||
      reason == StopReason::until) {
    progress.line(fmt::format("stopped at step {} by {}; continue with:  {} resume {}", state.step,
                              reason == StopReason::signal  ? signals.stop_name()
                              : reason == StopReason::until ? "--until"
                                                            : "train.time",
                              program, run));
    return exit_stopped;
  }
  const std::string patience =
      reason == StopReason::no_improvement
          ? ", no improvement in " +
                format_number_of(state.validations_since_improvement, "validation")
          : "";
  progress.line(fmt::format("done     step {}{}{}", state.step, patience, words_of_best(session)));
  return exit_done;
}

/// Runs the loop; its errors say how to continue this run.
StopReason train(Session& session, Progress& progress, SignalGuard& signals, TapeObserver* observer,
                 std::uint64_t last_step, const std::string& program) {
  const std::string path = session.path().string(), run = shell_word(path);
  try {
    return run_loop(session, progress, signals, observer, last_step);
  } catch (const DivergedError& error) {
    // The learning rate of a run is fixed by its checkpoints.
    const bool saved = session.processes().leads() && !session.run().list_checkpoints().empty();
    throw DivergedError(fmt::format(
        "{}: {} in {}", path, error.what(),
        saved ? fmt::format("a fork: {} fork {} CONFIG --run DIR --set optim.lr=...", program, run)
              : "a new run"));
  } catch (const IoError& error) {
    throw IoError(fmt::format("{}; then continue with:  {} resume {}", error.what(), program, run));
  }
}

/// Returns the period of --until, after which training stops; off for none.
Period until_of(const TrainingOptions& options) {
  try {
    const Period until = parse_period(options.until);
    if (!until.is_time()) return until;
  } catch (const std::invalid_argument&) {
  }
  throw std::invalid_argument(fmt::format(
      "--until {}: write steps, epochs or tokens such as 500, 2e or 10Mt", options.until));
}

/// Trains and returns the exit code. `origin` describes where a resumed or forked run starts.
int drive(Session& session, SignalGuard& signals, ProgressMode mode, const TrainingOptions& options,
          const std::vector<std::string>& notes = {}, const std::string& origin = "") {
  options.line->needs_reader = false;
  const Period until = until_of(options);
  const std::uint64_t last_step = until.off() ? no_limit : session.steps(until);
  const bool leads = session.processes().leads();
  Progress progress(leads ? mode : ProgressMode::none, session.total_steps(),
                    session.tokens_per_step(), session.state().step);
  PosixStorage storage;
  std::optional<LiveLog> live_log;
  if (leads) {
    live_log.emplace(storage, session.run().path(), session.state().step,
                     session.spec().log_tensorboard);
    progress.follow(*live_log);
  }
  print_header(session, progress, mode != ProgressMode::none);
  for (const std::string& note : notes) progress.warning("note     " + note);
  if (!origin.empty()) progress.line(origin);
  OpProfile profile;
  const std::string program = shell_word(options.line->words()[0]);
  const StopReason reason =
      train(session, progress, signals, options.profile ? &profile : nullptr, last_step, program);
  if (options.profile && leads) {
    std::istringstream table(profile.table());
    for (std::string row; std::getline(table, row);) progress.line(row);
    session.run().write_profile(profile.json().lines());
  }
  return report(reason, session, signals, progress, program);
}

/// Reads the config; for a file or folder of data, chooses one and prints it.
Config config_of(const TrainOptions& options, ProgressMode mode) {
  std::vector<std::string> sets = options.sets;
  if (options.minutes > 0) sets.push_back(fmt::format("train.time={}min", options.minutes));
  if (!is_data(options.config)) {
    require_no_request(options.request, options.config + " is a config, set its keys with --set");
    return read_config(options.config, sets);
  }
  Config asked(registered_parameters(), "the defaults");
  for (const std::string& set : sets) apply_set(asked, set);
  const std::string text =
      config_template_for(options.config, read_spec<CsvOptions>(asked, "data"), options.request);
  const Config config = read_config_text(text, "the config chosen for " + options.config, sets);
  const std::string data = shell_word(options.config);
  Progress progress(mode, 0, 0, 0);
  for (const auto line : std::views::split(text, '\n'))
    progress.line(std::string(line.begin(), line.end()));
  std::string request;
  for (const auto& [option, value] : options.request.options())
    request += " " + option + " " + shell_word(value);
  progress.line(fmt::format(
      "chosen   for {0}; change it with --set, or in a file: {1} init {0}{2} -o FILE.toml", data,
      shell_word(options.line->words()[0]), request));
  return config;
}

/// Inputs of a new session.
struct SessionInputs {
  PosixStorage& storage;
  Processes& processes;
  DataReading reading;
  std::vector<std::string>& notes;

  SessionContext in(const Path& directory, const std::string& command = "") const {
    return {storage, directory, command, reading, processes};
  }
};

/// Trains with all processes of mpirun: the first one begins a session, which the others join.
/// `origin` describes where a resumed or forked run starts.
int train_together(const TrainingOptions& options, SignalGuard& signals,
                   const std::function<Session(const SessionInputs&)>& begin,
                   const std::function<std::string(Session&)>& origin = {}) {
  const ProgressMode asked = progress_mode(options.progress);
  until_of(options);  // checked before a run is created
  Processes processes = meet(*options.line);
  const ProgressMode mode = processes.leads() ? asked : ProgressMode::none;
  PosixStorage storage;
  std::vector<std::string> notes;
  if (processes.size() > 1) share_processors(options.line->threads(), processes, notes);
  if (!processes.leads()) notes.clear();
  const DataReading reading{[mode](const std::string& text) { Progress(mode, 0, 0, 0).line(text); },
                            [&signals] { return signals.stop_requested(); }};
  const SessionInputs inputs{storage, processes, reading, notes};
  try {
    Session session = processes.leads() ? begin(inputs) : Session::join(processes, inputs.reading);
    const int code = drive(session, signals, mode, options, notes, origin ? origin(session) : "");
    processes.end();
    return code;
  } catch (const AgreedError&) {
    if (processes.leads()) throw;
    processes.end();  // after the first one has printed it
    return exit_failed;
  }
}

/// Adds a note if a schedule "wsd" has no decay. Resumed runs do not repeat it.
void note_schedule(const Config& config, std::vector<std::string>& notes) {
  if (config.text("optim.schedule.kind") == "wsd" && config.integer("optim.schedule.decay") == 0)
    notes.push_back(
        "optim.schedule.kind = \"wsd\" never decays; set optim.schedule.decay, its final steps, "
        "above 0");
}

int train_command(const TrainOptions& options, SignalGuard& signals) {
  return train_together(options, signals, [&](const SessionInputs& with) {
    const Config config = config_of(options, progress_mode(options.progress));
    note_schedule(config, with.notes);
    return Session::start(with.in(new_run(options), typed_words(options)), config);
  });
}

int resume_command(const ResumeOptions& options, SignalGuard& signals) {
  const auto resumed = [&](const SessionInputs& with) {
    return Session::resume(with.in(options.run), options.sets, options.strict, with.notes);
  };
  return train_together(options, signals, resumed, [](Session& session) {
    return fmt::format("resumed  step {}", session.state().step);
  });
}

void refuse_data(const ForkOptions& options) {
  if (!is_data(options.config)) return;
  const auto config = parse_run_reference(options.parent).directory / "config.toml";
  demand(false,
         "{}: is data, but a fork needs a config, such as the parent's: {} fork {} {} --set {}",
         options.config, shell_word(options.line->words()[0]), shell_word(options.parent),
         shell_word(config.string()),
         shell_word(fmt::format("data.files=[{}]", in_quotes(options.config))));
}

int fork_command(const ForkOptions& options, SignalGuard& signals) {
  const auto forked = [&](const SessionInputs& with) {
    refuse_data(options);
    const Config config = read_config(options.config, options.sets);
    note_schedule(config, with.notes);
    return Session::fork(with.in(new_run(options), typed_words(options)),
                         parse_run_reference(options.parent), config, parse_resets(options.resets),
                         with.notes);
  };
  return train_together(options, signals, forked, [&](Session& session) {
    return fmt::format("forked   {}, at step {}", options.parent, session.state().step);
  });
}

void add_new_run(const Command& command, TrainingOptions& options) {
  command.option("--run", &options.run, "directory of the run (default: runs/NAME of the config)",
                 "DIR");
}

void add_training(const Command& command, TrainingOptions& options) {
  options.line = command.shares_work();
  add_sets(command, options.sets);
  command.option("--progress", &options.progress,
                 "bar, plain or none; auto: a bar on a terminal, else plain lines", "MODE");
  command.option("--until", &options.until,
                 "stop after this many steps, epochs or tokens of the run; resume continues",
                 "PERIOD");
  command.flag("--profile", &options.profile,
               "print the time per op at the end; also kept as profile.json");
}

}  // namespace

void add_train(const Command& program) {
  const auto [command, options] = program.command("train", "start a new run", train_command);
  command
      .option("config", &options.config,
              "config file (TOML), or a file or folder of data, for which one is chosen", "FILE")
      .required();
  add_template_request(command, options.request);
  command.option("--minutes", &options.minutes, "sets train.time, a limit of time", "N");
  add_new_run(command, options);
  add_training(command, options);
}

void add_resume(const Command& program) {
  const auto [command, options] =
      program.command("resume", "continue a run with the same bits", resume_command);
  add_run(command, options.run, "directory of the run");
  command.flag("--strict", &options.strict,
               "fail on another build or machine than the checkpoint's");
  add_training(command, options);
}

void add_fork(const Command& program) {
  const auto [command, options] =
      program.command("fork", "start a new run from the checkpoint of another", fork_command);
  command.option("parent", &options.parent, "RUN, RUN@best or RUN@STEP", "RUN").required();
  add_config_file(command, options.config);
  command.option("--reset", &options.resets, "what to reset: optimizer,schedule,data,ema", "LIST");
  add_new_run(command, options);
  add_training(command, options);
}

}  // namespace bochner
