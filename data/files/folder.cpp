#include <dirent.h>

#include <algorithm>
#include <bochner/data/files/folder.hpp>
#include <cerrno>
#include <memory>
#include <new>
#include <system_error>

namespace bochner {
namespace {

[[noreturn]] void throw_system_error() {
  if (errno == ENOMEM) throw std::bad_alloc();
  throw std::system_error(errno, std::generic_category());
}

struct Close {
  void operator()(DIR* stream) const { ::closedir(stream); }
};

}  // namespace

std::vector<std::string> names_in(const std::filesystem::path& folder) {
  const std::unique_ptr<DIR, Close> stream(::opendir(folder.empty() ? "." : folder.c_str()));
  if (!stream) throw_system_error();
  std::vector<std::string> names;
  const auto next = [&] {
    errno = 0;
    return ::readdir(stream.get());
  };
  while (const dirent* entry = next()) {
    const std::string name = entry->d_name;
    if (name != "." && name != "..") names.push_back(name);
  }
  if (errno != 0) throw_system_error();
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace bochner
