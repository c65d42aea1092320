#pragma once
/// A run on the disk: config.toml, meta.json, metrics.jsonl, checkpoints/, run.lock, profile.json;
/// of words also tokenizer.model.

#include <bochner/train/config/config.hpp>
#include <bochner/train/run/checkpoint/checkpoint_file.hpp>
#include <bochner/train/run/log/metrics.hpp>
#include <bochner/train/run/run_files.hpp>
#include <bochner/train/storage/storage.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace bochner {

/// Which checkpoints stay: the last, the best, and always the one just written.
struct Retention {
  std::size_t keep_last = 2;
  std::size_t keep_best = 1;
};

/// The config as a run in this directory reads it: its own model of words.
Config with_own_tokenizer(Config config, const Path& directory);

/// The storage must outlive the directory. A run under training holds run.lock until destroyed.
class RunDirectory {
 public:
  /// A new run in a missing or empty directory, or in place of what a creation that was interrupted
  /// or a run that ended before its first checkpoint left. Returns when all of it is on the disk.
  /// `tokenizer` is the model of words that it keeps, "" for none. Throws std::invalid_argument
  /// when the directory holds something, IoError when it is locked, read-only or full.
  static RunDirectory create(FileStorage& storage, const Path& path, const std::string& config,
                             const std::string& meta, const std::string& tokenizer = "");
  /// Throws std::invalid_argument where create() would find something in the directory: before work
  /// that would be in vain.
  static void require_fresh(FileStorage& storage, const Path& path);
  /// Opens an existing run, locked, to train on; removes what an interrupted save left. Throws
  /// DataError for one of another format version, as read() does.
  static RunDirectory open(FileStorage& storage, const Path& path);
  /// "runs/a: another process (pid 17) is using this run; ..." while one trains there, else "".
  static std::string in_use(FileStorage& storage, const Path& path);
  /// An existing run to look at: no lock, nothing is written.
  static RunDirectory read(FileStorage& storage, const Path& path);

  const Path& path() const { return path_; }
  /// The text of config.toml.
  std::string config() const;
  /// The text of meta.json.
  std::string meta() const;
  /// Replaces config.toml by what a resume has changed; durable when it returns.
  void replace_config(const std::string& config);
  /// Writes profile.json: where the time of the last leg went that asked for it.
  void write_profile(const std::string& json);
  Path checkpoint_path(std::uint64_t step) const;
  /// The steps of all checkpoint files, ascending, by their names.
  std::vector<std::uint64_t> list_checkpoints() const;

  /// The newest checkpoint that is whole; nothing when there are no files yet (start at step 0).
  /// What is wrong with newer ones is added to `skipped`. A trainer may save and remove meanwhile.
  /// Throws DataError when none is whole.
  std::optional<CheckpointReader> newest_valid(std::vector<std::string>& skipped);
  /// Throws DataError naming the steps there are.
  CheckpointReader load_step(std::uint64_t step) const;
  /// The best checkpoint by the list that the newest whole one carries.
  CheckpointReader load_best();

  /// Writes and removes a file of this size, to refuse a read-only or full disk early.
  void preflight(std::uint64_t bytes);
  /// The lines of metrics.jsonl; only of a run that is created or opened. On resume, call
  /// metrics().rewind() first. Throws InUseError when run.lock was removed.
  MetricsFile& metrics();
  /// When it returns the checkpoint survives a power loss and may be acknowledged. Syncs the
  /// metrics first; content.state.metrics_bytes must be metrics().bytes().
  Path save(const CheckpointContent& content);
  /// Deletes what the policy does not keep, after save() of this state. Damaged files stay. Returns
  /// why a file could not be deleted, "" when all were.
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

/// "RUN", "RUN@best" or "RUN@1000".
struct RunReference {
  Path directory;
  std::string checkpoint;  ///< "", "best" or a step
};
/// Throws std::invalid_argument when what follows the last @ is neither "best" nor a step.
RunReference parse_run_reference(const std::string& text);
/// The checkpoint that is meant; what was wrong with newer ones is added to `skipped`. Throws
/// DataError if none.
CheckpointReader open_checkpoint(FileStorage& storage, const RunReference& reference,
                                 std::vector<std::string>& skipped);

}  // namespace bochner
