#pragma once

#include <fstream>
#include <sstream>
#include <string>

namespace bochner {

/// Reads a file in tests/golden/arrays.
inline std::string golden_file(const std::string& name) {
  std::ostringstream text;
  text
      << std::ifstream(BOCHNER_SOURCE_DIR "/tests/golden/arrays/" + name, std::ios::binary).rdbuf();
  return text.str();
}

}  // namespace bochner
