#include <unistd.h>

#include <bochner/base/errors.hpp>
#include <bochner/data/files/input.hpp>
#include <cerrno>
#include <system_error>

namespace bochner {
namespace {

constexpr std::size_t first_read = 1 << 16;

Bytes read_standard_input(const std::string& name, std::uint64_t limit) {
  Bytes bytes(first_read);
  std::size_t filled = 0;
  while (true) {
    if (filled > limit)
      throw DataError(name, ": holds more than ", limit,
                      " bytes, the limit; write it to a file first");
    if (filled == bytes.size()) bytes.resize(2 * bytes.size());
    const ssize_t count = ::read(STDIN_FILENO, bytes.data() + filled, bytes.size() - filled);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0)
      throw IoError("cannot read ", name, ": ", std::generic_category().message(errno));
    if (count == 0) break;
    filled += std::size_t(count);
  }
  if (filled == 0) throw DataError(name, ": is empty; pipe data into the command, or name a file");
  bytes.resize(filled);
  return bytes;
}

}  // namespace

Input::Input(const std::filesystem::path& path, std::uint64_t limit)
    : Input(path, [limit](ByteSpan, const std::string&) { return limit; }) {}

Input::Input(const std::filesystem::path& path, const InputDemand& demand) : name_(path.string()) {
  if (path == "-") {
    name_ = "standard input";
    held_ = read_standard_input(name_, demand({}, name_));
  } else {
    mapped_.emplace(path);
  }
  if (!is_gzip(bytes())) return;
  held_ = gunzip(bytes(), name_, demand(gunzip_front(bytes(), name_, input_front), name_));
  mapped_.reset();
}

}  // namespace bochner
