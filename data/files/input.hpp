#pragma once

#include <bochner/data/files/gzip.hpp>
#include <bochner/data/files/regular_file.hpp>
#include <functional>
#include <optional>
#include <string_view>

namespace bochner {

/// Largest size of a decompressed file or of standard input.
constexpr std::uint64_t input_limit = std::uint64_t(1) << 30;

/// Returns the largest size that a file can have, from its first `input_front` bytes at most.
using InputDemand = std::function<std::uint64_t(ByteSpan front, const std::string& name)>;
constexpr std::size_t input_front = 1 << 17;

/// All bytes of a file, or of standard input for "-". A plain file is mapped; a gzip file
/// (recognized by its first bytes) and standard input are held in memory. Throws what MappedFile
/// and gunzip throw, and DataError beyond `limit` bytes, or the size that `demand` returns.
class Input {
 public:
  explicit Input(const std::filesystem::path& path, std::uint64_t limit = input_limit);
  Input(const std::filesystem::path& path, const InputDemand& demand);

  const std::string& name() const { return name_; }
  ByteSpan bytes() const { return mapped_ ? mapped_->bytes() : ByteSpan(held_); }
  std::string_view text() const {
    return {reinterpret_cast<const char*>(bytes().data()), bytes().size()};
  }

 private:
  std::string name_;
  std::optional<MappedFile> mapped_;
  Bytes held_;
};

}  // namespace bochner
