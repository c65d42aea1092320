#pragma once
/// Terminal of the standard output: size, characters, lines in place.

#include <cstddef>
#include <string>
#include <vector>

namespace bochner {

struct TerminalSize {
  std::size_t columns = 80, rows = 24;  ///< if unknown
};
TerminalSize terminal_size();
/// Whether the environment indicates UTF-8 and a terminal that can show block characters.
bool shows_blocks();

/// Lines that overwrite each other. On a terminal they must not be wider than it is.
class LinesInPlace {
 public:
  /// Writes the lines with their ends; flush the standard output afterwards.
  void show(const std::vector<std::string>& lines);

 private:
  std::size_t shown_ = 0;
};

}  // namespace bochner
