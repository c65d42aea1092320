#pragma once

#include <unistd.h>

#include <utility>

namespace bochner {

/// An open file of the system, closed at the end; -1 for none.
class Descriptor {
 public:
  explicit Descriptor(int value) : value_(value) {}
  ~Descriptor() {
    if (value_ >= 0) ::close(value_);
  }
  Descriptor(Descriptor&& other) noexcept : value_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(value_, other.value_);
    return *this;
  }
  int value() const { return value_; }
  /// Gives it up: whoever calls this closes it.
  int release() { return std::exchange(value_, -1); }

 private:
  int value_;
};

}  // namespace bochner
