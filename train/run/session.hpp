#pragma once
/// Session: a run in memory, bound to its directory: started, resumed or forked by the first of its
/// processes, joined by the others. All throw StoppedError if `reading` is stopped.

#include <bochner/train/run/run_directory.hpp>
#include <bochner/train/run/trainer.hpp>
#include <future>
#include <stop_token>

namespace bochner {

/// Fingerprint of large files, which must outlive it. The destructor cancels its thread.
class BackgroundDigest {
 public:
  explicit BackgroundDigest(const ByteCorpus& corpus);
  ~BackgroundDigest() { stop_.request_stop(); }
  BackgroundDigest& operator=(BackgroundDigest&&) = delete;

  /// Whether all files are read, or reading failed.
  bool is_ready() const {
    return digest_.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  }
  /// Waits until is_ready(); returns false if `stopped`, polled meanwhile, returns true first.
  bool wait(const std::function<bool()>& stopped) const;
  /// Waits for the fingerprint and returns it. Throws the error with which reading failed.
  std::uint64_t value() const { return digest_.get().value(); }

 private:
  std::stop_source stop_;
  std::shared_future<std::optional<std::uint64_t>> digest_;
};

/// Parts of the parent's state that a fork resets.
struct ForkResets {
  bool optimizer = false, schedule = false, data = false, ema = false;
};
/// Parses "optimizer,data"; throws std::invalid_argument with the choices.
ForkResets parse_resets(const std::string& list);

/// Callbacks while large texts are read, before a training loop handles signals.
struct DataReading {
  std::function<void(const std::string&)> tell;  ///< a line for the user
  std::function<bool()> stopped;                 ///< polled: whether to cancel
};

/// Storage, directory and processes of a session.
struct SessionContext {
  FileStorage& storage;
  Path directory;            ///< of the run
  std::string command = {};  ///< as the user typed it, for meta.json; a resume needs none
  DataReading reading = {};
  Processes& processes = Processes::alone();
};

class Session {
 public:
  /// Begins a run; creates its directory after all else has succeeded. Nothing is trained yet.
  static Session start(const SessionContext& context, const Config& config);
  /// Resumes a run. `changes` may only set keys that resume may change; they are stored in its
  /// config.toml. Adds notes for the user to `notes`. With `strict`, another build or machine than
  /// the checkpoint's is an error instead of a note.
  static Session resume(const SessionContext& context, const std::vector<std::string>& changes,
                        bool strict, std::vector<std::string>& notes);
  /// Begins a run with all matching tensors of a checkpoint, except for what is reset; writes its
  /// first checkpoint. Throws ConfigError if no steps remain.
  static Session fork(const SessionContext& context, const RunReference& parent,
                      const Config& config, const ForkResets& resets,
                      std::vector<std::string>& notes);
  /// Joins a session that the first process made by one of these, and reads the data itself; writes
  /// no files. Throws AgreedError if the data differ.
  static Session join(Processes& processes, const DataReading& reading = {});

  const Config& config() const { return config_; }
  Task& task() { return *task_; }
  Trainer& trainer() { return *trainer_; }
  Processes& processes() { return processes_; }
  const Path& path() const { return path_; }
  /// Returns the directory; first process only.
  RunDirectory& run() { return *run_; }
  TrainerState& state() { return trainer_->state(); }
  std::uint64_t total_steps() const { return total_steps_; }
  /// Whether train.stop.patience is exhausted.
  bool has_stopped_improving() const {
    return spec_.patience > 0 && trainer_->state().validations_since_improvement >= spec_.patience;
  }
  std::uint64_t tokens_per_step() const { return tokens_per_step_; }
  const TrainSpec& spec() const { return spec_; }
  /// Converts a period to steps; 0 if off.
  std::uint64_t steps(const Period& period) const {
    return std::uint64_t(steps_of(period, std::int64_t(tokens_per_step_), steps_per_epoch_));
  }
  /// Appends a line of metrics. Returns why it could not be written, or "".
  std::string append(const std::string& line);
  /// Returns why lines of metrics are only in the last checkpoint, or "".
  std::string unwritten() {
    return run_ && !run_->metrics().waiting().empty() ? run_->metrics().problem() : "";
  }
  /// Throws DataError if a process finds that texts read during training have changed since the run
  /// began; the other processes throw AgreedError.
  void recheck_data();
  /// Writes a checkpoint and returns its path. Only the first process writes, in all functions.
  Path save();
  /// Deletes checkpoints by the retention, after save(). Returns why one could not be, or "".
  std::string retain() {
    return run_ ? run_->retain(state(), {spec_.keep_last, spec_.keep_best}) : "";
  }
  /// Throws AgreedError if a process has other weights than the first one.
  void require_equal_weights();
  /// Whether large data files are still being compared with those of the checkpoint.
  bool compares_data() const { return verification_ && !verification_->is_ready(); }
  /// Throws DataError if they have turned out to differ, IoError if they cannot be read.
  void require_same_data() const;
  /// Waits for the comparison, then like require_same_data(); false if `stopped` ends the wait.
  bool await_same_data(const std::function<bool()>& stopped = {}) const;

 private:
  /// Makes a session without a directory; encodes large texts. `words` has the tokenizer's path.
  Session(const Config& config, Processes& processes, const DataReading& reading,
          const Config& words, const KnownFacts& known = {});
  /// Throws ConfigError unless each process has a shard.
  static void require_shards(const Config& config, const Processes& processes);
  /// Sends the state of the first process to the others, which join.
  void share(const DataReading& reading);
  void share_all();
  void require_shared_data(const DataReading& reading);
  std::uint64_t data_fingerprint(const DataReading& reading) const;
  void make_directory(const SessionContext& context, const std::string& parent);
  /// `parent` is the config of the checkpoint.
  void fork_from(const CheckpointReader& checkpoint, const Config& parent, const ForkResets& resets,
                 std::vector<std::string>& notes);
  /// Counts examples from 0 if the data are not those of the parent.
  void begin_other_data(const TrainerState& saved, const Config& parent,
                        std::vector<std::string>& notes);
  void restore(const CheckpointReader& checkpoint, bool strict, std::vector<std::string>& notes,
               const DataReading& reading);
  /// Compares the data with a checkpoint's; large files with unchanged marks in the background.
  void recognise_data(const TrainerState& saved, const DataReading& reading);
  void note_data(const DataReading& reading);
  /// Checks the data of this process, see recheck_data().
  void recheck_own_data();
  /// Throws the first process's `problem` in all processes; "" for none.
  void agree_on_data(const std::string& problem);
  /// Throws IoError if the disk has no room for a checkpoint.
  void require_space();

  Config config_;
  std::string config_text_;  ///< as checkpoints hold it
  std::unique_ptr<Task> task_;
  TrainSpec spec_;
  std::uint64_t tokens_per_step_;
  double steps_per_epoch_;
  std::uint64_t total_steps_;
  std::unique_ptr<Trainer> trainer_;
  Processes& processes_;
  Path path_;
  std::optional<RunDirectory> run_;
  std::unique_ptr<BackgroundDigest> verification_;
  std::uint64_t seen_marks_ = 0;  ///< modification marks of the text's files at the last comparison
};

/// Steps, tokens and examples that the weights were trained on.
struct ImportedProgress {
  std::uint64_t step = 0, tokens = 0, examples = 0;
};

/// Writes a run with the weights of a learner without opening its data: the first resume records
/// them and initializes the state of training. `source` names the origin of the weights.
void write_imported_run(const SessionContext& context, const Config& config,
                        const std::string& source, Learner& learner,
                        const ImportedProgress& progress);

}  // namespace bochner
