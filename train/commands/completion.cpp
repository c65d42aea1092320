#include <fmt/format.h>

#include <algorithm>
#include <bochner/train/commands/command_line.hpp>
#include <bochner/train/config/parameter_docs.hpp>
#include <bochner/train/tasks/registered_parameters.hpp>
#include <filesystem>
#include <iterator>
#include <sstream>

namespace bochner {
namespace {

// The scripts ask the program for its words; where it has none, the shell offers files.

/// bash splits words at =, by its default COMP_WORDBREAKS.
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

/// Serves both as a file _bochner of fpath, by its first line, and for eval, by its last.
constexpr const char* zsh_script = R"zsh(#compdef bochner
_bochner() {
  local -a found=(${(f)"$(bochner completion --line "$LBUFFER" 2>/dev/null)"}) blank=()
  if [ "$words[CURRENT-1]" = --set ]; then blank=(-S ''); fi
  if [ $#found -gt 0 ]; then compadd $blank -- $found; else _files; fi
}
if [ "$funcstack[1]" = _bochner ]; then _bochner "$@"; else compdef _bochner bochner; fi
)zsh";

constexpr const char* fish_script =
    "complete -c bochner -a '(bochner completion --line (commandline -cp | string collect) "
    "2>/dev/null)'\n";

constexpr std::pair<const char*, const char*> completion_scripts[] = {
    {"bash", bash_script}, {"zsh", zsh_script}, {"fish", fish_script}};

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

/// The config file, or the config of the run, that the words name, with their --set so far; empty
/// where that cannot be read.
std::optional<Config> named_config(const std::vector<std::string>& words) try {
  std::optional<Config> config;
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    const std::filesystem::path file = words[i], in_run = file / "config.toml";
    if (words[i] == "--set")
      ++i;
    else if (file.extension() == ".toml" || std::filesystem::exists(in_run))
      config = load_config(file.extension() == ".toml" ? file : in_run, registered_parameters());
  }
  for (std::size_t i = 0; config && i + 2 < words.size(); ++i)
    if (words[i] == "--set") apply_set(*config, words[i + 1]);
  return config;
} catch (const std::exception&) {
  return {};
}

void print_completions(const CommandLine& line, const std::vector<std::string>& words) {
  const bool setting = words.size() > 1 && words[words.size() - 2] == "--set";
  const std::optional<Config> config = setting ? named_config(words) : std::nullopt;
  const auto completions =
      setting ? complete_setting(registered_parameters(), words.back(), config ? &*config : nullptr)
              : line.completions(words);
  for (const std::string& word : completions) fmt::print("{}\n", word);
}

void completion_command(const CompletionOptions& options) {
  const std::string& shell = options.shell;
  if (shell.empty()) return print_completions(*options.line, words_of(options.typed));
  const auto script = std::ranges::find(completion_scripts, shell,
                                        [](const auto& row) { return std::string(row.first); });
  demand(script != std::end(completion_scripts), "completion {}: must be bash, zsh or fish", shell);
  fmt::print("{}", script->second);
}

}  // namespace

void add_completion(const Command& program) {
  const auto [command, options] = program.command(
      "completion", "shell completion: eval \"$(bochner completion bash)\"", completion_command);
  options.line = &command.line();
  command.option("shell", &options.shell, "bash, zsh or fish");
  command.option("--line", &options.typed, "print the completions of its last word").hidden();
}

}  // namespace bochner
