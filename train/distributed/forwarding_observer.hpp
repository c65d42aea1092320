#pragma once
#include <bochner/autodiff/tape.hpp>

namespace bochner {

/// An `Observer` of tapes that tells all to another one besides, where there is one.
template <class Observer>
class ForwardingObserver : public Observer {
 public:
  explicit ForwardingObserver(TapeObserver* next) : next_(next) {}
  void step_began() override {
    if (next_) next_->step_began();
  }
  void recorded(const char* op, std::size_t bytes) override {
    if (next_) next_->recorded(op, bytes);
  }
  void went_backward(const char* op, std::size_t bytes) override {
    if (next_) next_->went_backward(op, bytes);
  }
  void last_pass_began() override {
    if (next_) next_->last_pass_began();
  }

 private:
  TapeObserver* next_;
};

}  // namespace bochner
