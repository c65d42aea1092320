#include <fmt/format.h>

#include <algorithm>
#include <bochner/base/join.hpp>
#include <bochner/optim/optimizer.hpp>
#include <bochner/train/commands/common_options.hpp>
#include <bochner/train/commands/project.hpp>
#include <bochner/train/config/parameter_docs.hpp>
#include <bochner/train/storage/output.hpp>
#include <bochner/train/tasks/config_templates/config_template.hpp>
#include <bochner/train/tasks/kernel_note.hpp>
#include <bochner/train/tasks/model_spec.hpp>
#include <bochner/train/tasks/registered_parameters.hpp>
#include <bochner/train/tasks/task.hpp>
#include <bochner/train/tasks/task_kinds.hpp>
#include <filesystem>

namespace bochner {
namespace {

struct ConfigOptions {
  std::string file;
  std::vector<std::string> sets;
  bool all = false;
};

/// Null where the data would have to be known. Of bytes all is known, and of a process its kernel.
std::unique_ptr<Learner> learner_like(const Config& config) try {
  return make_learner(config, {});
} catch (const std::invalid_argument&) {
  const std::string& kind = config.text("data.kind");
  if (kind == "bytes" || kind == "table") throw;
  return nullptr;
}

/// What a new run would be made of, as far as no data are needed for it. Throws
/// std::invalid_argument as it would.
void try_model(const Config& config) {
  try_blocks(config);
  const std::unique_ptr<Task> task = reads_files(config) ? nullptr : make_task(config);
  const std::unique_ptr<Learner> learner = task ? nullptr : learner_like(config);
  if (!task && !learner) return;
  auto spec = read_spec<OptimizerSpec>(config, "optim");
  if (spec.temperature == 0) spec.temperature = 1;  // a trainer has one of the data
  if (config.text("data.kind") == "table" && config.text_list("data.inputs").empty())
    spec.groups.clear();  // their patterns may mean columns of the table
  make_optimizer(spec, parameters_of(task ? task->model() : learner->model()));
}

void config_check_command(const ConfigOptions& options) {
  const Config config = read_config(options.file, options.sets);
  try {
    try_model(config);
  } catch (const std::invalid_argument& error) {
    throw ConfigError(fmt::format("{}: {}", options.file, error.what()));
  }
  fmt::print("{}: in order\n", options.file);
  if (const std::string note = kernel_note(config); !note.empty()) fmt::print("note: {}\n", note);
}

void config_print_command(const ConfigOptions& options) {
  fmt::print("{}", print_config(read_config(options.file, options.sets),
                                options.all ? Printed::all : Printed::applying));
}

struct KeysOptions {
  std::string section;
  bool json = false, markdown = false;
};

void config_keys_command(const KeysOptions& options) {
  const ParameterTable table = registered_parameters();
  const std::string& section = options.section;
  demand(section.empty() || table.has_section(section) || table.find(section),
         "config keys {}: no such section; see: bochner config keys", section);
  fmt::print("{}", options.markdown ? parameter_reference(table)
                   : options.json   ? help_json(table, section)
                                    : help_text(table, section));
}

std::pair<Command, ConfigOptions&> add_file_command(const Command& group, const char* name,
                                                    const char* help,
                                                    void (*body)(const ConfigOptions&)) {
  const auto [command, options] = group.command(name, help, body);
  add_config_file(command, options.file);
  add_sets(command, options.sets);
  return {command, options};
}

struct InitOptions {
  std::string what, folder, output = "-";
  TemplateRequest request;
};

std::string starting_config(const InitOptions& options) {
  const std::string& what = options.what;
  const std::vector<std::string> kinds = config_template_kinds();
  if (std::ranges::find(kinds, what) != kinds.end()) {
    require_no_request(options.request, what + " is a kind");
    return config_template(what);
  }
  std::error_code error;
  demand(std::filesystem::exists(what, error),
         "{}: not a kind ({}) nor an existing file or folder of data", what, joined(kinds));
  return config_template_for(what, {}, options.request);
}

void init_project(const InitOptions& options) {
  require_no_request(options.request, "a project has no data");
  demand(options.output == "-", "--output: a project is a folder: bochner init project FOLDER");
  demand(!options.folder.empty(), "init project: name the new folder: bochner init project FOLDER");
  write_project(options.folder);
  fmt::print("{}   {} files; its README.md says how to build them\n", options.folder,
             project_files().size());
}

void init_command(const InitOptions& options) {
  if (options.what == "project") return init_project(options);
  demand(options.folder.empty(), "{}: only `bochner init project` takes a folder", options.folder);
  const std::string text = starting_config(options);
  const bool is_file = options.output != "-";
  demand(!is_file || !std::filesystem::exists(std::filesystem::symlink_status(options.output)),
         "{}: already exists; give another name", options.output);
  write_output(options.output, [&](const Sink& sink) { sink(text); });
  if (is_file) fmt::print("{}   start with: bochner train {}\n", options.output, options.output);
}

}  // namespace

void add_config(const Command& program) {
  const Command group = program.group("config", "check and print configs, list their keys");
  add_file_command(group, "check", "is the file in order?", config_check_command);
  const auto [print, printed] = add_file_command(
      group, "print", "the keys that have an effect, with their values", config_print_command);
  print.flag("--all", &printed.all, "print every key");
  const auto [command, options] =
      group.command("keys", "all keys with type, default and meaning", config_keys_command);
  command.option("section", &options.section, "only this part, for instance model.mixer");
  command.flag("--json", &options.json, "print JSON");
  command.flag("--markdown", &options.markdown, "the reference page");
}

void add_init(const Command& program) {
  const auto [command, options] =
      program.command("init", "write a small config or a project to start from", init_command);
  command
      .option("what", &options.what,
              joined(config_template_kinds(), ", ") +
                  "; or a file or folder of data, which chooses the kind; or project: a CMake "
                  "project with a density, a mixer, an optimizer and a task",
              "KIND")
      .required();
  command.option("folder", &options.folder, "new folder of the project", "FOLDER");
  add_template_request(command, options.request);
  command.option("--output,-o", &options.output, "new file; - for standard output", "FILE")
      .shows_default();
}

}  // namespace bochner
