#pragma once
/// Errors of data and files. A message is one line: place, fact, remedy.

#include <stdexcept>
#include <string>
#include <type_traits>

namespace bochner {

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

/// Data that cannot be used; the command exits with code 65.
struct DataError : std::runtime_error {
  template <class... Parts>
  explicit DataError(const Parts&... parts) : runtime_error(in_words(parts...)) {}
};

/// A file that cannot be opened or read; the command exits with code 74.
struct IoError : std::runtime_error {
  template <class... Parts>
  explicit IoError(const Parts&... parts) : runtime_error(in_words(parts...)) {}
};

}  // namespace bochner
