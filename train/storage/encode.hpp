#pragma once
/// Values as the bytes that BoundedInputArchive reads.

#include <cereal/archives/binary.hpp>
#include <cereal/types/string.hpp>
#include <cereal/types/vector.hpp>
#include <sstream>
#include <string>

namespace bochner {

/// The bytes of a number, text, vector, or struct with serialize().
template <class Value>
std::string encoded(Value& value) {
  std::ostringstream out;
  cereal::BinaryOutputArchive archive(out);
  archive(value);
  return std::move(out).str();
}

}  // namespace bochner
