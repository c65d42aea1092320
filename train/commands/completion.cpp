#include <fmt/format.h>

#include <bochner/train/commands/commands.hpp>
#include <bochner/train/commands/exit_codes.hpp>
#include <stdexcept>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// Asks the program itself, whose words are the only list there is; where it has none, for a file.
constexpr const char* bash_script = R"bash(_bochner() {
  COMP_WORDBREAKS="${COMP_WORDBREAKS//=/}"
  if [ "${COMP_WORDS[COMP_CWORD-1]}" = --set ]; then compopt -o nospace; fi
  COMPREPLY=($(bochner completion --line "${COMP_WORDS[*]:0:COMP_CWORD+1}" 2>/dev/null))
  if [ ${#COMPREPLY[@]} -eq 0 ]; then COMPREPLY=($(compgen -f -- "${COMP_WORDS[COMP_CWORD]}")); fi
}
complete -o filenames -F _bochner bochner
)bash";

}  // namespace

int completion_command(const std::string& shell) {
  if (shell != "bash" && shell != "zsh") {
    throw std::invalid_argument("completion " + shell + ": must be bash or zsh");
  }
  if (shell == "zsh") fmt::print("autoload -U +X bashcompinit && bashcompinit\n");
  fmt::print("{}", bash_script);
  return exit_done;
}

}  // namespace bochner::inline BOCHNER_PRECISION
