#include <fmt/format.h>

#include <bochner/train/commands/commands.hpp>
#include <bochner/train/commands/exit_codes.hpp>
#include <bochner/train/config/parameter_docs.hpp>
#include <bochner/train/tasks/registered_parameters.hpp>

namespace bochner::inline BOCHNER_PRECISION {
int config_check_command(const std::string& file, const std::vector<std::string>& sets) {
  read_config(file, sets);
  fmt::print("{}: in order\n", file);
  return exit_done;
}

int config_print_command(const std::string& file, const std::vector<std::string>& sets) {
  fmt::print("{}", print_config(read_config(file, sets)));
  return exit_done;
}

int config_keys_command(const std::string& section, KeyFormat format) {
  const ParameterTable table = registered_parameters();
  if (!section.empty() && !table.has_section(section) && !table.find(section)) {
    throw std::invalid_argument("config keys " + section +
                                ": no such section; see: bochner config keys");
  }
  switch (format) {
    case KeyFormat::text:
      fmt::print("{}", help_text(table, section));
      break;
    case KeyFormat::json:
      fmt::print("{}", help_json(table, section));
      break;
    case KeyFormat::markdown:
      fmt::print("{}", parameter_reference(table));
  }
  return exit_done;
}

}  // namespace bochner::inline BOCHNER_PRECISION
