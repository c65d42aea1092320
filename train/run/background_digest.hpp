#pragma once
#include <cstdint>
#include <functional>
#include <future>
#include <optional>
#include <stop_token>

namespace bochner {

class ByteCorpus;

/// The fingerprint of large files, read on a thread of its own, which gives up when this is
/// destroyed. The files must outlive it.
class BackgroundDigest {
 public:
  explicit BackgroundDigest(const ByteCorpus& corpus);
  ~BackgroundDigest() { stop_.request_stop(); }
  BackgroundDigest(const BackgroundDigest&) = delete;
  BackgroundDigest& operator=(const BackgroundDigest&) = delete;

  /// Whether all is read, or reading failed.
  bool is_ready() const;
  /// Returns when it is ready; false when `stopped`, asked again and again, says so before.
  bool wait(const std::function<bool()>& stopped) const;
  /// When it is ready. Throws what went wrong while the files were read.
  std::uint64_t value() const { return digest_.get().value(); }

 private:
  std::stop_source stop_;
  std::shared_future<std::optional<std::uint64_t>> digest_;
};

}  // namespace bochner
