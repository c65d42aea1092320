#include <unistd.h>

#include <array>
#include <bit>
#include <bochner/base/system.hpp>
#include <bochner/train/run/log/file_tail.hpp>
#include <bochner/train/run/log/live_log.hpp>
#include <bochner/train/storage/json.hpp>
#include <chrono>
#include <fstream>

namespace bochner {
namespace {

using Scalars = std::vector<std::pair<std::string, double>>;

double seconds_since_1970() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

void add_scalars(Scalars& scalars, const std::string& name, const Json& value) {
  if (const auto number = value.number()) scalars.emplace_back(name, *number);
}

/// Converts a line of metrics to scalars; those of layers are under kernels/KEY/LAYER.
Scalars scalars_of(const Json& line) {
  Scalars scalars;
  for (const auto& [key, value] : line.members())
    if (key != "step") add_scalars(scalars, key, value);
  for (const Json& layer : line["kernels"].items())
    for (const auto& [key, value] : layer.members())
      if (const std::string* name = layer["layer"].text())
        add_scalars(scalars, "kernels/" + key + "/" + *name, value);
  return scalars;
}

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

bool is_live_log(const std::string& name) {
  return name == console_name || name == clock_name || name == watch_page_name ||
         name.starts_with(events_prefix);
}

void LiveLog::Part::append(const std::string& bytes) try {
  if (file) file->append(bytes.data(), bytes.size());
} catch (const IoError&) {
}

LiveLog::LiveLog(FileStorage& storage, const Path& run, std::uint64_t step, bool tensorboard)
    : storage_(storage), run_(run) {
  try {
    forget_after(step);
    console_.file = storage.open_append(run / console_name);
    clock_.file = storage.open_append(run / clock_name);
    if (tensorboard) open_events(step);
  } catch (const IoError&) {
  }
}

void LiveLog::open_events(std::uint64_t step) {
  const double now = seconds_since_1970();
  const std::string name =
      events_prefix + std::to_string(std::uint64_t(now)) + ".bochner." + std::to_string(::getpid());
  events_.file = storage_.open_append(run_ / name);
  events_.append(tf_record(version_event(now)) + tf_record(start_event(now, step)));
}

void LiveLog::forget_after(std::uint64_t step) {
  if (!storage_.exists(run_ / clock_name)) return;
  const std::string before = read_file(storage_, run_ / clock_name);
  std::string kept;
  for_each_line(before, [&](std::string_view line, std::size_t) {
    const auto at = Json::parse(line)["step"].number();
    if (at && *at <= double(step)) kept.append(line).append("\n");
  });
  if (kept != before) commit_file(storage_, run_ / clock_name, kept);
}

void LiveLog::metrics(const Json& line, double seconds) {
  const auto step = std::uint64_t(line["step"].number().value_or(0));
  const std::uint64_t memory = resident_bytes();
  const bool of_training = line["loss"].number().has_value();
  if (of_training)
    clock_.append(Json{{"step", step}, {"seconds", seconds}, {"memory", memory}}.line() + "\n");
  if (!events_.file) return;
  Scalars scalars = scalars_of(line);
  if (of_training) {
    scalars.emplace_back("seconds", seconds);
    scalars.emplace_back("memory", double(memory));
  }
  events_.append(tf_record(scalar_event(seconds_since_1970(), step, scalars)));
}

}  // namespace bochner
