#include <fmt/format.h>

#include <bit>
#include <bochner/base/errors.hpp>
#include <bochner/base/text.hpp>
#include <bochner/train/run/checkpoint/safetensors.hpp>
#include <bochner/train/storage/json.hpp>
#include <cmath>
#include <cstring>
#include <limits>

namespace bochner {
namespace {

constexpr std::uint64_t longest_header = 100'000'000;  // limit of the format

/// IEEE 754 binary16: a sign, 5 bits of exponent, 10 of fraction.
struct Half {
  std::uint16_t bits;
  Half() = default;
  /// Rounds to the nearest number, ties to even.
  explicit Half(real x) : bits(std::signbit(x) ? 0x8000 : 0) {
    const double size = std::abs(double(x));
    if (!(size < 65520)) {
      bits |= std::isnan(x) ? 0x7e00 : 0x7c00;
    } else if (size > 0) {
      const int exponent = std::max(std::ilogb(size), -14);
      bits += std::uint16_t(((exponent + 14) << 10) +
                            int(std::nearbyint(std::ldexp(size, 10 - exponent))));
    }
  }
  explicit operator real() const {
    const int exponent = bits >> 10 & 31, fraction = bits & 1023;
    const double size = exponent == 0   ? std::ldexp(fraction, -24)
                        : exponent < 31 ? std::ldexp(1024 + fraction, exponent - 25)
                        : fraction == 0 ? std::numeric_limits<double>::infinity()
                                        : std::numeric_limits<double>::quiet_NaN();
    return real(bits >> 15 ? -size : size);
  }
};

/// bfloat16, the upper half of a float.
struct BrainFloat {
  std::uint16_t bits;
  BrainFloat() = default;
  /// Rounds to the nearest number, ties to even.
  explicit BrainFloat(real x) {
    const auto all = std::bit_cast<std::uint32_t>(float(x));
    bits = std::uint16_t(std::isnan(x) ? all >> 16 | 0x40 : (all + 0x7fff + (all >> 16 & 1)) >> 16);
  }
  explicit operator real() const { return std::bit_cast<float>(std::uint32_t(bits) << 16); }
};

/// Converts numbers at unaligned bytes.
template <class Number>
void load(const char* from, std::size_t count, real* to) {
  for (std::size_t i = 0; i < count; ++i) {
    Number number;
    std::memcpy(&number, from + i * sizeof number, sizeof number);
    to[i] = real(number);
  }
}
/// Appends numbers to `bytes`. Returns whether all that are finite stay so.
template <class Number>
bool store(const real* from, std::size_t count, std::string& bytes) {
  bool fits = true;
  for (std::size_t i = 0; i < count; ++i) {
    const Number number(from[i]);
    fits = fits && (std::isfinite(real(number)) || !std::isfinite(from[i]));
    bytes.append(reinterpret_cast<const char*>(&number), sizeof number);
  }
  return fits;
}

/// A float type of the format.
struct FloatType {
  std::string_view name;
  std::size_t bytes;
  void (*load)(const char* from, std::size_t count, real* to);
  bool (*store)(const real* from, std::size_t count, std::string& bytes);
  std::string_view larger;  ///< types that hold larger numbers
};
constexpr FloatType float_types[] = {{"F16", 2, load<Half>, store<Half>, "F32 or BF16"},
                                     {"BF16", 2, load<BrainFloat>, store<BrainFloat>, "F32"},
                                     {"F32", 4, load<float>, store<float>, "F64"},
                                     {"F64", 8, load<double>, store<double>, ""}};

/// Returns null for other types.
const FloatType* float_type(std::string_view name) {
  const auto found = std::ranges::find(float_types, name, &FloatType::name);
  return found == std::end(float_types) ? nullptr : found;
}

std::string safetensors_header(const std::vector<TensorRecord>& tensors,
                               const SafetensorsTexts& texts, const FloatType& type) {
  Json metadata = {{"format", "bochner"}};
  for (const auto& [key, text] : texts) metadata.set(key, text);
  Json header = {{"__metadata__", metadata}};
  std::uint64_t offset = 0;
  for (const TensorRecord& tensor : tensors) {
    const std::uint64_t end = offset + element_count(tensor.shape) * type.bytes;
    header.set(tensor.name, {{"dtype", type.name},
                             {"shape", Json::array(tensor.shape)},
                             {"data_offsets", Json::array({offset, end})}});
    offset = end;
  }
  std::string text = header.line();
  text.resize(round_up(text.size(), 8), ' ');
  return text;
}

/// Marks an invalid size or offset.
constexpr std::uint64_t no_number = ~std::uint64_t(0);

std::uint64_t whole(const Json& json) { return json.count().value_or(no_number); }

/// Throws DataError unless the tensors fill the data without gaps or overlaps.
void require_no_gaps(const std::string& name, std::vector<ByteSpan> parts, ByteSpan data) {
  std::ranges::sort(parts, [](ByteSpan one, ByteSpan other) {
    return std::pair(one.data(), one.size()) < std::pair(other.data(), other.size());
  });
  const std::uint8_t* end = data.data();
  for (const ByteSpan part : parts) {
    if (part.data() != end)
      throw DataError(name, ": tensors overlap, or there are gaps between them; write it again");
    end += part.size();
  }
  if (end != data.data() + data.size())
    throw DataError(name, ": trailing bytes after the last tensor; write it again");
}

}  // namespace

SafetensorsTexts texts_of(const CheckpointReader& checkpoint) {
  const TrainerState& state = checkpoint.state();
  return {{"config", checkpoint.config()},
          {"facts", to_hex(checkpoint.facts())},
          {"step", std::to_string(state.step)},
          {"tokens", std::to_string(state.tokens)},
          {"examples", std::to_string(state.examples)}};
}

std::vector<std::string> safetensors_types() {
  std::vector<std::string> names;
  for (const FloatType& type : float_types) names.emplace_back(type.name);
  return names;
}

void write_safetensors(const Sink& sink, std::vector<TensorRecord> tensors,
                       const SafetensorsTexts& texts, const std::string& type_name) {
  const FloatType* type = float_type(type_name);
  require(type != nullptr, "safetensors", "no float type ", type_name);
  std::ranges::sort(tensors, {}, &TensorRecord::name);
  const auto twins = std::ranges::adjacent_find(tensors, {}, &TensorRecord::name);
  require(twins == tensors.end(), "safetensors", "two tensors are named ",
          twins == tensors.end() ? "" : twins->name);
  const std::string header = safetensors_header(tensors, texts, *type);
  const std::uint64_t length = header.size();
  sink({reinterpret_cast<const char*>(&length), sizeof length});
  sink(header);
  for (const TensorRecord& tensor : tensors) {
    std::string bytes;
    if (type->name == type_of_real) {
      sink({reinterpret_cast<const char*>(tensor.data), tensor.bytes()});
      continue;
    }
    if (!type->store(tensor.data, element_count(tensor.shape), bytes))
      throw std::invalid_argument(fmt::format("{} has a number that {} cannot hold; write {}",
                                              tensor.name, type->name, type->larger));
    sink(bytes);
  }
}

Safetensors::Safetensors(ByteSpan file, std::string name) : name_(std::move(name)) {
  std::uint64_t length = 0;
  if (file.size() < sizeof length) throw DataError(name_, ": not a safetensors file");
  std::memcpy(&length, file.data(), sizeof length);
  if (length > longest_header || length > file.size() - sizeof length)
    throw DataError(name_, ": not a safetensors file, or truncated: a header of ", length,
                    " bytes");
  const ByteSpan data = file.subspan(sizeof length + length);
  const Json header = Json::parse(
      {reinterpret_cast<const char*>(file.data()) + sizeof length, std::size_t(length)});
  if (!header.is_object()) throw DataError(name_, ": its header is not a JSON object");
  for (const auto& [key, value] : header["__metadata__"].members())
    if (value.text()) texts_[key] = *value.text();
  std::vector<ByteSpan> parts;
  for (const auto& [key, value] : header.members()) {
    if (key == "__metadata__") continue;
    const Entry& entry = tensors_[key] = entry_of(key, value, data);
    parts.push_back(entry.bytes);
  }
  require_no_gaps(name_, std::move(parts), data);
}

Safetensors::Entry Safetensors::entry_of(const std::string& key, const Json& value,
                                         ByteSpan data) const {
  const std::string* dtype = value["dtype"].text();
  const FloatType* type = dtype ? float_type(*dtype) : nullptr;
  if (!type) throw DataError(name_, ": ", printable(key), " is not of type F16, BF16, F32 or F64");
  std::vector<std::uint64_t> dims;
  for (const Json& size : value["shape"].items()) dims.push_back(whole(size));
  const Json::Items& offsets = value["data_offsets"].items();
  const std::uint64_t first = offsets.size() == 2 ? whole(offsets[0]) : no_number,
                      last = offsets.size() == 2 ? whole(offsets[1]) : no_number;
  const auto bytes = checked_bytes(dims, type->bytes);
  if (!bytes || first > last || last > data.size() || last - first != *bytes)
    throw DataError(name_, ": ", printable(key),
                    " exceeds the file or does not have the size of its shape");
  return {Shape(dims.begin(), dims.end()), *dtype, data.subspan(first, *bytes)};
}

std::string Safetensors::text(const std::string& key) const {
  const auto found = texts_.find(key);
  return found == texts_.end() ? "" : found->second;
}

std::string Safetensors::copy_into(const std::string& name, Tensor& tensor) const {
  const auto found = tensors_.find(name);
  if (found == tensors_.end()) return name + " is missing";
  const Entry& entry = found->second;
  if (entry.shape != tensor.shape())
    return fmt::format("{} is {} in the file and {} in the model", name, to_string(entry.shape),
                       to_string(tensor.shape()));
  float_type(entry.type)
      ->load(reinterpret_cast<const char*>(entry.bytes.data()), tensor.size(), tensor.data());
  return "";
}

}  // namespace bochner
