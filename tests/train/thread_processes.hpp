#pragma once
/// Processes of a run as threads of one program: the same messages, without MPI.

#include <bochner/autodiff/shape.hpp>
#include <bochner/train/processes/processes.hpp>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

namespace bochner {

/// What is on the way between each two of them.
struct Post {
  explicit Post(std::size_t processes) : size(processes), boxes(size * size) {}
  std::size_t size;
  std::mutex mutex;
  std::condition_variable arrived;
  std::vector<std::deque<std::string>> boxes;
};

class ThreadTransport : public Transport {
 public:
  ThreadTransport(Post& post, std::size_t rank) : post_(post), rank_(rank) {}
  std::size_t rank() const override { return rank_; }
  std::size_t size() const override { return post_.size; }
  void send(std::size_t to, const void* data, std::size_t bytes) override {
    const std::lock_guard lock(post_.mutex);
    post_.boxes[rank_ * post_.size + to].emplace_back(static_cast<const char*>(data), bytes);
    post_.arrived.notify_all();
  }
  void receive(std::size_t from, void* data, std::size_t bytes) override {
    std::unique_lock lock(post_.mutex);
    auto& box = post_.boxes[from * post_.size + rank_];
    post_.arrived.wait(lock, [&] { return !box.empty(); });
    require(box.front().size() == bytes, "receive", box.front().size(), " bytes came, not ", bytes);
    std::memcpy(data, box.front().data(), bytes);
    box.pop_front();
  }
  void end() override {}

 private:
  Post& post_;
  std::size_t rank_;
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
