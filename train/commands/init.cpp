#include <fmt/format.h>

#include <algorithm>
#include <bochner/base/join.hpp>
#include <bochner/train/commands/common_options.hpp>
#include <bochner/train/storage/output.hpp>
#include <bochner/train/tasks/config_templates/config_template.hpp>
#include <filesystem>

namespace bochner {
namespace {

struct InitOptions {
  std::string what, output = "-";
};

std::string starting_config(const std::string& what) {
  const std::vector<std::string> kinds = config_template_kinds();
  if (std::ranges::find(kinds, what) != kinds.end()) return config_template(what);
  std::error_code error;
  demand(std::filesystem::exists(what, error),
         "{}: not a kind ({}) nor an existing file or folder of data", what, joined(kinds));
  return config_template_for(what);
}

void init_command(const InitOptions& options) {
  const std::string text = starting_config(options.what);
  const bool is_file = options.output != "-";
  demand(!is_file || !std::filesystem::exists(std::filesystem::symlink_status(options.output)),
         "{}: already exists; give another name", options.output);
  write_output(options.output, [&](const Sink& sink) { sink(text); });
  if (is_file) fmt::print("{}   start with: bochner train {}\n", options.output, options.output);
}

}  // namespace

void add_init(const Command& program) {
  const auto [command, options] =
      program.command("init", "write a small config to start from", init_command);
  command
      .option("what", &options.what,
              "lm, classifier, forecaster, events, field, gp, vae or contrastive; or a file or "
              "folder of data, which chooses the kind",
              "KIND")
      .required();
  command.option("--output,-o", &options.output, "new file; - for standard output", "FILE")
      .shows_default();
}

}  // namespace bochner
