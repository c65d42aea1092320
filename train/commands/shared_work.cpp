#include <fmt/format.h>

#include <algorithm>
#include <bochner/base/errors.hpp>
#include <bochner/base/format.hpp>
#include <bochner/base/join.hpp>
#include <bochner/train/commands/shared_work.hpp>
#include <bochner/train/distributed/mpi.hpp>
#include <bochner/train/run/version.hpp>
#include <ranges>

namespace bochner {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (const auto line : std::views::split(text, '\n'))
    lines.emplace_back(line.begin(), line.end());
  return lines;
}

std::string word_at(const std::vector<std::string>& words, std::size_t place) {
  return place < words.size() ? words[place] : "nothing more";
}

std::string words_of_difference(const std::string& other, const std::string& first) {
  const std::vector<std::string> there = lines_of(other), here = lines_of(first);
  const auto place = std::size_t(std::ranges::mismatch(there, here).in1 - there.begin());
  return fmt::format("{} instead of {}", word_at(there, place), word_at(here, place));
}

/// Throws `error` in the first process; the others wait for it to print and throw ReportedByFirst.
template <class Error>
[[noreturn]] void fail_together(Processes& processes, ExitCode code, const Error& error) {
  if (processes.leads()) throw error;
  processes.end();
  throw ReportedByFirst{code};
}

}  // namespace

std::vector<std::string> agreed_words(std::span<char* const> words) {
  std::vector<std::string> agreed;
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string word = words[i], name = word.substr(0, word.find('='));
    const bool is_own = name == "--threads" || name == "--jobs";
    if (!is_own) agreed.push_back(shell_word(word));
    if (is_own && name == word) ++i;
  }
  return agreed;
}

void require_one_command(Processes& processes, const std::vector<std::string>& words,
                         const std::string& numerics) {
  const std::vector<std::string> typed = processes.texts(joined(words, "\n"));
  const std::vector<std::string> computed = processes.texts(numerics);
  if (const auto rank = first_other(typed))
    fail_together(
        processes, exit_usage,
        std::invalid_argument(fmt::format(
            "{} was started with other arguments than process 0: {}; give all processes the same "
            "ones, except --threads and --jobs",
            processes.name(*rank), words_of_difference(typed[*rank], typed[0]))));
  if (const auto rank = first_other(computed))
    fail_together(
        processes, exit_data,
        DataError(processes.name(*rank), " computes other bits than process 0: ", computed[*rank],
                  " there, ", computed[0],
                  " here; use the same build and the same kind of processor on all machines, or "
                  "the preset portable and one vector width"));
}

Processes meet(const CommandLine& line) {
  Processes processes = launched_together();
  if (processes.size() > 1)
    require_one_command(processes, agreed_words(line.words()), numerics_fingerprint());
  return processes;
}

void require_one_text(Processes& processes, const std::string& mine, const std::string& called) {
  if (const auto rank = first_other(processes.texts(mine)))
    fail_together(processes, exit_data,
                  DataError(processes.name(*rank), " reads other ", called,
                            " than process 0; use the same files on all machines"));
}

SharedWork::SharedWork(const CommandLine& line) : processes_(meet(line)) {
  if (processes_.size() == 1) return;
  std::vector<std::string> notes;
  share_processors(line.threads(), processes_, notes);
  for (const std::string& note : notes)
    if (leads()) fmt::print(stderr, "note     {}\n", note);
}

}  // namespace bochner
