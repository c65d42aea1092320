#pragma once
/// Event files of TensorBoard: TFRecords (length, masked CRC-32C of it, bytes, masked CRC-32C of
/// them; little endian) of protocol buffers, of whose fields these few are written by hand:
/// Event { 1: double wall_time, 2: int64 step, 3: string file_version, 5: Summary, 7: SessionLog },
/// Summary { 1: Value { 1: string tag, 2: float simple_value } }, SessionLog { 1: status }.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bochner {

/// CRC-32C (Castagnoli), as masked in TFRecords: rotated by 15 bits, plus 0xa282ead8.
std::uint32_t masked_crc32c(std::string_view bytes);
/// The bytes of one record.
std::string tf_record(std::string_view event);

/// The first event of a file. `wall_time` in seconds since 1970.
std::string version_event(double wall_time);
/// Of a leg that begins behind this step: what other files say of later ones is forgotten.
std::string start_event(double wall_time, std::uint64_t step);
/// Numbers under their tags.
std::string scalar_event(double wall_time, std::uint64_t step,
                         const std::vector<std::pair<std::string, double>>& scalars);

}  // namespace bochner
