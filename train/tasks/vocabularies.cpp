#include <algorithm>
#include <bochner/base/errors.hpp>
#include <bochner/base/text.hpp>
#include <bochner/base/utf8.hpp>
#include <bochner/train/config/parameters.hpp>
#include <bochner/train/tasks/vocabularies.hpp>

namespace bochner {
namespace {

using Names = std::vector<std::string>;

struct KeptNames {
  const char* key;
  Names Vocabularies::*list;
  const char* what;  ///< in errors
};
constexpr KeptNames kept_names[] = {{"data.names.types", &Vocabularies::types, "type"},
                                    {"data.names.labels", &Vocabularies::labels, "label"},
                                    {"data.names.series", &Vocabularies::series, "series"},
                                    {"data.names.levels", &Vocabularies::levels, "covariate"},
                                    {"data.names.columns", &Vocabularies::columns, "column"},
                                    {"data.names.time", &Vocabularies::time, "time"}};

/// The first name that the others lack; nothing where there is none.
const std::string* missing_in(const Names& others, const Names& names) {
  const auto found = std::ranges::find_if(
      names, [&](const std::string& name) { return std::ranges::count(others, name) == 0; });
  return found == names.end() ? nullptr : &*found;
}

/// data.columns, or data.target, are names already.
bool are_chosen(const Config& config, const char* key) {
  if (std::string_view(key) != "data.names.columns") return false;
  return config.text("data.kind") == "table" ? !config.text_list("data.inputs").empty()
                                             : !config.text_list("data.columns").empty();
}

/// What tells series apart is of the columns of data.series.
bool are_alike(const char* key, const Config& config, const Config& parent) {
  return std::string_view(key) != "data.names.series" ||
         config.text_list("data.series") == parent.text_list("data.series");
}

}  // namespace

Vocabularies stored_vocabularies(const Config& config) {
  return read_spec<Vocabularies>(config, "data");
}

void store_vocabularies(Config& config, const Vocabularies& names) {
  for (const auto& [key, list, what] : kept_names) {
    if ((names.*list).empty() || are_chosen(config, key)) continue;
    const auto bad = std::ranges::find_if_not(names.*list, is_utf8);
    if (bad != (names.*list).end())
      throw DataError("data.files: the ", what, " ", excerpt(*bad),
                      " is not UTF-8 and could not be read from the run again; convert the file");
    config.set(key, names.*list, config.location("data.files"));
  }
}

void inherit_vocabularies(Config& config, const Config& parent) {
  if (config.text("data.kind") != parent.text("data.kind")) return;
  for (const auto& [key, list, what] : kept_names)
    if (config.text_list(key).empty() && !are_chosen(config, key) && are_alike(key, config, parent))
      config.set(key, parent.text_list(key), parent.location(key));
}

void require_known(const Config& config, const Vocabularies& names) {
  for (const auto& [key, list, what] : kept_names) {
    const Names &learned = config.text_list(key), &now = names.*list;
    if (learned.empty() || learned == now || list == &Vocabularies::time) continue;
    if (const std::string* unknown = missing_in(learned, now))
      throw DataError("data.files: the model knows no ", what, " ", excerpt(*unknown),
                      "; it learned ", excerpt(learned.front()), " and ", learned.size() - 1,
                      " more");
    const std::string* missing = missing_in(now, learned);
    throw DataError("data.files: the model has learned the ", what, " ",
                    excerpt(missing ? *missing : learned[0]),
                    ", of which there are too few rows here, or none");
  }
}

}  // namespace bochner
