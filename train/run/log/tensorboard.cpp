#include <array>
#include <bit>
#include <bochner/train/run/log/tensorboard.hpp>

namespace bochner {
namespace {

constexpr std::array<std::uint32_t, 256> crc_table = [] {
  constexpr std::uint32_t polynomial = 0x82f63b78;  // reversed
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) value = value >> 1 ^ (value & 1 ? polynomial : 0);
    table[i] = value;
  }
  return table;
}();

std::string little_endian(std::uint64_t number, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += char(number >> 8 * i & 0xff);
  return text;
}

std::string varint(std::uint64_t number) {
  std::string text;
  for (; number > 0x7f; number >>= 7) text += char((number & 0x7f) | 0x80);
  return text + char(number);
}

enum WireType { wire_varint = 0, wire_64_bits = 1, wire_bytes = 2, wire_32_bits = 5 };

std::string key_of(int field, WireType type) { return varint(std::uint64_t(field << 3 | type)); }

std::string bytes_field(int field, std::string_view bytes) {
  return key_of(field, wire_bytes) + varint(bytes.size()) + std::string(bytes);
}

std::string varint_field(int field, std::uint64_t number) {
  return key_of(field, wire_varint) + varint(number);
}

std::string event_at(double wall_time, std::uint64_t step) {
  return key_of(1, wire_64_bits) + little_endian(std::bit_cast<std::uint64_t>(wall_time), 8) +
         varint_field(2, step);
}

}  // namespace

std::uint32_t masked_crc32c(std::string_view bytes) {
  std::uint32_t crc = ~std::uint32_t(0);
  for (const char byte : bytes) crc = crc_table[(crc ^ std::uint32_t(byte)) & 0xff] ^ crc >> 8;
  return std::rotr(~crc, 15) + 0xa282ead8;
}

std::string tf_record(std::string_view event) {
  const std::string length = little_endian(event.size(), 8);
  return length + little_endian(masked_crc32c(length), 4) + std::string(event) +
         little_endian(masked_crc32c(event), 4);
}

std::string version_event(double wall_time) {
  return event_at(wall_time, 0) + bytes_field(3, "brain.Event:2");
}

std::string start_event(double wall_time, std::uint64_t step) {
  constexpr std::uint64_t start = 1;
  return event_at(wall_time, step) + bytes_field(7, varint_field(1, start));
}

std::string scalar_event(double wall_time, std::uint64_t step,
                         const std::vector<std::pair<std::string, double>>& scalars) {
  std::string summary;
  for (const auto& [tag, number] : scalars) {
    const auto bits = std::bit_cast<std::uint32_t>(float(number));
    summary +=
        bytes_field(1, bytes_field(1, tag) + key_of(2, wire_32_bits) + little_endian(bits, 4));
  }
  return event_at(wall_time, step) + bytes_field(5, summary);
}

}  // namespace bochner
