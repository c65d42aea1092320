#pragma once
/// Session: a run in memory, bound to its directory: started, resumed or forked by the first of the
/// processes that share it, and joined by the others. All throw StoppedError when `reading` is
/// stopped.

#include <bochner/train/run/run_directory.hpp>
#include <bochner/train/run/trainer.hpp>
#include <functional>

namespace bochner {

class BackgroundDigest;

/// What a fork leaves behind of its parent.
struct ForkResets {
  bool optimizer = false, schedule = false, data = false, ema = false;
};
/// "optimizer,data"; throws std::invalid_argument with the choices.
ForkResets parse_resets(const std::string& list);

/// What goes on while large texts are read, before there is a run whose loop heeds signals.
struct DataReading {
  std::function<void(const std::string&)> tell;  ///< a line for the user
  std::function<bool()> stopped;                 ///< asked again and again: whether to give up
};

/// Where the files of a session are, and who takes part in it.
struct SessionContext {
  FileStorage& storage;
  Path directory;            ///< of the run
  std::string command = {};  ///< as the user typed it, for meta.json; a resume needs none
  DataReading reading = {};
  Processes& processes = Processes::alone();
};

class Session {
 public:
  Session(Session&&) noexcept;
  ~Session();

  /// Begins a run; its directory is made when all else has succeeded. Nothing is trained yet.
  static Session start(const SessionContext& context, const Config& config);
  /// Resumes a run. `changes` may only set keys that resume may change; they are kept in its
  /// config.toml. Notes for the user are added to `notes`. With `strict`, another build or machine
  /// than the checkpoint's is an error and not a note.
  static Session resume(const SessionContext& context, const std::vector<std::string>& changes,
                        bool strict, std::vector<std::string>& notes);
  /// Begins a run with what fits of a checkpoint, except for what is reset; writes its first
  /// checkpoint. Throws ConfigError when no steps are left.
  static Session fork(const SessionContext& context, const RunReference& parent,
                      const Config& config, const ForkResets& resets,
                      std::vector<std::string>& notes);
  /// Receives what the first process made by one of these, and reads the data itself; writes no
  /// files. Throws AgreedError where the data are not the same.
  static Session join(Processes& processes, const DataReading& reading = {});

  const Config& config() const { return config_; }
  Task& task() { return *task_; }
  Trainer& trainer() { return *trainer_; }
  Processes& processes() { return processes_; }
  const Path& path() const { return path_; }
  /// Only of the first process.
  RunDirectory& run() { return *run_; }
  TrainerState& state() { return trainer_->state(); }
  std::uint64_t total_steps() const { return total_steps_; }
  /// Whether train.stop.patience is at its end.
  bool has_stopped_improving() const {
    return spec_.patience > 0 && trainer_->state().validations_since_improvement >= spec_.patience;
  }
  std::uint64_t tokens_per_step() const { return tokens_per_step_; }
  /// The keys of train.*.
  const TrainSpec& spec() const { return spec_; }
  /// A period of them in steps; 0 when off.
  std::uint64_t steps(const Period& period) const;
  /// A line of metrics. Returns why the disk does not take it, "" where it does.
  std::string append(const std::string& line);
  /// Why lines of metrics are only in the last checkpoint; "" where none is.
  std::string unwritten();
  /// Throws DataError where texts that are read while training goes on are no more those that the
  /// run began with, in one of the processes; the others than the first throw AgreedError.
  void recheck_data();
  /// Writes a checkpoint of the present state and returns its path. Other processes than the first
  /// write nothing, here as above and below.
  Path save();
  /// Deletes the checkpoints that retention does not keep, after save(). Returns why one could not
  /// be deleted, "" when all were.
  std::string retain();
  /// Throws AgreedError where a process has learned other numbers than the first one.
  void require_equal_weights();
  /// Whether large files of data are still compared with those of the checkpoint.
  bool compares_data() const;
  /// Throws DataError when they turned out to be others, IoError when they cannot be read.
  void require_same_data() const;
  /// The same when all bytes are compared; false when `stopped` says to wait no longer.
  bool await_same_data(const std::function<bool()>& stopped = {}) const;

 private:
  /// Not bound to a directory yet. Large texts of words are encoded; `words` is the config that
  /// says where their model is.
  Session(const Config& config, Processes& processes, const DataReading& reading,
          const Config& words, const KnownFacts& known = {});
  /// Throws ConfigError unless there is a shard for each process.
  static void require_shards(const Config& config, const Processes& processes);
  /// Tells the other processes what the first one has, which they join.
  void share(const DataReading& reading);
  void share_all();
  void require_shared_data(const DataReading& reading);
  std::uint64_t data_fingerprint(const DataReading& reading) const;
  void make_directory(const SessionContext& context, const std::string& parent);
  /// `parent` is the config of the checkpoint.
  void fork_from(const CheckpointReader& checkpoint, const Config& parent, const ForkResets& resets,
                 std::vector<std::string>& notes);
  /// All of a checkpoint of the same run.
  void restore(const CheckpointReader& checkpoint, bool strict, std::vector<std::string>& notes,
               const DataReading& reading);
  /// Compares the data with those of a checkpoint, large ones in the background where the system
  /// says that the files have not changed.
  void recognise_data(const TrainerState& saved, const DataReading& reading);
  /// Enters the data into the state.
  void note_data(const DataReading& reading);
  /// The same of this process alone.
  void recheck_own_data();
  /// Throws what `problem` says of the data of some process; "" for none.
  void agree_on_data(const std::string& problem);
  /// Refuses a disk without room for a checkpoint before the first step.
  void require_space();

  Config config_;
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
  std::uint64_t seen_marks_ = 0;  ///< of the files of a text, when it was compared last
};

}  // namespace bochner
