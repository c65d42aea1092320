#pragma once
/// Configs as texts, and what is said about them.

#include <gtest/gtest.h>

#include <bochner/train/tasks/registered_parameters.hpp>
#include <cstdlib>
#include <fstream>
#include <map>

namespace bochner {

inline const std::string sample = R"([model]
kind = "lm"
blocks = 4
width = 128

[model.mixer]
kind = "linear"            # or "softmax", later "hyena", "s4d", ...
heads = 4
features = "wpff"          # phi: how the kernel is estimated
m = 64
density = "flow"           # p(omega): which kernel
draws = "sobol"            # iid | orthogonal | sobol

[data]
kind = "bytes"
files = ["texts/*.txt"]
length = 256

[optim]
kind = "adamw"
lr = 1e-3
schedule = { kind = "cosine", warmup = 100, floor = 1e-4 }
clip = 1.0
groups = [{ match = "*.density.*", lr_factor = 0.3 }]

[train]
batch = 16
steps = 1000
validate = { every = "250" }
checkpoint = { every = "5min", keep_last = 2, keep_best = 1 }
)";

/// All keys, some of them with other choices.
inline ParameterTable parameters_with(const std::map<std::string, NameList>& choices) {
  std::vector<ParameterRow> rows = registered_parameters().rows();
  for (ParameterRow& row : rows)
    if (choices.contains(row.name)) row.bounds.choices = choices.at(row.name);
  return ParameterTable(rows, registered_parameters().checks());
}

inline Config parse(const std::string& text, ParameterTable table = registered_parameters()) {
  return parse_config(text, "bad.toml", std::move(table));
}

/// The message of the first mistake in the text, or "" without one.
inline std::string error_in(const std::string& text, const std::vector<std::string>& settings = {},
                            const ParameterTable& table = registered_parameters()) {
  try {
    Config config = parse(text, table);
    for (const std::string& setting : settings) apply_set(config, setting);
    validate(config);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

/// The same after the one required key, on line 1.
inline std::string error_after_files(const std::string& text,
                                     const std::vector<std::string>& settings = {}) {
  return error_in("data.files = \"a.txt\"\n" + text, settings);
}

inline std::string here(const std::string& path) {
  return (std::filesystem::current_path() / path).string();
}

/// Not inlined: GCC 12 warns of bounds where it joins a long literal to a constant text.
[[gnu::noinline]] inline std::string repeated(std::size_t count, char letter) {
  return std::string(count, letter);
}

class Folder : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "bochner-XXXXXX").string();
    path_ = mkdtemp(pattern.data());
  }
  void TearDown() override { std::filesystem::remove_all(path_); }

  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / name, std::ios::binary) << text;
    return (path_ / name).string();
  }

  std::filesystem::path path_;
};

}  // namespace bochner
