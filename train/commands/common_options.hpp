#pragma once
/// Options that several commands have.

#include <bochner/train/commands/command_line.hpp>
#include <filesystem>
#include <system_error>

namespace bochner {

inline void add_config_file(const Command& command, std::string& file) {
  command.option("config", &file, "config file (TOML)", "FILE").required();
}

inline void add_run(const Command& command, std::string& run,
                    const char* help = "RUN, RUN@best or RUN@STEP") {
  command.option("run", &run, help, "RUN").required();
}

inline void add_sets(const Command& command, std::vector<std::string>& sets) {
  command.option("--set", &sets, "change a key of the config, for instance optim.lr=3e-4",
                 "KEY=VALUE");
}

inline void add_weights(const Command& command, bool& live_weights) {
  command.flag("--live-weights", &live_weights,
               "the weights of the step itself, not the running mean of optim.ema");
}

/// Inputs that are mapped into memory, which pipes cannot be.
inline void refuse_pipe(const std::string& file) {
  std::error_code error;
  demand(!std::filesystem::is_fifo(file, error),
         "{}: is a pipe and no file; pipe it into the command, with - in its place", file);
}

}  // namespace bochner
