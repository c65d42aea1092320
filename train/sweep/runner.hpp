#pragma once
/// Runner of a sweep: trains each trial in a separate process.

#include <bochner/autodiff/real.hpp>
#include <bochner/train/config/config.hpp>
#include <bochner/train/sweep/grid.hpp>
#include <bochner/train/sweep/journal.hpp>
#include <bochner/train/sweep/workers.hpp>
#include <chrono>
#include <map>
#include <set>

namespace bochner {

struct SweepPlan {
  std::string config;             ///< file
  std::vector<std::string> sets;  ///< for all trials
  Space space;
  std::vector<GridPoint> points = {};  ///< of a grid, in this order
  std::size_t most_trials = 0;
  JobShare share;                                           ///< of this process
  double budget = std::numeric_limits<double>::infinity();  ///< seconds, over all calls
  bool json = false;
};

/// Returns the config of a trial, checked. Throws ConfigError.
Config trial_config(const SweepPlan& plan, const std::string& name,
                    const std::vector<std::string>& sets);
/// Whether the run exists; throws ConfigError if it has other settings.
bool has_run(FileStorage& storage, const Path& path, const Config& config);

class SweepRunner {
 public:
  /// Checks the trials of the journal and reports those that are done.
  SweepRunner(FileStorage& storage, const SweepPlan& plan, SweepJournal& journal,
              SignalGuard& signals);
  /// Runs until all is tried or it must stop, and reports each trial's end; other processes help.
  /// Returns the exit code. Throws IoError if a trial of a search could not write.
  int run(Processes& processes);

 private:
  using Clock = std::chrono::steady_clock;

  /// Whether a trial has a checkpoint; then data that do not fit its config are not its result.
  bool has_begun(std::size_t index) const;
  bool is_grid() const { return journal_.header().search == SearchKind::grid; }
  bool halves() const { return !journal_.header().rungs.empty(); }
  double seconds() const;
  bool stopped() const { return signals_.stop_requested() || seconds() >= plan_.budget; }
  const SweepTrial& trial(std::size_t index) const { return journal_.trials()[index]; }
  /// Returns the trial of a grid's point; null if it was not begun.
  const SweepTrial* trial_of(const GridPoint& point) const;
  Path path_of(std::size_t index) const { return journal_.directory() / trial(index).name; }
  std::vector<std::string> sets_of_trial(std::size_t index) const;

  void restore();
  void restore(std::size_t index);
  void await_open();
  std::optional<Job> next();
  std::optional<std::size_t> next_index();
  SearchSpec search_spec() const;
  std::optional<std::size_t> promote(bool finish);
  std::optional<std::size_t> start_trial();
  /// Returns a trial's config; nothing if it is wrong, which is a result of a search.
  std::optional<Config> config_of(std::size_t index, const std::vector<std::string>& sets);
  std::optional<Job> job_of(std::size_t index);

  void ended(std::size_t job, int code);
  /// Retries a trial that was killed, by a user or for lack of memory, which is not a result yet.
  void try_again(std::size_t index);
  void came_to_rung(std::size_t index, const std::string& metrics);
  void came_to_end(std::size_t index, const std::string& metrics);
  void has_failed(std::size_t index, const std::string& why, const std::string& words);
  bool is_at_rung(std::size_t index) const;
  std::vector<double> measured(std::size_t index, const std::string& metrics,
                               std::uint64_t last_step) const;
  /// Writes the page; returns whether it could. Results are reported in either case.
  bool writes_page() const;
  int finish_grid() const;
  int finish_search() const;
  /// Whether the sweep was stopped early, which it reports; when the time is over, results suffice.
  bool report_unfinished(bool is_left, const std::string& so_far, bool has_results) const;

  void print_done(std::size_t index, const std::string& metrics);
  std::string words_of(std::size_t index) const;
  std::string log_of(std::size_t index) const { return path_of(index).string() + ".log"; }

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
  bool exhausted_ = false;
  bool has_page_ = false;
  bool interrupted_ = false;  // a trial, and what depends on it, waits for another call
  std::string io_problem_;
};

}  // namespace bochner
