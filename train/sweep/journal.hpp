#pragma once
/// sweep.jsonl: what a sweep searches, then its trials, their progress and its decisions in order.
/// All that a sweep does follows from the lines before.

#include <bochner/train/storage/json.hpp>
#include <bochner/train/storage/storage.hpp>
#include <bochner/train/sweep/search/next_trial.hpp>

namespace bochner {

/// Settings that may not change while a search continues.
struct SweepHeader {
  SearchKind search = SearchKind::grid;
  std::uint64_t seed = 1;
  std::vector<std::string> vary;  ///< as typed
  std::vector<Goal> goals = {Goal()};
  std::vector<std::uint64_t> rungs = {};  ///< steps; none without early stopping
  double factor = 0;                      ///< one in `factor` trials continues from a rung
};

/// Values to try, and how far they were trained.
struct SweepTrial {
  std::string name;  ///< of the run's directory
  Values values;
  std::vector<std::uint64_t> steps = {};           ///< last step of each measurement
  std::vector<std::vector<double>> measured = {};  ///< by reached rung and goal
  bool done = false;                               ///< trained to its end
  std::string failed = {};                         ///< why
  std::size_t rung = 0;                            ///< trained to, now or last

  bool is_open() const { return !done && failed.empty() && measured.size() <= rung; }
};

/// Trials whose values differ only in the seed, as in grids.
struct SeedGroup {
  std::vector<std::size_t> trials;
  std::vector<double> means;  ///< of the measurements for each goal; NaN if one is missing
};

/// Returns the state of a trial: "done", "waits", "failed" or "open".
std::string state_of(const SweepTrial& trial);
Space space_of(const SweepHeader& header);
/// Returns the number for a goal at the last rung that the trial reached; NaN if it reached none.
double last_measured(const SweepTrial& trial, std::size_t goal = 0);

bool is_sweep(FileStorage& storage, const Path& directory);

/// Directory of a sweep with its journal, which the storage must outlive.
class SweepJournal {
 public:
  /// Opens a journal to read. Throws std::invalid_argument if there is none.
  static SweepJournal read(FileStorage& storage, const Path& directory);
  /// Opens a journal, locked, to continue; creates it if there is none. Removes an incomplete last
  /// line. Throws std::invalid_argument for another header; a grid may gain values.
  static SweepJournal open(FileStorage& storage, const Path& directory, const SweepHeader& header);

  const SweepHeader& header() const { return header_; }
  const std::vector<SweepTrial>& trials() const { return trials_; }
  const Path& directory() const { return directory_; }
  /// Returns the seconds of all calls, up to the last result or stop.
  double seconds() const { return seconds_; }

  // Each of these is on the disk when it returns; throws IoError.
  void start(const std::string& name, const Values& values) {
    write(
        trial_event("start", trials_.size()).set("name", name).set("values", Json::array(values)));
  }
  void reached(std::size_t trial, std::uint64_t step, const std::vector<double>& measured,
               double seconds) {
    write_measured("reached", trial, step, measured, seconds);
  }
  void promoted(std::size_t trial);
  void done(std::size_t trial, std::uint64_t step, const std::vector<double>& measured,
            double seconds) {
    write_measured("done", trial, step, measured, seconds);
  }
  void failed(std::size_t trial, const std::string& why, double seconds) {
    write(trial_event("failed", trial).set("why", why).set("seconds", seconds));
  }
  /// Records that a grid's trial that failed, or whose run was removed, is tried again.
  void retried(std::size_t trial) { write(trial_event("retried", trial)); }

  /// Records the end of the call; running trials have no result yet.
  void stopped(double seconds) { write({{"event", "stopped"}, {"seconds", seconds}}); }

  /// Returns the scores of the trials for next_trial().
  std::vector<Tried> tried() const;
  /// Returns the progress of the trials for next_promotion().
  std::vector<TrialProgress> progress() const;
  /// Returns the groups of done trials, in the order of their first trials.
  std::vector<SeedGroup> done_groups() const;
  /// Returns the best of the done groups: one, or the Pareto front of several goals.
  std::vector<SeedGroup> best_groups() const;
  std::vector<std::size_t> best() const;

 private:
  SweepJournal(FileStorage& storage, const Path& directory)
      : storage_(&storage), directory_(directory) {}
  /// Reads lines; returns the bytes of the complete ones.
  std::uint64_t read_lines(std::string_view text);
  void apply(const Json& event);
  void apply_to(SweepTrial& trial, const Json& event, const std::string& kind);
  void write(const Json& event);
  void write_measured(const char* kind, std::size_t trial, std::uint64_t step,
                      const std::vector<double>& measured, double seconds);
  static Json trial_event(const char* kind, std::size_t trial) {
    return {{"event", kind}, {"trial", trial}};
  }

  FileStorage* storage_;
  Path directory_;
  std::unique_ptr<FileLock> lock_;
  std::unique_ptr<StoredFile> file_;
  SweepHeader header_;
  std::vector<SweepTrial> trials_;
  double seconds_ = 0;
};

/// Returns DIR/sweep.html.
Path sweep_page(const Path& directory);
/// Writes the page: the best trials, the values and scores of all, the importance of the keys, the
/// curves of all runs, and early stops.
void write_sweep_page(FileStorage& storage, const SweepJournal& journal);

}  // namespace bochner
