#include <fmt/args.h>
#include <fmt/format.h>

#include <algorithm>
#include <bochner/base/join.hpp>
#include <bochner/train/config/parameters.hpp>
#include <bochner/train/tasks/config_templates/config_template.hpp>
#include <bochner/train/tasks/config_templates/template_blanks.hpp>
#include <bochner/train/tasks/config_templates/templates.hpp>

namespace bochner {
namespace {

Blanks usual_blanks() {
  return {{"what", "texts: a folder of files for each label"},
          {"data", "texts"},
          {"columns", ""},
          {"positions", "learned"},
          {"lr", "3e-3"},
          {"weight_decay", "0.1"},
          {"method", in_quotes("exact")},
          {"backbone", "\"linear\"           # or attention (over patches), rows (at their times)"},
          {"length", "128"},
          {"lookback", "96"},
          {"horizon", "24"},
          {"rows", "0"},
          {"batch", "32"},
          {"warmup", "20"},
          {"steps", "1000"},
          {"validate", "250"}};
}

}  // namespace

std::string fill_in(const std::string& kind, const Blanks& blanks) {
  const auto* found = std::ranges::find(config_templates, kind, &ConfigTemplate::kind);
  if (found == std::end(config_templates))
    throw std::invalid_argument(kind + ": no such kind; choose " +
                                alternatives(config_template_kinds()));
  fmt::dynamic_format_arg_store<fmt::format_context> arguments;
  Blanks all = usual_blanks();
  all["files"] = found->files;
  for (const auto& [name, text] : blanks) all[name] = text;
  for (const auto& [name, text] : all) arguments.push_back(fmt::arg(name.c_str(), text));
  return fmt::vformat(found->text, arguments);
}

Blanks with_steps(Blanks blanks, std::size_t steps_of_epoch) {
  const std::size_t steps = std::clamp<std::size_t>(10 * steps_of_epoch, 100, 1000);
  blanks["steps"] = std::to_string(steps);
  blanks["warmup"] = std::to_string(steps / 50);
  blanks["validate"] = std::to_string(steps / 4);
  return blanks;
}

std::string quoted_list(const std::vector<std::string>& names) {
  return "[" + joined(names, ", ", in_quotes) + "]";
}

std::string text_config(const std::string& files, const std::string& columns, std::size_t texts) {
  constexpr std::size_t batch = 16;
  return fill_in("classifier", with_steps({{"files", files},
                                           {"columns", columns + text_length},
                                           {"positions", "none"},
                                           {"lr", "1e-3"},
                                           {"weight_decay", "0.3"}},
                                          texts / batch));
}

}  // namespace bochner
