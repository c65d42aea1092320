#pragma once
/// What is written for those who follow a run and no checkpoint counts on: it may be lost or be
/// said twice, and a disk that does not take it is no error.

#include <bochner/train/run/run_files.hpp>
#include <bochner/train/storage/storage.hpp>

namespace bochner {

class Json;

/// Whether a file of this name in the directory of a run is one of them.
bool is_followers(const std::string& name);

class LiveLog {
 public:
  /// `step` is where the leg begins: of later ones clock.jsonl is cleared. `storage` must outlive
  /// it.
  LiveLog(FileStorage& storage, const Path& run, std::uint64_t step, bool tensorboard);
  /// A line of the console.
  void console(const std::string& line);
  /// A line of metrics, after so many seconds of training: step, seconds and memory go to
  /// clock.jsonl, all numbers to the event file.
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

/// Bytes of memory that the process holds now; 0 where the system does not say.
std::uint64_t resident_bytes();

}  // namespace bochner
