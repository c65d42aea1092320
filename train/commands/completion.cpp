#include <fmt/format.h>

#include <bochner/train/commands.hpp>
#include <bochner/train/config/parameter_docs.hpp>
#include <bochner/train/exit_codes.hpp>
#include <bochner/train/session.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

constexpr const char* bash_script = R"bash(_bochner() {
  local word="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}"
  COMP_WORDBREAKS="${COMP_WORDBREAKS//=/}"
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "train resume fork eval sample inspect export config gradcheck bench completion" -- "$word"))
  elif [ "$before" = --set ]; then
    COMPREPLY=($(bochner completion --setting "$word" 2>/dev/null)); compopt -o nospace
  elif [[ "$word" == -* ]]; then
    COMPREPLY=($(compgen -W "$(bochner "${COMP_WORDS[1]}" --help 2>/dev/null | grep -o -e '--[a-z-]*' | sort -u)" -- "$word"))
  else
    COMPREPLY=($(compgen -f -- "$word"))
  fi
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

int complete_setting_command(const std::string& word) {
  for (const std::string& candidate : complete_setting(registered_parameters(), word))
    fmt::print("{}\n", candidate);
  return exit_done;
}

}  // namespace bochner::inline BOCHNER_PRECISION
