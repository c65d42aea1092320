#pragma once

#include <unistd.h>

namespace bochner {

/// Makes the process an ordinary user while it lives, because root may read everything.
class Unprivileged {
 public:
  Unprivileged() : user_(::geteuid()) {
    if (user_ == 0) dropped_ = ::seteuid(65534) == 0;
  }
  ~Unprivileged() {
    if (dropped_ && ::seteuid(user_) != 0) ::_exit(1);
  }
  Unprivileged(const Unprivileged&) = delete;
  bool works() const { return ::geteuid() != 0; }

 private:
  uid_t user_;
  bool dropped_ = false;
};

}  // namespace bochner
