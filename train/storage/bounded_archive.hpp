#pragma once
/// Input archive for untrusted bytes: allocates no more than the input can fill.

#include <bochner/base/errors.hpp>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace bochner {

/// Archive that reads the output of cereal::BinaryOutputArchive: numbers, texts, vectors, and
/// structs of them with serialize(), as members or as free functions. Throws DataError for a
/// container that claims more elements than bytes are left, for containers that claim more than the
/// input in sum, for structs nested deeper than `max_depth`, and for truncated input.
class BoundedInputArchive {
 public:
  static constexpr int max_depth = 16;

  explicit BoundedInputArchive(std::string_view bytes) : rest_(bytes), budget_(bytes.size()) {}

  template <class... Values>
  void operator()(Values&... values) {
    (read(values), ...);
  }

  /// Reads the number of elements of a container; each takes at least one byte of the input.
  std::uint64_t read_count() {
    std::uint64_t count = 0;
    read(count);
    if (count > rest_.size() || count > budget_)
      throw DataError("a container claims ", count, " elements with ", rest_.size(), " bytes left");
    budget_ -= count;
    return count;
  }

  std::size_t bytes_left() const { return rest_.size(); }

 private:
  void enter() {
    if (++depth_ > max_depth) throw DataError("nested deeper than ", max_depth);
  }
  template <class Value>
  void read(Value& value) {
    if constexpr (std::is_arithmetic_v<Value>) {
      static_assert(!std::is_same_v<Value, bool>,
                    "a byte that is not 0 or 1 is not a bool: store an integer");
      if (sizeof value > rest_.size())
        throw DataError("ends early: ", sizeof value, " bytes expected, ", rest_.size(), " left");
      std::memcpy(&value, rest_.data(), sizeof value);
      rest_.remove_prefix(sizeof value);
    } else if constexpr (requires { value.serialize(*this); }) {
      enter();
      value.serialize(*this);
      --depth_;
    } else if constexpr (requires { serialize(*this, value); }) {
      enter();
      serialize(*this, value);
      --depth_;
    } else {
      value.resize(read_count());
      for (auto& element : value) read(element);
    }
  }

  std::string_view rest_;
  std::uint64_t budget_;
  int depth_ = 0;
};

}  // namespace bochner
