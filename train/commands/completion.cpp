#include <fmt/format.h>

#include <bochner/train/commands/command_line.hpp>
#include <bochner/train/config/parameter_docs.hpp>
#include <bochner/train/tasks/registered_parameters.hpp>
#include <iterator>
#include <sstream>

namespace bochner {
namespace {

/// Asks the program itself, whose words are the only list there is; where it has none, the shell
/// offers files. What stands behind = is a word of its own to bash, as COMP_WORDBREAKS, which is
/// everybody's, has it.
constexpr const char* bash_script = R"bash(_bochner() {
  local line="${COMP_LINE:0:$COMP_POINT}" word="${COMP_WORDS[COMP_CWORD]}"
  local typed="${line##* }"
  if [ "${COMP_WORDS[COMP_CWORD-1]}" = --set ]; then compopt -o nospace 2>/dev/null; fi
  COMPREPLY=($(bochner completion --line "$line" 2>/dev/null))
  if [ "$word" = "=" ]; then word=""; fi
  case "$typed" in *"$word") COMPREPLY=("${COMPREPLY[@]#"${typed%"$word"}"}") ;; esac
}
complete -o default -F _bochner bochner
)bash";

struct CompletionOptions {
  std::string shell, typed;
  const CommandLine* line = nullptr;
};

/// The last one is empty where the line ends in a blank.
std::vector<std::string> words_of(const std::string& line) {
  std::istringstream stream(line);
  std::vector<std::string> words{std::istream_iterator<std::string>(stream), {}};
  if (line.empty() || line.back() == ' ') words.emplace_back();
  return words;
}

void print_completions(const CommandLine& line, const std::vector<std::string>& words) {
  const bool setting = words.size() > 1 && words[words.size() - 2] == "--set";
  const auto completions =
      setting ? complete_setting(registered_parameters(), words.back()) : line.completions(words);
  for (const std::string& word : completions) fmt::print("{}\n", word);
}

void completion_command(const CompletionOptions& options) {
  const std::string& shell = options.shell;
  if (shell.empty()) return print_completions(*options.line, words_of(options.typed));
  demand(shell == "bash" || shell == "zsh", "completion {}: must be bash or zsh", shell);
  if (shell == "zsh") fmt::print("autoload -U +X bashcompinit && bashcompinit\n");
  fmt::print("{}", bash_script);
}

}  // namespace

void add_completion(const Command& program) {
  const auto [command, options] = program.command(
      "completion", "shell completion: eval \"$(bochner completion bash)\"", completion_command);
  options.line = &command.line();
  command.option("shell", &options.shell, "bash or zsh");
  command.option("--line", &options.typed, "what may stand in place of its last word").hidden();
}

}  // namespace bochner
