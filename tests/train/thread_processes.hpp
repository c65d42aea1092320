#pragma once
/// Processes of a run as threads of one program: the same messages, without MPI.

#include <array>
#include <bochner/base/shape.hpp>
#include <bochner/train/distributed/processes.hpp>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

namespace bochner {

/// A message that is under way, and what its bytes were when it began.
struct Letter {
  const void* data;
  std::string bytes;
  bool taken = false;
};

/// What is on the way between each two of them.
struct Post {
  explicit Post(std::size_t processes) : size(processes) {}
  std::size_t size;
  std::mutex mutex;
  std::map<std::array<std::size_t, 3>, std::deque<std::shared_ptr<Letter>>>
      boxes;  ///< from, to, channel
};

/// As MPI where no message is small enough to be kept for its receiver: one is over for its sender
/// when it has been received, and a sender whose bytes are others by then is told.
class ThreadTransport : public Transport {
 public:
  ThreadTransport(Post& post, std::size_t rank) : post_(post), rank_(rank) {}
  std::size_t rank() const override { return rank_; }
  std::size_t size() const override { return post_.size; }
  Ticket begin_send(std::size_t to, std::size_t channel, const void* data,
                    std::size_t bytes) override {
    ++sent;
    const auto letter =
        std::make_shared<Letter>(data, std::string(static_cast<const char*>(data), bytes));
    const std::lock_guard lock(post_.mutex);
    post_.boxes[{rank_, to, channel}].push_back(letter);
    under_way_[++last_] = letter;
    return last_;
  }
  Ticket begin_receive(std::size_t from, std::size_t channel, void* data,
                       std::size_t bytes) override {
    awaited_[++last_] = {from, channel, data, bytes};
    return last_;
  }
  /// Moves all messages of this process on, as MPI does.
  bool is_over(Ticket ticket) override {
    const std::lock_guard lock(post_.mutex);
    std::erase_if(awaited_, [&](const auto& entry) { return has_come(entry.second); });
    const auto sending = under_way_.find(ticket);
    if (sending == under_way_.end()) return !awaited_.contains(ticket);
    if (!sending->second->taken) return false;
    const Letter& letter = *sending->second;
    const std::string_view now(static_cast<const char*>(letter.data), letter.bytes.size());
    require(now == letter.bytes, "send", "the bytes were changed before the message was over");
    under_way_.erase(sending);
    return true;
  }
  /// Messages that nobody has found to be over.
  std::size_t under_way() const { return under_way_.size() + awaited_.size(); }
  void end() override {}

  std::size_t sent = 0;  ///< messages

 private:
  struct Awaited {
    std::size_t from, channel;
    void* data;
    std::size_t bytes;
  };
  bool has_come(const Awaited& awaited) {
    auto& box = post_.boxes[{awaited.from, rank_, awaited.channel}];
    if (box.empty()) return false;
    Letter& letter = *box.front();
    require(letter.bytes.size() == awaited.bytes, "receive", letter.bytes.size(),
            " bytes came, not ", awaited.bytes);
    letter.bytes.copy(static_cast<char*>(awaited.data), awaited.bytes);
    letter.taken = true;
    box.pop_front();
    return true;
  }

  Post& post_;
  std::size_t rank_;
  Ticket last_ = 0;
  std::map<Ticket, Awaited> awaited_;
  std::map<Ticket, std::shared_ptr<Letter>> under_way_;
};

/// body(processes) in each of `count` of them. What is thrown must be thrown by all.
inline void run_processes(std::size_t count, const std::function<void(Processes&)>& body) {
  Post post(count);
  std::vector<std::exception_ptr> failures(count);
  {
    std::vector<std::jthread> threads;
    for (std::size_t rank = 0; rank < count; ++rank)
      threads.emplace_back([&, rank] {
        try {
          Processes processes(std::make_unique<ThreadTransport>(post, rank));
          body(processes);
        } catch (...) {
          failures[rank] = std::current_exception();
        }
      });
  }
  for (const std::exception_ptr& failure : failures)
    if (failure) std::rethrow_exception(failure);
}

}  // namespace bochner
