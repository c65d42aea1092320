#pragma once
/// What can be wrong with the data of a run. The messages are one line: what, where, what to do.

#include <stdexcept>
#include <string>
#include <type_traits>

namespace bochner {

/// Texts and numbers, one after the other.
template <class... Parts>
std::string in_words(const Parts&... parts) {
  std::string words;
  const auto append = [&words]<class Part>(const Part& part) {
    if constexpr (std::is_arithmetic_v<Part>) {
      words += std::to_string(part);
    } else {
      words += part;
    }
  };
  (append(parts), ...);
  return words;
}

/// The data are there but cannot be used; the command ends with exit code 65.
struct DataError : std::runtime_error {
  template <class... Parts>
  explicit DataError(const Parts&... parts) : runtime_error(in_words(parts...)) {}
};

/// A file cannot be opened or read; the command ends with exit code 74.
struct IoError : std::runtime_error {
  template <class... Parts>
  explicit IoError(const Parts&... parts) : runtime_error(in_words(parts...)) {}
};

}  // namespace bochner
