#pragma once
/// Encoding of values for BoundedInputArchive.

#include <cereal/archives/binary.hpp>
#include <cereal/types/string.hpp>
#include <cereal/types/vector.hpp>
#include <sstream>
#include <string>

namespace bochner {

/// Encodes a number, text, vector, or struct with serialize().
template <class Value>
std::string encoded(Value& value) {
  std::ostringstream out;
  cereal::BinaryOutputArchive archive(out);
  archive(value);
  return std::move(out).str();
}

}  // namespace bochner
