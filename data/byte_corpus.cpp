#include <algorithm>
#include <bochner/autodiff/shape.hpp>
#include <bochner/data/byte_corpus.hpp>
#include <bochner/data/files/digest.hpp>

namespace bochner {
namespace {

constexpr std::uint64_t block_size = 1 << 20;
constexpr std::uint64_t block_limit = 64;

/// Where block `index` of the fingerprint begins: without gaps while all bytes fit.
std::uint64_t block_begin(std::uint64_t index, std::uint64_t size) {
  if (size <= block_size * block_limit) return index * block_size;
  const std::uint64_t gaps = block_limit - 1, rest = size - block_size;
  return rest / gaps * index + rest % gaps * index / gaps;  // rest * index may be too large
}

}  // namespace

ByteCorpus::ByteCorpus(const std::vector<std::filesystem::path>& files) : starts_{0} {
  for (const auto& path : files) {
    files_.emplace_back(path);
    starts_.push_back(starts_.back() + files_.back().size());
  }
  fingerprint_ = hash_contents();
}

void ByteCorpus::read(std::uint64_t begin, std::span<std::uint8_t> out) const {
  require(begin <= size() && out.size() <= size() - begin, "byte_corpus", "bytes ", begin, " to ",
          begin + out.size(), " of ", size(), " do not exist");
  auto file = std::size_t(std::ranges::upper_bound(starts_, begin) - starts_.begin()) - 1;
  for (; !out.empty(); ++file) {
    const std::size_t count = std::min<std::uint64_t>(starts_[file + 1] - begin, out.size());
    files_[file].read_at(begin - starts_[file], out.first(count));
    out = out.subspan(count);
    begin += count;
  }
}

std::uint64_t ByteCorpus::hash_contents() const {
  Digest digest;
  digest.update(starts_.data(), starts_.size() * sizeof(starts_[0]));
  std::vector<std::uint8_t> block(block_size);
  const std::uint64_t blocks = std::min(block_limit, (size() + block_size - 1) / block_size);
  for (std::uint64_t i = 0; i < blocks; ++i) {
    const std::uint64_t begin = block_begin(i, size());
    const std::span bytes(block.data(), std::min(block_size, size() - begin));
    read(begin, bytes);
    digest.update(bytes.data(), bytes.size());
  }
  return digest.value();
}

}  // namespace bochner
