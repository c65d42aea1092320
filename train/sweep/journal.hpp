#pragma once
/// sweep.jsonl: what a sweep searches, and in their order the values that it tried, how far they
/// came and what was decided. All that a sweep does follows from the lines before it.

#include <bochner/train/storage/json.hpp>
#include <bochner/train/storage/storage.hpp>
#include <bochner/train/sweep/goal.hpp>
#include <bochner/train/sweep/search/next_trial.hpp>

namespace bochner {

/// What may not change while a search goes on.
struct SweepHeader {
  SearchKind search = SearchKind::grid;
  std::uint64_t seed = 1;
  std::vector<std::string> vary;  ///< as typed
  std::vector<Goal> goals = {Goal()};
  std::vector<std::uint64_t> rungs = {};  ///< steps; none without early stopping
  double factor = 0;                      ///< one in so many goes on from a rung
};

/// Values that are tried, and how far they came.
struct SweepTrial {
  std::string name;  ///< of the run's directory
  Values values;
  std::vector<std::uint64_t> steps = {};           ///< the last one of each measure
  std::vector<std::vector<double>> measured = {};  ///< for each goal, at each rung that it reached
  bool done = false;                               ///< trained to its end
  std::string failed = {};                         ///< why
  std::size_t rung = 0;                            ///< to which it trains, or trained last

  bool is_open() const { return !done && failed.empty() && measured.size() <= rung; }
};

/// Trials of equal values but for their seeds, as grids have them.
struct SeedGroup {
  std::vector<std::size_t> trials;
  std::vector<double> means;  ///< of what was measured for each goal; NaN where one has none
};

/// Whether the directory is one of a sweep.
bool is_sweep(FileStorage& storage, const Path& directory);

/// The directory of a sweep and its journal. The storage must outlive it.
class SweepJournal {
 public:
  /// For looking only. Throws std::invalid_argument where there is none.
  static SweepJournal read(FileStorage& storage, const Path& directory);
  /// Locked, to go on with; a new one where there is none. A line that was cut short is removed.
  /// Throws std::invalid_argument where the header is another one; a grid may get more values.
  static SweepJournal open(FileStorage& storage, const Path& directory, const SweepHeader& header);

  const SweepHeader& header() const { return header_; }
  const std::vector<SweepTrial>& trials() const { return trials_; }
  const Path& directory() const { return directory_; }
  /// Of all calls that went on with it, up to its last result or stop.
  double seconds() const { return seconds_; }

  // Each of these is on the disk when it returns; throws IoError.
  void start(const std::string& name, const Values& values);
  void reached(std::size_t trial, std::uint64_t step, const std::vector<double>& measured,
               double seconds);
  void promoted(std::size_t trial);
  void done(std::size_t trial, std::uint64_t step, const std::vector<double>& measured,
            double seconds);
  void failed(std::size_t trial, const std::string& why, double seconds);
  /// One of a grid that failed, or whose run is gone, is tried again.
  void retried(std::size_t trial);

  /// The call ends, and what ran has no result yet.
  void stopped(double seconds);

  /// The scores of the trials as proposals ask for them.
  std::vector<Tried> tried() const;
  /// The same as promotions do.
  std::vector<TrialProgress> climbs() const;
  /// Those that are done, in the order of their first trials.
  std::vector<SeedGroup> done_groups() const;
  /// Which of them are best: one, or the front of several goals.
  std::vector<SeedGroup> best_groups() const;
  /// Their trials.
  std::vector<std::size_t> best() const;

 private:
  SweepJournal(FileStorage& storage, const Path& directory)
      : storage_(&storage), directory_(directory) {}
  /// Returns the bytes of the whole lines.
  std::uint64_t read_lines(std::string_view text);
  void apply(const Json& event);
  void apply_to(SweepTrial& trial, const Json& event, const std::string& kind);
  void write(const Json& event);

  FileStorage* storage_;
  Path directory_;
  std::unique_ptr<FileLock> lock_;
  std::unique_ptr<StoredFile> file_;
  SweepHeader header_;
  std::vector<SweepTrial> trials_;
  double seconds_ = 0;
};

}  // namespace bochner
