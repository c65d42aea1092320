#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bochner/train/commands/bench/child.hpp>
#include <stdexcept>

namespace bochner {
namespace {

std::string read_all(int file) {
  std::string text;
  char buffer[4096];
  for (ssize_t count; (count = read(file, buffer, sizeof buffer)) > 0;) text.append(buffer, count);
  return text;
}

void write_all(int file, const std::string& text) {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t count = write(file, text.data() + done, text.size() - done);
    if (count <= 0) return;
    done += std::size_t(count);
  }
}

/// Ends the process without its destructors: they belong to the parent.
[[noreturn]] void be_child(int file, const std::function<std::string()>& body) {
  try {
    write_all(file, body());
    _exit(0);
  } catch (const std::bad_alloc&) {
    write_all(file, "out of memory");
  } catch (const std::exception& error) {
    write_all(file, error.what());
  }
  _exit(1);
}

}  // namespace

std::string in_child(const std::function<std::string()>& body) {
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("cannot make a pipe to a process of its own");
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("cannot start a process of its own");
  if (child == 0) be_child(ends[1], body);
  close(ends[1]);
  const std::string text = read_all(ends[0]);
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status))
    throw std::runtime_error("killed by signal " + std::to_string(WTERMSIG(status)) +
                             ", perhaps for lack of memory");
  if (WEXITSTATUS(status) != 0) throw std::runtime_error(text);
  return text;
}

double peak_memory() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return double(usage.ru_maxrss) * 1024;
}

}  // namespace bochner
