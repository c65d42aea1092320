#pragma once
/// Run directory: config.toml, meta.json, metrics.jsonl, checkpoints/, run.lock, verdict.json,
/// calibration.bin, profile.json; with word pieces also tokenizer.model.

#include <bochner/train/config/config.hpp>
#include <bochner/train/run/checkpoint/checkpoint_file.hpp>
#include <bochner/train/run/log/metrics.hpp>
#include <bochner/train/run/run_files.hpp>
#include <bochner/train/storage/storage.hpp>
#include <set>

namespace bochner {

/// Retention of checkpoints: the last, the best, and always the one just written.
struct Retention {
  std::size_t keep_last = 2;
  std::size_t keep_best = 1;
};

/// Returns the config as a run in this directory reads it, with the run's own tokenizer model.
Config with_own_tokenizer(Config config, const Path& directory);

/// Directory of a run, locked by run.lock during training. The storage must outlive it.
class RunDirectory {
 public:
  /// Creates a run in a missing or empty directory, or replaces what an interrupted creation or a
  /// run without a checkpoint left; durable when it returns. `tokenizer` is the tokenizer model to
  /// store, "" for none. Throws std::invalid_argument if the directory holds something else,
  /// IoError if it is locked, read-only or full.
  static RunDirectory create(FileStorage& storage, const Path& path, const std::string& config,
                             const std::string& meta, const std::string& tokenizer = "");
  /// Throws std::invalid_argument if create() would, to avoid work in vain.
  static void require_fresh(FileStorage& storage, const Path& path);
  /// Opens an existing run, locked, to train on; removes what an interrupted save left. Throws
  /// DataError for another format version, as read() does.
  static RunDirectory open(FileStorage& storage, const Path& path);
  /// Returns "runs/a: another process (pid 17) is using this run; ..." or "".
  static std::string in_use(FileStorage& storage, const Path& path) {
    return storage.in_use(path / lock_name);
  }
  /// Opens an existing run to read: without lock or writes.
  static RunDirectory read(FileStorage& storage, const Path& path);

  const Path& path() const { return path_; }
  std::string config() const { return read_file(*storage_, path_ / config_name); }
  std::string meta() const { return read_file(*storage_, path_ / meta_name); }
  /// Replaces config.toml; durable when it returns.
  void replace_config(const std::string& config) {
    commit_file(*storage_, path_ / config_name, config);
  }
  /// Writes profile.json, the profile of the last call that requested one.
  void write_profile(const std::string& json) {
    commit_file(*storage_, path_ / profile_name, json);
  }
  /// Writes verdict.json, the verdict of the last training that ended.
  void write_verdict(const std::string& json) {
    commit_file(*storage_, path_ / verdict_name, json);
  }
  /// Writes calibration.bin, the calibration of the last training that ended.
  void write_calibration(const std::string& bytes) {
    commit_file(*storage_, path_ / calibration_name, bytes);
  }
  Path checkpoint_path(std::uint64_t step) const;
  /// Returns the steps of all checkpoint files by their names, ascending.
  std::vector<std::uint64_t> list_checkpoints() const;

  /// Returns the newest intact checkpoint; nothing if there are no files yet (start at step 0).
  /// Adds the problems of newer ones to `skipped`. Throws DataError if none is intact.
  std::optional<CheckpointReader> newest_valid(std::vector<std::string>& skipped);
  /// Loads the checkpoint of a step. Throws DataError that lists the existing steps.
  CheckpointReader load_step(std::uint64_t step) const;
  /// Loads the best checkpoint according to the newest intact one.
  CheckpointReader load_best();

  /// Writes and removes a file of this size, to detect a read-only or full disk early.
  void preflight(std::uint64_t bytes);
  /// Returns metrics.jsonl of a run that was created or opened. On resume, call metrics().rewind()
  /// first. Throws InUseError if run.lock was removed.
  MetricsFile& metrics();
  /// Saves a checkpoint, which survives a power loss when this returns. Syncs the metrics first;
  /// content.state.metrics_bytes must be metrics().bytes().
  Path save(const CheckpointContent& content);
  /// Deletes what the policy does not keep, after save() of this state. Damaged files stay. Returns
  /// why a file could not be deleted, "" if all were.
  std::string retain(const TrainerState& state, const Retention& policy);

 private:
  RunDirectory(FileStorage& storage, const Path& path);
  Path checkpoints() const { return path_ / "checkpoints"; }
  bool has_progress() const;
  void refuse_unless_fresh() const;
  void remove_temporaries();

  FileStorage* storage_;
  Path path_;
  std::unique_ptr<FileLock> lock_;
  std::unique_ptr<MetricsFile> metrics_;
  std::set<std::uint64_t> damaged_;
};

/// Reference to a checkpoint: "RUN", "RUN@best" or "RUN@1000".
struct RunReference {
  Path directory;
  std::string checkpoint;  ///< "", "best" or a step
};
/// Parses a reference; throws std::invalid_argument unless "best" or a step follows the last @.
RunReference parse_run_reference(const std::string& text);
/// Opens a checkpoint; adds problems of newer ones to `skipped`. Throws DataError for none.
CheckpointReader open_checkpoint(FileStorage& storage, const RunReference& reference,
                                 std::vector<std::string>& skipped);

}  // namespace bochner
