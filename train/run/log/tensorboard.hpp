#pragma once
/// Event files of TensorBoard: TFRecords (length, masked CRC-32C of it, bytes, masked CRC-32C of
/// them; little endian) of protocol buffers, encoded by hand with these fields only: Event { 1:
/// double wall_time, 2: int64 step, 3: string file_version, 5: Summary, 7: SessionLog }, Summary {
/// 1: Value { 1: string tag, 2: float simple_value } }, SessionLog { 1: status }.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bochner {

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
