#include <algorithm>
#include <bochner/train/commands/bench/pass_times.hpp>

namespace bochner {

PassTimes::PassTimes(std::vector<NamedParameter> parameters, std::size_t turns)
    : parameters_(std::move(parameters)),
      done_(parameters_.size()),
      now_(parameters_.size()),
      turns_(turns) {}

void PassTimes::last_pass_began() {
  if (begun_++ % turns_ > 0) return;
  end_pass();
  std::ranges::fill(now_, 0);
  last_ = 0;
  began_ = Clock::now();
}

void PassTimes::went_backward(const char*, std::size_t) {
  last_ = std::chrono::duration<double>(Clock::now() - began_).count() / double(turns_);
  for (std::size_t i = 0; i < parameters_.size(); ++i)
    if (now_[i] == 0 && !parameters_[i].parameter->is_in_use()) now_[i] = last_;
}

void PassTimes::end_pass() {
  if (last_ == 0) return;
  passes_.push_back(last_);
  for (std::size_t i = 0; i < now_.size(); ++i) done_[i] += now_[i] > 0 ? now_[i] : last_;
  last_ = 0;
}

}  // namespace bochner
