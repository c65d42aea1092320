#pragma once
/// The terminal behind the standard output.

#include <cstddef>
#include <string>
#include <vector>

namespace bochner {

struct TerminalSize {
  std::size_t columns = 80, rows = 24;  ///< where it does not say
};
TerminalSize terminal_size();
/// Whether the environment promises UTF-8, and a terminal that shows more than letters.
bool shows_blocks();

/// Lines that are written over each other. On a terminal they must be no wider than it is.
class LinesInPlace {
 public:
  /// Ends each line; to be followed by a flush of the standard output.
  void show(const std::vector<std::string>& lines);

 private:
  std::size_t shown_ = 0;
};

}  // namespace bochner
