#include <bochner/data/text/token_windows.hpp>
#include <bochner/train/run/background_digest.hpp>
#include <chrono>

namespace bochner {

using namespace std::chrono_literals;

BackgroundDigest::BackgroundDigest(const ByteCorpus& corpus)
    : digest_(std::async(std::launch::async, [&corpus, stop = stop_.get_token()] {
        return corpus.fingerprint(stop);
      })) {}

bool BackgroundDigest::is_ready() const {
  return digest_.wait_for(0s) == std::future_status::ready;
}

bool BackgroundDigest::wait(const std::function<bool()>& stopped) const {
  while (digest_.wait_for(10ms) != std::future_status::ready)
    if (stopped && stopped()) return false;
  return true;
}

}  // namespace bochner
