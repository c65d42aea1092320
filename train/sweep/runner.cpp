#include <fmt/format.h>

#include <algorithm>
#include <bochner/base/join.hpp>
#include <bochner/base/text.hpp>
#include <bochner/train/config/usage.hpp>
#include <bochner/train/run/run_directory.hpp>
#include <bochner/train/sweep/runner.hpp>
#include <bochner/train/tasks/registered_parameters.hpp>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <map>
#include <ranges>
#include <set>
#include <thread>
#include <utility>

namespace bochner {
namespace {

/// Longest wait for a running step, a cancelled validation and a save.
constexpr std::chrono::seconds longest_save{60};

bool is_stop_signal(int code) {
  return code == 128 + SIGTERM || code == 128 + SIGINT || code == 128 + SIGHUP;
}

std::string last_line(std::string text) {
  while (text.ends_with('\n')) text.pop_back();
  return printable(text.substr(text.rfind('\n') + 1));
}

class SweepRunner {
 public:
  SweepRunner(FileStorage& storage, const SweepPlan& plan, SweepJournal& journal,
              SignalGuard& signals)
      : storage_(storage),
        plan_(plan),
        journal_(journal),
        signals_(signals),
        seconds_before_(journal.seconds()) {
    for (std::size_t i = 0; i < plan_.points.size(); ++i) points_[plan_.points[i].name] = i;
    restore();
    await_open();
  }

  int run(Processes& processes) {
    run_shared_jobs(processes, plan_.share,
                    {.next = [this] { return next(); },
                     .ended = [this](std::size_t job, int code) { ended(job, code); },
                     .stopped = [this] { return stopped(); }},
                    signals_);
    if (interrupted_ || !io_problem_.empty()) journal_.stopped(seconds());
    write_page();
    if (!io_problem_.empty()) throw IoError(io_problem_);
    return is_grid() ? finish_grid() : finish_search();
  }

 private:
  using Clock = std::chrono::steady_clock;

  bool is_grid() const { return journal_.header().search == SearchKind::grid; }
  bool stopped() const { return signals_.stop_requested() || seconds() >= plan_.budget; }
  const SweepTrial& trial(std::size_t index) const { return journal_.trials()[index]; }
  Path path_of(std::size_t index) const { return journal_.directory() / trial(index).name; }
  std::string log_of(std::size_t index) const { return path_of(index).string() + ".log"; }

  double seconds() const {
    return seconds_before_ + std::chrono::duration<double>(Clock::now() - start_).count();
  }

  std::vector<std::string> sets_of_trial(std::size_t index) const {
    std::vector<std::string> sets = plan_.sets;
    for (std::string& set : sets_of(plan_.space.variations(), trial(index).values))
      sets.push_back(std::move(set));
    return sets;
  }

  void restore() {
    for (std::size_t i = 0; i < journal_.trials().size(); ++i)
      if (!is_grid() || points_.contains(trial(i).name)) restore(i);
    std::ranges::reverse(open_);
  }

  void restore(std::size_t index) {
    const bool wrong = !is_grid() && !trial(index).failed.empty();
    const bool exists =
        !wrong && has_run(storage_, path_of(index),
                          trial_config(plan_.config, trial(index).name, sets_of_trial(index)));
    if (is_grid() && (!trial(index).failed.empty() || (trial(index).done && !exists)))
      journal_.retried(index);
    if (trial(index).is_open()) open_.push_back(index);
    if (trial(index).done && exists)
      print_done(index, read_file(storage_, path_of(index) / metrics_name));
  }

  /// Waits while other processes train the runs: those of a killed sweep save and end soon. Runs
  /// that stay in use longer are moved to the end, where their own error reports it.
  void await_open() {
    const auto use_of = [&](std::size_t index) {
      return RunDirectory::in_use(storage_, path_of(index));
    };
    const auto first_use = [&] {
      for (const std::size_t index : open_)
        if (const std::string use = use_of(index); !use.empty()) return use;
      return std::string();
    };
    const auto until = Clock::now() + longest_save;
    bool reported = false;
    while (Clock::now() < until && !signals_.stop_requested()) {
      const std::string use = first_use();
      if (use.empty()) break;
      if (!std::exchange(reported, true)) fmt::print(stderr, "waiting  {}\n", printable(use));
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    std::ranges::stable_partition(open_, [&](std::size_t index) { return !use_of(index).empty(); });
  }

  std::optional<Job> next() {
    while (io_problem_.empty()) {
      const std::optional<std::size_t> index = next_index();
      if (!index) break;
      if (std::optional<Job> job = job_of(*index)) {
        running_.push_back(*index);
        ++under_way_;
        return job;
      }
    }
    return std::nullopt;
  }

  std::optional<std::size_t> next_index() {
    if (!open_.empty()) {
      const std::size_t index = open_.back();
      open_.pop_back();
      return index;
    }
    if (const auto promoted = promote(false)) return promoted;
    if (const auto started = start_trial()) return started;
    // Running trials may change the ranking.
    return under_way_ == 0 ? promote(true) : std::nullopt;
  }

  SearchSpec search_spec() const {
    return {journal_.header().search, journal_.header().seed,
            std::max<std::size_t>(1, journal_.header().rungs.size())};
  }

  std::optional<std::size_t> promote(bool finish) {
    if (journal_.header().rungs.empty() || interrupted_) return std::nullopt;
    const SweepHeader& header = journal_.header();
    const auto progress =
        extrapolated(search_spec(), plan_.space, journal_.tried(), journal_.progress());
    const auto index = next_promotion(progress, header.rungs.size(), header.factor, finish);
    if (!index) return std::nullopt;
    journal_.promoted(*index);
    if (!plan_.json)
      fmt::print("promoted {}   to step {}\n", trial(*index).name,
                 header.rungs[trial(*index).rung]);
    return index;
  }

  /// Returns the trial of a grid's point; null if it was not begun.
  const SweepTrial* trial_of(const GridPoint& point) const {
    const auto found = std::ranges::find(journal_.trials(), point.name, &SweepTrial::name);
    return found == journal_.trials().end() ? nullptr : &*found;
  }

  std::optional<std::size_t> start_trial() {
    const std::vector<SweepTrial>& trials = journal_.trials();
    if (exhausted_ || (interrupted_ && !is_grid())) return std::nullopt;
    if (is_grid()) {
      while (started_points_ < plan_.points.size() && trial_of(plan_.points[started_points_]))
        ++started_points_;
      if (started_points_ == plan_.points.size()) return std::nullopt;
      const GridPoint& point = plan_.points[started_points_];
      journal_.start(point.name, point.values);
      return trials.size() - 1;
    }
    if (trials.size() >= plan_.most_trials) return std::nullopt;
    const std::optional<Values> values = next_trial(search_spec(), plan_.space, journal_.tried());
    exhausted_ = !values;
    if (!values) return std::nullopt;
    journal_.start(fmt::format("trial-{:04}", trials.size()), *values);
    return trials.size() - 1;
  }

  /// Returns a trial's config; nothing if it is wrong, which is a result of a search.
  std::optional<Config> config_of(std::size_t index, const std::vector<std::string>& sets) try {
    return is_grid() ? trial_config(plan_.config, trial(index).name, sets)
                     : read_config(plan_.config, sets);
  } catch (const ConfigError& error) {
    if (is_grid()) throw;
    has_failed(index, error.what(), error.what());
    return std::nullopt;
  }

  std::optional<Job> job_of(std::size_t index) {
    const std::vector<std::string> sets = sets_of_trial(index);
    const std::optional<Config> config = config_of(index, sets);
    if (!config) return std::nullopt;
    std::vector<std::string> words = {this_program, "resume", path_of(index).string()};
    if (!has_run(storage_, path_of(index), *config)) {
      words = {this_program, "train", plan_.config, "--run", path_of(index).string()};
      for (const std::string& set : sets) words.insert(words.end(), {"--set", set});
    }
    const std::vector<std::uint64_t>& rungs = journal_.header().rungs;
    if (trial(index).rung + 1 < rungs.size())
      words.insert(words.end(), {"--until", std::to_string(rungs[trial(index).rung])});
    words.insert(words.end(), {"--progress", "none"});
    return Job{std::move(words), log_of(index)};
  }

  void ended(std::size_t job, int code) {
    const std::size_t index = running_[job];
    --under_way_;
    const bool was_killed = killed_.erase(index) > 0;
    if (code == exit_done || (code == exit_stopped && is_at_rung(index))) {
      const std::string text = read_file(storage_, path_of(index) / metrics_name);
      code == exit_done ? came_to_end(index, text) : came_to_rung(index, text);
    } else if (code == exit_stopped || is_stop_signal(code)) {
      interrupted_ = true;
    } else if (code == 128 + SIGKILL && !was_killed) {
      // By a user or for lack of memory, which is not a result yet.
      killed_.insert(index);
      open_.push_back(index);
      interrupted_ = interrupted_ || stopped();
      fmt::print(stderr, "killed   {}; retrying once\n", trial(index).name);
    } else if (!is_grid() && (code == exit_io || (code == exit_data && has_begun(index)))) {
      io_problem_ =
          fmt::format("{}: {}, see {}; then run the same command to continue", trial(index).name,
                      code == exit_io ? "could not read or write"
                                      : "its data files have changed since it began",
                      log_of(index));
    } else {
      const std::string words = last_line(read_file(storage_, log_of(index)));
      has_failed(index, fmt::format("exit code {}{}{}", code, words.empty() ? "" : ": ", words),
                 fmt::format("exit code {}, see {}", code, log_of(index)));
    }
  }

  /// Whether a trial has a checkpoint; then data that do not fit its config are not its result.
  bool has_begun(std::size_t index) const {
    return storage_.exists(path_of(index) / config_name) &&
           !RunDirectory::read(storage_, path_of(index)).list_checkpoints().empty();
  }

  bool is_at_rung(std::size_t index) const {
    const std::vector<std::uint64_t>& rungs = journal_.header().rungs;
    // A requested stop may have come before the validation there.
    if (stopped() || trial(index).rung + 1 >= rungs.size()) return false;
    const auto steps = RunDirectory::read(storage_, path_of(index)).list_checkpoints();
    return !steps.empty() && steps.back() >= rungs[trial(index).rung];
  }

  std::vector<double> measured(std::size_t index, const std::string& metrics,
                               std::uint64_t last_step) const {
    const std::vector<Goal>& goals = journal_.header().goals;
    std::vector<double> numbers = measure(goals, metrics, last_step);
    for (std::size_t i = 0; i < goals.size(); ++i)
      demand(is_grid() || !std::isnan(numbers[i]),
             "--goal {}: no such number in the metrics of {}{}; {}{}", goals[i].text(),
             path_of(index).string(),
             last_step == any_step ? "" : fmt::format(" up to step {}, a rung", last_step),
             names_in(metrics),
             last_step == any_step
                 ? ""
                 : "; lower train.log.every or raise --shortest, and choose another --runs DIR");
    return numbers;
  }

  void came_to_rung(std::size_t index, const std::string& metrics) {
    const std::uint64_t step = journal_.header().rungs[trial(index).rung];
    journal_.reached(index, step, measured(index, metrics, step), seconds());
    if (!plan_.json)
      fmt::print("waits    {}   {}   step {}, {} {:.4g}\n", trial(index).name, words_of(index),
                 step, journal_.header().goals[0].metric, trial(index).measured.back()[0]);
    std::fflush(stdout);
  }

  void came_to_end(std::size_t index, const std::string& metrics) {
    const auto steps = RunDirectory::read(storage_, path_of(index)).list_checkpoints();
    journal_.done(index, steps.empty() ? 0 : steps.back(), measured(index, metrics, any_step),
                  seconds());
    print_done(index, metrics);
  }

  void has_failed(std::size_t index, const std::string& why, const std::string& words) {
    journal_.failed(index, why, seconds());
    ++failed_;
    fmt::print(stderr, "failed   {}: {}\n", printable(trial(index).name), printable(words));
  }

  std::string words_of(std::size_t index) const {
    const std::vector<std::string> names = short_names(plan_.space.variations());
    std::vector<std::string> words;
    for (std::size_t i = 0; i < names.size(); ++i)
      if (const std::string& value = trial(index).values[i]; !value.empty())
        words.push_back(names[i] + "=" + value);
    return joined(words, " ");
  }

  void print_done(std::size_t index, const std::string& metrics) {
    SweepResult result{{trial(index).name, trial(index).values, {}}, last_validation(metrics)};
    result.point.sets = sets_of(plan_.space.variations(), trial(index).values);
    const auto words = [](const auto& one) {
      return fmt::format("{} {:.4g}", one.first, one.second);
    };
    const std::string values = is_grid() ? "" : words_of(index) + "   ";
    fmt::print("{}", plan_.json ? result_json(result, path_of(index).string())
                                : fmt::format("done     {}   {}{}\n", trial(index).name, values,
                                              joined(result.measures, ", ", words)));
    std::fflush(stdout);
    results_[is_grid() ? points_.at(trial(index).name) : index] = std::move(result);
  }

  void write_page() try {
    write_sweep_page(storage_, journal_);
    has_page_ = true;
  } catch (const std::runtime_error& error) {  // of the disk, or of a trial's metrics
    fmt::print(stderr, "{}; the page was not updated\n", printable(error.what()));
  }

  int finish_grid() const {
    const auto results = results_ | std::views::values;
    if (!plan_.json && !results.empty())
      fmt::print("\n{}", summary(plan_.space.variations(), {results.begin(), results.end()}));
    const bool is_left = std::ranges::any_of(plan_.points, [&](const GridPoint& point) {
      const SweepTrial* trial = trial_of(point);
      return !trial || trial->is_open();
    });
    if (report_unfinished(
            is_left, fmt::format("{} of {} runs are done", results.size(), plan_.points.size()),
            !results.empty()))
      return exit_stopped;
    return failed_ > 0 ? exit_failed : exit_done;
  }

  int finish_search() const {
    const std::vector<std::size_t> best = journal_.best();
    for (const std::size_t index : best) {
      if (plan_.json) continue;
      std::vector<std::string> numbers;
      for (std::size_t i = 0; i < journal_.header().goals.size(); ++i)
        numbers.push_back(fmt::format("{} {:.4g}", journal_.header().goals[i].metric,
                                      trial(index).measured.back()[i]));
      fmt::print("best     {}   {}   {}\n", trial(index).name, words_of(index), joined(numbers));
    }
    if (has_page_ && !plan_.json)
      fmt::print("page     {}\n", sweep_page(journal_.directory()).string());
    const std::size_t begun = journal_.trials().size();
    if (exhausted_ && begun < plan_.most_trials)
      fmt::print(stderr, "ended    after {} trials: no combinations remain\n", begun);
    if (report_unfinished(!exhausted_ && begun < plan_.most_trials,
                          fmt::format("{} of {} trials have begun", begun, plan_.most_trials),
                          !best.empty()))
      return exit_stopped;
    return best.empty() ? exit_failed : exit_done;
  }

  /// Whether the sweep was stopped early, which it reports; when the time is over, results suffice.
  bool report_unfinished(bool is_left, const std::string& so_far, bool has_results) const {
    if (!interrupted_ && !(stopped() && is_left)) return false;
    const bool out_of_time = !signals_.stop_requested() && seconds() >= plan_.budget;
    fmt::print(stderr, "{}  {}; run the same command{} to continue\n",
               out_of_time ? "budget " : "stopped", so_far,
               out_of_time ? " with a larger --budget" : "");
    return !out_of_time || !has_results;
  }

  FileStorage& storage_;
  const SweepPlan& plan_;
  SweepJournal& journal_;
  SignalGuard& signals_;
  Clock::time_point start_ = Clock::now();
  double seconds_before_;
  std::map<std::string, std::size_t> points_;   // of a grid, by name
  std::vector<std::size_t> open_;               // trials that were begun, the next one last
  std::vector<std::size_t> running_;            // the trial of each job
  std::set<std::size_t> killed_;                // trials whose last job was
  std::map<std::size_t, SweepResult> results_;  // by trial, of a grid by point
  std::size_t under_way_ = 0, failed_ = 0, started_points_ = 0;
  bool exhausted_ = false, has_page_ = false;
  bool interrupted_ = false;  // a trial, and what depends on it, waits for another call
  std::string io_problem_;
};

}  // namespace

int run_trials(FileStorage& storage, const SweepPlan& plan, SweepJournal& journal,
               SignalGuard& signals, Processes& processes) {
  return SweepRunner(storage, plan, journal, signals).run(processes);
}

}  // namespace bochner
