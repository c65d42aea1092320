#pragma once
/// Processes of a run as threads of one program: the same messages, without MPI.

#include <array>
#include <bochner/autodiff/shape.hpp>
#include <bochner/train/processes/processes.hpp>
#include <cstring>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <thread>

namespace bochner {

/// What is on the way between each two of them.
struct Post {
  explicit Post(std::size_t processes) : size(processes) {}
  std::size_t size;
  std::mutex mutex;
  std::map<std::array<std::size_t, 3>, std::deque<std::string>> boxes;  ///< from, to, channel
};

class ThreadTransport : public Transport {
 public:
  ThreadTransport(Post& post, std::size_t rank) : post_(post), rank_(rank) {}
  std::size_t rank() const override { return rank_; }
  std::size_t size() const override { return post_.size; }
  Ticket begin_send(std::size_t to, std::size_t channel, const void* data,
                    std::size_t bytes) override {
    ++sent;
    const std::lock_guard lock(post_.mutex);
    post_.boxes[{rank_, to, channel}].emplace_back(static_cast<const char*>(data), bytes);
    return 0;
  }
  Ticket begin_receive(std::size_t from, std::size_t channel, void* data,
                       std::size_t bytes) override {
    awaited_[++last_] = {from, channel, data, bytes};
    return last_;
  }
  bool is_over(Ticket ticket) override {
    if (ticket == 0) return true;
    const auto& [from, channel, data, bytes] = awaited_.at(ticket);
    const std::lock_guard lock(post_.mutex);
    auto& box = post_.boxes[{from, rank_, channel}];
    if (box.empty()) return false;
    require(box.front().size() == bytes, "receive", box.front().size(), " bytes came, not ", bytes);
    std::memcpy(data, box.front().data(), bytes);
    box.pop_front();
    awaited_.erase(ticket);
    return true;
  }
  void end() override {}

  std::size_t sent = 0;  ///< messages

 private:
  struct Awaited {
    std::size_t from, channel;
    void* data;
    std::size_t bytes;
  };
  Post& post_;
  std::size_t rank_;
  Ticket last_ = 0;
  std::map<Ticket, Awaited> awaited_;
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
