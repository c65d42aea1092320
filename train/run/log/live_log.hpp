#pragma once
/// Logs for those who watch a run: they may be lost or repeated, no checkpoint depends on them, and
/// a failure to write them is not an error.

#include <bochner/train/run/run_files.hpp>
#include <bochner/train/storage/storage.hpp>
#include <string_view>
#include <utility>

namespace bochner {

class Json;

/// Whether a file of a run's directory is one of these logs.
bool is_live_log(const std::string& name);

class LiveLog {
 public:
  /// Starts at `step`; later steps are removed from clock.jsonl. `storage` must outlive this.
  LiveLog(FileStorage& storage, const Path& run, std::uint64_t step, bool tensorboard);
  void console(const std::string& line) { console_.append(line + "\n"); }
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

// Event files of TensorBoard: TFRecords (length, masked CRC-32C of it, bytes, masked CRC-32C of
// them; little endian) of protocol buffers, encoded by hand with these fields only: Event { 1:
// double wall_time, 2: int64 step, 3: string file_version, 5: Summary, 7: SessionLog }, Summary {
// 1: Value { 1: string tag, 2: float simple_value } }, SessionLog { 1: status }.

/// Returns CRC-32C (Castagnoli), masked as in TFRecords: rotated by 15 bits, plus 0xa282ead8.
std::uint32_t masked_crc32c(std::string_view bytes);
/// Returns the bytes of one record.
std::string tf_record(std::string_view event);

/// Returns the first event of a file. `wall_time` in seconds since 1970.
std::string version_event(double wall_time);
/// Returns the event of a start after `step`: readers then discard later steps of other files.
std::string start_event(double wall_time, std::uint64_t step);
/// Returns an event of numbers under their tags.
std::string scalar_event(double wall_time, std::uint64_t step,
                         const std::vector<std::pair<std::string, double>>& scalars);

}  // namespace bochner
