#pragma once
#include <functional>
#include <string>

namespace bochner {

/// The text that `body` returns in a process of its own, whose memory starts from nothing. To be
/// called before loops run in this process. Throws std::runtime_error when `body` throws or the
/// process is killed.
std::string in_child(const std::function<std::string()>& body);

/// The most memory that this process has ever had, in bytes.
double peak_memory();

}  // namespace bochner
