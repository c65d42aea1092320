#include <unistd.h>

#include <bochner/train/distributed/processes.hpp>
#include <cstring>
#include <thread>

namespace bochner {

void Patience::rest() {
  if (std::chrono::steady_clock::now() - start_ < std::chrono::microseconds(200))
    std::this_thread::yield();
  else
    std::this_thread::sleep_for(std::chrono::microseconds(50));
}

std::string Processes::host_name() {
  char name[256] = {};
  ::gethostname(name, sizeof name - 1);
  return name;
}

Processes::Processes(std::unique_ptr<Transport> transport) : transport_(std::move(transport)) {
  hosts_ = texts(host_name());
}

Processes& Processes::alone() {
  static Processes one;
  return one;
}

void Processes::share_bytes(void* data, std::size_t bytes, std::size_t first, std::size_t last) {
  if (last - first == 1) return;
  const std::size_t middle = Leaves::middle(first, last);
  if (rank() == first) transport_->send(middle, data, bytes);
  if (rank() == middle) transport_->receive(first, data, bytes);
  rank() < middle ? share_bytes(data, bytes, first, middle)
                  : share_bytes(data, bytes, middle, last);
}

void Processes::share(std::vector<std::string>& texts) {
  if (size() == 1) return;
  std::string all = packed(texts);
  share(all);
  texts = unpacked(all);
}

std::vector<double> Processes::largest(std::vector<double> mine) {
  return join<std::vector<double>>(
      size(), [&](std::size_t) { return mine; },
      [](std::vector<double>& left, const std::vector<double>& right) {
        for (std::size_t i = 0; i < left.size(); ++i) left[i] = std::max(left[i], right[i]);
      });
}

std::string Processes::first_text(const std::string& mine) {
  return join<std::string>(
      size(), [&](std::size_t) { return mine; },
      [](std::string& left, const std::string& right) {
        if (left.empty()) left = right;
      });
}

std::vector<std::string> Processes::texts(const std::string& mine) {
  return unpacked(join<std::string>(
      size(), [&](std::size_t) { return packed({mine}); },
      [](std::string& left, const std::string& right) { left += right; }));
}

/// Packs each text after its size.
std::string packed(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) {
    const std::size_t size = text.size();
    all.append(reinterpret_cast<const char*>(&size), sizeof size) += text;
  }
  return all;
}

std::vector<std::string> unpacked(std::string_view text) {
  std::vector<std::string> texts;
  for (std::size_t size = 0; !text.empty(); text.remove_prefix(size)) {
    std::memcpy(&size, text.data(), sizeof size);
    text.remove_prefix(sizeof size);
    texts.emplace_back(text.substr(0, size));
  }
  return texts;
}

std::optional<std::size_t> first_other(const std::vector<std::string>& texts) {
  const auto other =
      std::ranges::find_if(texts, [&](const std::string& text) { return text != texts[0]; });
  if (other == texts.end()) return std::nullopt;
  return std::size_t(other - texts.begin());
}

}  // namespace bochner
