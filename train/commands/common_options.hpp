#pragma once
/// Options and output shared by several commands.

#include <fmt/format.h>

#include <bochner/base/join.hpp>
#include <bochner/train/commands/command_line.hpp>
#include <bochner/train/storage/json.hpp>
#include <bochner/train/tasks/config_templates/template_request.hpp>
#include <filesystem>

namespace bochner {

inline void add_config_file(const Command& command, std::string& file) {
  command.option("config", &file, "config file (TOML)", "FILE").required();
}

inline void add_run(const Command& command, std::string& run,
                    const char* help = "RUN, RUN@best or RUN@STEP") {
  command.option("run", &run, help, "RUN").required();
}

inline void add_sets(const Command& command, std::vector<std::string>& sets) {
  command.option("--set", &sets, "set a config key, for instance optim.lr=3e-4", "KEY=VALUE");
}

inline void add_weights(const Command& command, bool& live_weights) {
  command.flag("--live-weights", &live_weights,
               "use the weights of the step, not their average (optim.ema, schedule_free)");
}

/// Adds what a user may ask of the config that is chosen for data.
inline void add_template_request(const Command& command, TemplateRequest& request) {
  command.option("--as", &request.kind, "data: " + joined(requestable_kinds()), "KIND");
  command.option("--target", &request.target, "data: column to forecast, predict or classify",
                 "NAME");
  command.option("--horizon", &request.horizon, "data: rows to forecast", "ROWS");
  command.option("--id", &request.id, "data: column that identifies series or sequences", "NAME");
  command.option("--time", &request.time, "data: column of times", "NAME");
}
/// Throws std::invalid_argument if options for data are given without data.
inline void require_no_request(const TemplateRequest& request, const std::string& instead) {
  demand(request.options().empty(), "{}: only for a file or folder of data; {}",
         joined(request.options(), ", ", [](const auto& option) { return option.first; }), instead);
}

/// Prints a line of JSON.
inline void print_line(const Json& json) { fmt::print("{}\n", json.line()); }

/// Throws std::invalid_argument if `file` is a pipe: inputs are mapped into memory.
inline void refuse_pipe(const std::string& file) {
  std::error_code error;
  demand(!std::filesystem::is_fifo(file, error),
         "{}: is a pipe, but a file is required; pipe it into the command and give - instead",
         file);
}

}  // namespace bochner
