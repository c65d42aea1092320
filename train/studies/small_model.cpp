#include <fmt/format.h>

#include <algorithm>
#include <bochner/base/errors.hpp>
#include <bochner/base/join.hpp>
#include <bochner/base/text.hpp>
#include <bochner/layers/convolutions/filter.hpp>
#include <bochner/layers/recurrences/recurrent_specs.hpp>
#include <bochner/train/config/nearest.hpp>
#include <bochner/train/config/usage.hpp>
#include <bochner/train/studies/small_model.hpp>
#include <charconv>
#include <map>

namespace bochner {
namespace {

using Settings = std::map<std::string, std::string>;

struct ToSetting {
  std::string operator()(const std::int64_t* number) const { return std::to_string(*number); }
  std::string operator()(const double* number) const { return fmt::format("{}", *number); }
  std::string operator()(const std::string* text) const { return *text; }
  std::string operator()(const bool* flag) const { return *flag ? "true" : "false"; }
  std::string operator()(const std::vector<std::string>* list) const { return joined(*list, ","); }
  std::string operator()(const std::vector<double>* list) const {
    return joined(*list, ",", [](double number) { return fmt::format("{}", number); });
  }
  template <class Other>
  std::string operator()(const Other*) const {
    return "";  // no key of a model
  }
};

/// Collects the values of keys.
struct SettingsOf : Keys {
  Settings all;
  void on_key(const Key& key) override { all[key.name] = std::visit(ToSetting(), key.member); }
};

/// Splits "[a, \"b\"]" or "a,b".
std::vector<std::string> items_of(std::string_view list) {
  std::vector<std::string> items;
  std::string item;
  for (const char c : list) {
    if (c == ',') items.push_back(std::exchange(item, ""));
    if (std::string_view("[]\"' ,").find(c) == std::string_view::npos) item += c;
  }
  if (!item.empty() || !items.empty()) items.push_back(item);
  return items;
}

template <class Number>
Number number_of(const std::string& text) {
  Number number;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end) throw std::invalid_argument("must be a number");
  return number;
}

struct FromSetting {
  const std::string& value;
  void operator()(std::int64_t* number) const { *number = number_of<std::int64_t>(value); }
  void operator()(double* number) const { *number = number_of<double>(value); }
  void operator()(std::string* text) const { *text = value; }
  void operator()(bool* flag) const {
    if (value != "true" && value != "false") throw std::invalid_argument("must be true or false");
    *flag = value == "true";
  }
  void operator()(std::vector<std::string>* list) const { *list = items_of(value); }
  void operator()(std::vector<double>* list) const {
    list->clear();
    for (const std::string& item : items_of(value)) list->push_back(number_of<double>(item));
  }
  template <class Other>
  void operator()(Other*) const {}
};

/// Gives keys their settings, and notes those that exist.
class Applied : public Keys {
 public:
  explicit Applied(Settings settings) : left(std::move(settings)) {}
  Settings left;
  std::vector<std::string> names;

 private:
  void on_key(const Key& key) override try {
    names.push_back(key.name);
    const auto found = left.find(key.name);
    if (found == left.end()) return;
    std::visit(FromSetting{found->second}, key.member);
    left.erase(found);
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(in_words(key.name, " = ", left[key.name], ": ", error.what()));
  }
};

}  // namespace

std::vector<std::string> model_settings(const LanguageModelSpec& spec) {
  SettingsOf found, initial;
  LanguageModelSpec copy = spec, first;
  found.section("model", copy);
  initial.section("model", first);
  std::vector<std::string> settings;
  for (const auto& [name, value] : found.all)
    if (initial.all[name] != value) settings.push_back(name + "=" + value);
  return settings;
}

LanguageModelSpec model_of_settings(const std::vector<std::string>& settings) {
  Settings all;
  for (const std::string& setting : settings) {
    const std::size_t equals = setting.find('=');
    demand(equals != std::string::npos, "--set {}: must be KEY=VALUE", setting);
    all[setting.substr(0, equals)] = setting.substr(equals + 1);
  }
  LanguageModelSpec spec;
  Applied applied(std::move(all));
  applied.section("model", spec);
  if (applied.left.empty()) return spec;
  const std::string unknown = applied.left.begin()->first, meant = nearest(unknown, applied.names);
  throw std::invalid_argument(in_words("--set ", unknown, ": no such key of a model",
                                       meant.empty() ? "" : ". Did you mean " + meant + "?"));
}

namespace {

void cut(std::size_t& number, std::size_t most) { number = std::min(number, most); }

void cut_mixer(MixerSpec& mixer, std::size_t length) {
  cut(mixer.heads, 2), cut(mixer.chunk, 4), cut(mixer.window, 4), cut(mixer.convolution, 4);
  mixer.warm = "none", mixer.warm_steps = 0, mixer.directions = 0;
  cut(mixer.features.m, 6), cut(mixer.features.hidden, 8);
  mixer.features.length = std::max<std::size_t>(256, length);
  TimeKernelSpec& kernel = mixer.time_kernel;
  kernel.shortest = 2, kernel.longest = 16;
  cut(kernel.frequencies, 2), cut(kernel.rank, 2);
  FilterSpec& filter = mixer.own.of<FilterSection>().filter;
  filter.length = length, filter.hidden = 6;
  auto& space = mixer.own.of<SsmSpec>();
  // Slow rotations: finite differences of fast ones are coarse.
  space.states = space.form == "s5" ? std::max<std::size_t>(4, space.blocks) : 4;
}

}  // namespace

LanguageModelSpec small_model(LanguageModelSpec spec, std::size_t length) {
  spec.vocabulary = 7;
  spec.loss = {"cross_entropy"};
  if (spec.positions == "encoding") spec.positions = "learned";
  spec.block.zero_init = false;  // identities would hide their faults
  spec.blocks = fewest_blocks(spec);
  spec.block.width = 8;
  cut(spec.block.expansion, 2);
  cut_mixer(spec.block.mixer, length);
  spec.length = length;
  return spec;
}

LanguageModelSpec with_length(LanguageModelSpec spec, std::size_t length) {
  MixerSpec& mixer = spec.block.mixer;
  mixer.chunk = MixerSpec().chunk;
  mixer.own.of<FilterSection>().filter.length = length;
  mixer.features.length = std::max(mixer.features.length, length);
  spec.length = length;
  return spec;
}

}  // namespace bochner
