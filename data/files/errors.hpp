#pragma once
/// What can be wrong with the data of a run. The messages are one line: what, where, what to do.

#include <stdexcept>

namespace bochner {

/// The data are there but cannot be used; the command ends with exit code 65.
struct DataError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A file cannot be opened or read; the command ends with exit code 74.
struct IoError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace bochner
