#include <sys/ioctl.h>
#include <unistd.h>

#include <bochner/base/text.hpp>
#include <bochner/train/run/log/terminal.hpp>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace bochner {

TerminalSize terminal_size() {
  TerminalSize size;
  winsize window{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) != 0) return size;
  if (window.ws_col > 0) size.columns = window.ws_col;
  if (window.ws_row > 0) size.rows = window.ws_row;
  return size;
}

bool shows_blocks() {
  const char* terminal = std::getenv("TERM");
  if (!terminal || std::string_view(terminal) == "dumb") return false;
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = std::getenv(name);
    if (!value || !*value) continue;
    const std::string text = lower_case(value);
    return text.find("utf-8") != text.npos || text.find("utf8") != text.npos;
  }
  return false;
}

void LinesInPlace::show(const std::vector<std::string>& lines) {
  std::string text;
  if (shown_ > 0) text += "\r\033[" + std::to_string(shown_) + "A";
  for (const std::string& line : lines) text += "\033[K" + line + "\n";
  text += "\033[J";  // erases surplus lines
  std::fputs(text.c_str(), stdout);
  shown_ = lines.size();
}

}  // namespace bochner
