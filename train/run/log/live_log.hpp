#pragma once
/// Logs for those who watch a run: they may be lost or repeated, no checkpoint depends on them, and
/// a failure to write them is not an error.

#include <bochner/train/run/run_files.hpp>
#include <bochner/train/storage/storage.hpp>

namespace bochner {

class Json;

/// Whether a file of a run's directory is one of these logs.
bool is_live_log(const std::string& name);

class LiveLog {
 public:
  /// Starts at `step`; later steps are removed from clock.jsonl. `storage` must outlive this.
  LiveLog(FileStorage& storage, const Path& run, std::uint64_t step, bool tensorboard);
  void console(const std::string& line);
  /// Logs a line after `seconds` of training: memory to clock.jsonl, all numbers to the event file.
  void metrics(const Json& line, double seconds);

 private:
  struct Part {
    std::unique_ptr<StoredFile> file = nullptr;
    void append(const std::string& bytes);
  };
  void forget_after(std::uint64_t step);
  void open_events(std::uint64_t step);

  FileStorage& storage_;
  Path run_;
  Part console_, clock_, events_;
};

/// Returns the resident memory of the process in bytes; 0 if the system does not report it.
std::uint64_t resident_bytes();

}  // namespace bochner
