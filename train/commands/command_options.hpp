#pragma once
/// Options that several commands have.

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace bochner {

inline void add_sets(CLI::App* command, std::vector<std::string>& sets) {
  command->add_option("--set", sets, "change a key of the config, for instance optim.lr=3e-4")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
}

/// A number that is not negative.
template <class Number>
void add_number(CLI::App* command, const char* name, Number& value, const char* help) {
  command->add_option(name, value, help)
      ->capture_default_str()
      ->type_name("N")
      ->check(CLI::Validator(
          [](std::string& text) {
            return text.starts_with("-") ? "must not be negative" : std::string();
          },
          ""));
}

inline void add_threads(CLI::App* command, std::size_t& threads) {
  add_number(command, "--threads", threads, "0 for all processors; results do not depend on it");
}

}  // namespace bochner
