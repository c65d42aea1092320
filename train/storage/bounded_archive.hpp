#pragma once
/// A cereal input archive for bytes that may be anything: nothing is sized beyond what is there.

#include <bochner/data/files/errors.hpp>
#include <cereal/cereal.hpp>
#include <cereal/types/string.hpp>
#include <cereal/types/vector.hpp>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>

namespace bochner {

/// Reads what cereal::BinaryOutputArchive wrote. Throws DataError for a container that claims more
/// elements than bytes are left, for containers that claim more than the input in sum, for structs
/// nested deeper than `max_depth`, and for input that ends early. No pointers, no polymorphism.
class BoundedInputArchive
    : public cereal::InputArchive<BoundedInputArchive, cereal::AllowEmptyClassElision> {
 public:
  static constexpr int max_depth = 16;

  explicit BoundedInputArchive(std::string_view bytes)
      : InputArchive(this), rest_(bytes), budget_(bytes.size()) {}

  void read(void* data, std::size_t bytes) {
    if (bytes > rest_.size()) {
      throw DataError("ends early: " + std::to_string(bytes) + " bytes wanted, " +
                      std::to_string(rest_.size()) + " left");
    }
    if (bytes > 0) std::memcpy(data, rest_.data(), bytes);
    rest_.remove_prefix(bytes);
  }

  /// The number of elements of a container; each takes at least one byte of the input.
  std::uint64_t read_count() {
    std::uint64_t count = 0;
    read(&count, sizeof count);
    if (count > rest_.size() || count > budget_) {
      throw DataError("a container claims " + std::to_string(count) + " elements with " +
                      std::to_string(rest_.size()) + " bytes left");
    }
    budget_ -= count;
    return count;
  }

  void enter() {
    if (++depth_ > max_depth) throw DataError("nested deeper than " + std::to_string(max_depth));
  }
  void leave() { --depth_; }
  std::size_t bytes_left() const { return rest_.size(); }

 private:
  std::string_view rest_;
  std::uint64_t budget_;
  int depth_ = 0;
};

template <class T>
void prologue(BoundedInputArchive& archive, const T&) {
  archive.enter();
}

template <class T>
void epilogue(BoundedInputArchive& archive, const T&) {
  archive.leave();
}

template <class T>
requires std::is_arithmetic_v<T>
void CEREAL_LOAD_FUNCTION_NAME(BoundedInputArchive& archive, T& value) {
  static_assert(!std::is_same_v<T, bool>, "a byte that is not 0 or 1 is no bool: store an integer");
  archive.read(&value, sizeof value);
}

template <class T>
void CEREAL_LOAD_FUNCTION_NAME(BoundedInputArchive& archive, cereal::SizeTag<T>& tag) {
  tag.size = archive.read_count();
}

template <class T>
void CEREAL_LOAD_FUNCTION_NAME(BoundedInputArchive& archive, cereal::BinaryData<T>& data) {
  archive.read(data.data, data.size);
}

}  // namespace bochner
