#include <fmt/format.h>

#include <algorithm>
#include <bochner/base/join.hpp>
#include <bochner/train/export/torch_module.hpp>
#include <deque>
#include <ranges>
#include <set>

namespace bochner {
namespace {

/// Key that names forms: `when` another key has a value, or always.
struct TorchKey {
  std::string name, role, when = "", value = "";
};

const std::vector<TorchKey>& torch_keys() {
  const std::string mixer = "model.mixer.", features = mixer + "features.";
  static const std::vector<TorchKey> keys{
      {"model.kind", "model"},
      {"model.backbone", "backbone"},
      {"model.pattern", "mixer"},
      {mixer + "kind", "mixer"},
      {mixer + "update", "update"},
      {features + "kind", "features"},
      {features + "estimators", "features", features + "kind", "hybrid"},
      {features + "weights", "weights"},
      {features + "projection", "projection"},
      {mixer + "density.kind", "density"},
      {mixer + "density.proposal", "density", features + "weights", "importance"},
      {mixer + "time_kernel.density.kind", "density", mixer + "time_kernel.kind", "spectral"},
      {mixer + "filter.kind", "filter"},
      {mixer + "filter.density.kind", "density", mixer + "filter.kind", "spectral"},
      {"model.density.kind", "density", "model.kind", "filter_bank"},
      {"model.time.kind", "time"},
      {"model.encoding.kind", "encoding"}};
  return keys;
}

/// Returns the quoted texts between each `mark` and the next closing bracket.
std::vector<std::vector<std::string>> quoted_after(std::string_view text, std::string_view mark) {
  std::vector<std::vector<std::string>> found;
  for (std::size_t at = text.find(mark); at != text.npos; at = text.find(mark, at + 1)) {
    const std::string_view words = text.substr(at, text.find(')', at) - at);
    found.emplace_back();
    for (std::size_t open = words.find('"'); open != words.npos;) {
      const std::size_t close = words.find('"', open + 1);
      if (close == words.npos) break;
      found.back().emplace_back(words.substr(open + 1, close - open - 1));
      open = words.find('"', close + 1);
    }
  }
  return found;
}

bool has_form(const TorchSource& source, const std::string& role, const std::string& name) {
  return std::ranges::any_of(quoted_after(source.text, "\n@form("), [&](const auto& words) {
    return words[0] == role && std::find(words.begin() + 1, words.end(), name) != words.end();
  });
}

/// Whether times are encoded by draws of a density: a name that is not an encoding's.
bool is_density_of_time(const std::string& name) {
  return std::ranges::none_of(
      torch_sources(), [&](const TorchSource& source) { return has_form(source, "time", name); });
}

std::vector<std::string> names_in(const Config& config, const TorchKey& key) {
  if (!key.when.empty() && config.text(key.when) != key.value) return {};
  if (key.role == "model" && config.text("data.kind") == "sensors") return {"sensors"};
  if (key.role == "model" && config.text("data.kind") == "labelled_series" &&
      config.text("model.kind") == "classifier")
    return {"series_classifier"};
  const ConfigValue& value = config.value(key.name);
  if (const auto* list = std::get_if<std::vector<std::string>>(&value)) return *list;
  return {std::get<std::string>(value)};
}

/// Whether a value names no form: it means nothing, or refers to another key.
bool names_no_form(const std::string& name, const TorchKey& key) {
  return name == "none" || (key.role == "filter" && name == "auto") ||
         (key.role == "projection" && name == "density");
}

const TorchSource& source_with(const std::string& name, const TorchKey& key) {
  for (const TorchSource& source : torch_sources())
    if (has_form(source, key.role, name)) return source;
  throw std::invalid_argument(fmt::format(
      "export --torch: {} = \"{}\" has no form in PyTorch; export --output FILE writes the weights",
      key.name, name));
}

const TorchSource& source_named(std::string_view name) {
  return *std::ranges::find(torch_sources(), name, &TorchSource::name);
}

/// Returns the names in `from .NAME import`.
std::vector<std::string> imports_of(const TorchSource& source) {
  constexpr std::string_view mark = "\nfrom .";
  std::vector<std::string> names;
  const std::string_view text = source.text;
  for (std::size_t at = text.find(mark); at != text.npos; at = text.find(mark, at + 1)) {
    const std::size_t first = at + mark.size();
    names.emplace_back(text.substr(first, text.find(' ', first) - first));
  }
  return names;
}

}  // namespace

std::vector<TorchSource> torch_sources_of(const Config& config) {
  std::set<std::string_view> chosen{"weights"};
  std::deque<const TorchSource*> open{&source_named("weights")};
  const auto choose = [&](const TorchSource& source) {
    if (chosen.insert(source.name).second) open.push_back(&source);
  };
  for (; !open.empty(); open.pop_front()) {
    for (const std::string& name : imports_of(*open.front())) choose(source_named(name));
    for (const TorchKey& key : torch_keys()) {
      if (open.front()->text.find('"' + key.name + '"') == std::string_view::npos) continue;
      for (const std::string& name : names_in(config, key)) {
        if (names_no_form(name, key)) continue;
        const bool by_density = key.role == "time" && is_density_of_time(name);
        choose(source_with(by_density ? "density" : name, key));
        if (by_density) choose(source_with(name, {key.name, "density"}));
      }
    }
  }
  std::vector<TorchSource> sources;
  for (const TorchSource& source : torch_sources())
    if (chosen.contains(source.name)) sources.push_back(source);
  return sources;
}

std::vector<std::pair<std::string, std::string>> torch_forms() {
  std::vector<std::pair<std::string, std::string>> forms;
  for (const TorchSource& source : torch_sources())
    for (const auto& words : quoted_after(source.text, "\n@form("))
      for (std::size_t i = 1; i < words.size(); ++i) forms.emplace_back(words[0], words[i]);
  return forms;
}

std::string torch_package(const std::vector<TorchSource>& sources, const std::string& words) {
  return fmt::format(
      "\"\"\"{}.\n\n    model = load()  # with the weights of model.safetensors beside this file\n"
      "    save(model, \"tuned.safetensors\")  # for bochner import\n\"\"\"\n"
      "from . import {}\nfrom .weights import load, save\n",
      words, joined(sources | std::views::transform(&TorchSource::name)));
}

}  // namespace bochner
