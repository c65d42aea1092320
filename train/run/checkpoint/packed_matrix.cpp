#include <algorithm>
#include <bit>
#include <bochner/autodiff/compute/ordered_sums.hpp>
#include <bochner/autodiff/ops/linalg.hpp>
#include <bochner/base/errors.hpp>
#include <bochner/train/run/checkpoint/packed_matrix.hpp>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace bochner {
namespace {

struct PackedHeader {
  std::uint16_t bits, sparse;
  std::uint32_t rank;
};

bool has_units(int bits) { return bits >= 2 && bits <= 16; }
bool is_packing(int bits) { return bits == 1 || has_units(bits) || bits == 32; }

class BitWriter {
 public:
  explicit BitWriter(std::string& bytes) : bytes_(bytes) {}
  void add(std::uint32_t value, int bits) {
    for (int i = 0; i < bits; ++i, ++used_) {
      if (used_ % 8 == 0) bytes_ += '\0';
      bytes_.back() = char(bytes_.back() | (value >> i & 1) << used_ % 8);
    }
  }

 private:
  std::string& bytes_;
  std::size_t used_ = 0;
};

/// Reader of packed bytes from first to last.
class PackedReader {
 public:
  explicit PackedReader(std::string_view bytes) : rest_(bytes) {}
  std::string_view take(std::size_t count) {
    if (count > rest_.size())
      throw DataError("a packed matrix ends ", count - rest_.size(), " bytes early");
    const std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
  }
  std::string_view take_bits(std::size_t count, int bits) {
    return take(ceil_div(count * std::size_t(bits), 8));
  }
  template <class Number>
  Number number() {
    Number value;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }
  bool ends() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

std::uint32_t bits_at(std::string_view bytes, std::size_t first, int bits) {
  std::uint32_t value = 0;
  for (int i = 0; i < bits; ++i) {
    const std::size_t place = first + std::size_t(i);
    value |= std::uint32_t(std::uint8_t(bytes[place / 8]) >> place % 8 & 1) << i;
  }
  return value;
}

template <class Number>
void append(std::string& bytes, const Number& number) {
  bytes.append(reinterpret_cast<const char*>(&number), sizeof number);
}

/// Returns the largest quantized magnitude.
int most_units(int bits) { return (1 << (bits - 1)) - 1; }

/// Returns the scale of each row: its largest magnitude becomes the largest multiple.
std::vector<float> units_of(const Tensor& w, int bits) {
  const std::size_t N = w.shape()[1];
  std::vector<float> units;
  for (std::size_t r = 0; r < w.shape()[0]; ++r) {
    float largest = 0;
    for (std::size_t j = 0; j < N; ++j)
      largest = std::max(largest, std::abs(float(w.data()[r * N + j])));
    units.push_back(largest > 0 ? largest / float(most_units(bits)) : 1);
  }
  return units;
}

void append_matrix(const Tensor& w, const Packing& packing, std::string& bytes) {
  const std::size_t N = w.shape()[1];
  if (packing.sparse) {
    BitWriter places(bytes);
    for (const real value : w) places.add(value != 0, 1);
  }
  const std::vector<float> units =
      has_units(packing.bits) ? units_of(w, packing.bits) : std::vector<float>();
  for (const float unit : units) append(bytes, unit);
  BitWriter entries(bytes);
  for (std::size_t i = 0; i < w.size(); ++i) {
    const float value = float(w.data()[i]);
    if (packing.sparse && value == 0) continue;
    if (packing.bits == 32) {
      append(bytes, value);
    } else if (packing.bits == 1) {
      entries.add(value != 0, 1);
    } else {
      const int most = most_units(packing.bits);
      const int multiple = int(std::nearbyint(value / units[i / N]));
      entries.add(std::uint32_t(std::clamp(multiple, -most, most)), packing.bits);
    }
  }
}

float entry_of(std::uint32_t code, int bits, float unit) {
  if (bits == 1) return float(code);
  if (bits == 32) return std::bit_cast<float>(code);
  const std::int32_t sign = 1 << (bits - 1);
  return unit * float((std::int32_t(code) ^ sign) - sign);
}

void read_matrix(PackedReader& reader, const PackedHeader& header, Tensor& w) {
  const std::size_t rows = w.shape()[0], N = w.shape()[1];
  const int bits = header.bits;
  const std::string_view there = header.sparse ? reader.take_bits(w.size(), 1) : "";
  std::size_t count = header.sparse ? 0 : w.size();
  for (const char byte : there) count += std::size_t(std::popcount(std::uint8_t(byte)));
  const std::string_view units_there = reader.take_bits(has_units(bits) ? rows : 0, 32);
  std::vector<float> units(units_there.size() / sizeof(float));
  std::ranges::copy(units_there, reinterpret_cast<char*>(units.data()));
  const std::string_view entries = reader.take_bits(count, bits);
  for (std::size_t i = 0, k = 0; i < w.size(); ++i) {
    const bool is_there = !header.sparse || bits_at(there, i, 1);
    const std::uint32_t code = is_there ? bits_at(entries, std::size_t(bits) * k++, bits) : 0;
    w.data()[i] = is_there ? real(entry_of(code, bits, units.empty() ? 1 : units[i / N])) : 0;
  }
}

std::string begin_packed(const Packing& packing, std::size_t rank) {
  require(is_packing(packing.bits), "pack_matrix", "bits must be 1, 2 to 16 or 32, not ",
          packing.bits);
  std::string bytes;
  append(bytes, PackedHeader{std::uint16_t(packing.bits), packing.sparse, std::uint32_t(rank)});
  return bytes;
}

void require_packable(const Tensor& w) {
  require(
      w.dimension() == 2 && w.size() <= most_packed_entries && w.shape()[0] <= most_packed_entries,
      "pack_matrix", "needs a matrix of at most ", most_packed_entries, " entries: ", w.shape());
}

}  // namespace

std::string pack_matrix(const Tensor& w, const Packing& packing) {
  require_packable(w);
  std::string bytes = begin_packed(packing, 0);
  append_matrix(w, packing, bytes);
  return bytes;
}

std::string pack_product(const Tensor& left, const Tensor& right, const Packing& packing) {
  require_packable(left);
  require_packable(right);
  require(left.shape()[1] == right.shape()[0] && right.shape()[0] >= 1, "pack_product",
          "needs (M, r) and (r, N) with r >= 1: ", left.shape(), " and ", right.shape());
  std::string bytes = begin_packed(packing, right.shape()[0]);
  append_matrix(left, packing, bytes);
  append_matrix(right, packing, bytes);
  return bytes;
}

void unpack_matrix(std::string_view bytes, Tensor& w) {
  require_packable(w);
  PackedReader reader(bytes);
  const auto header = reader.number<PackedHeader>();
  const std::size_t M = w.shape()[0], N = w.shape()[1];
  if (!is_packing(header.bits) || header.sparse > 1 || header.rank > std::min(M, N))
    throw DataError("a packed matrix claims ", header.bits, " bits and rank ", header.rank, " for ",
                    to_string(w.shape()));
  if (header.rank == 0) {
    read_matrix(reader, header, w);
  } else {
    Tensor left = uninitialized({M, header.rank}), right = uninitialized({header.rank, N});
    read_matrix(reader, header, left);
    read_matrix(reader, header, right);
    w = matmul(Var(std::move(left)), Var(std::move(right))).value();
  }
  if (!reader.ends()) throw DataError("a packed matrix has trailing bytes");
}

}  // namespace bochner
