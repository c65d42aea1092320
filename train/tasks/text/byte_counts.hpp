#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace bochner {

/// A naive language model: counts of bytes after the two bytes before, smoothed with the shorter
/// contexts by the number of distinct bytes after each (Witten and Bell, "The zero-frequency
/// problem", 1991).
class ByteCounts {
 public:
  ByteCounts();
  /// Counts the bytes of a text.
  void add(std::string_view text);
  /// Returns -log2 p of the bytes of a text from number `first` on, given those before them.
  double bits(std::string_view text, std::size_t first = 0) const;

 private:
  /// Counts of each byte after each context of so many bytes.
  struct Order {
    using Counts = std::array<std::uint32_t, 256>;
    std::vector<std::unique_ptr<Counts>> counts;  ///< null for contexts that did not occur
    std::vector<std::uint32_t> totals, distinct;

    explicit Order(std::size_t contexts);
    void add(std::size_t context, std::uint8_t byte);
    double probability(std::size_t context, std::uint8_t byte, double shorter) const;
  };
  std::array<Order, 3> orders_;
};

/// Returns the entropy of the bytes counted, in bits per byte.
double entropy_of_bytes(const std::array<std::uint64_t, 256>& counts);

}  // namespace bochner
