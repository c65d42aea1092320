#pragma once
#include <cstdint>
#include <functional>
#include <future>
#include <optional>
#include <stop_token>

namespace bochner {

class ByteCorpus;

/// Fingerprint of large files, which must outlive it. The destructor cancels its thread.
class BackgroundDigest {
 public:
  explicit BackgroundDigest(const ByteCorpus& corpus);
  ~BackgroundDigest() { stop_.request_stop(); }
  BackgroundDigest(const BackgroundDigest&) = delete;
  BackgroundDigest& operator=(const BackgroundDigest&) = delete;

  /// Whether all files are read, or reading failed.
  bool is_ready() const;
  /// Waits until is_ready(); returns false if `stopped`, polled meanwhile, returns true first.
  bool wait(const std::function<bool()>& stopped) const;
  /// Waits for the fingerprint and returns it. Throws the error with which reading failed.
  std::uint64_t value() const { return digest_.get().value(); }

 private:
  std::stop_source stop_;
  std::shared_future<std::optional<std::uint64_t>> digest_;
};

}  // namespace bochner
