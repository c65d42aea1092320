#pragma once
/// Configs as texts, and what is said about them.

#include <gtest/gtest.h>

#include <bochner/train/config/config.hpp>
#include <cstdlib>
#include <fstream>

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

inline NameList names(std::vector<std::string> list) {
  return [list] { return list; };
}

inline ParameterTable extended_parameters() {
  return standard_parameters({.features = names({"positive", "wpff"}),
                              .densities = names({"gaussian", "flow"}),
                              .draws = names({"iid", "orthogonal", "sobol"})});
}

inline Config parse(const std::string& text) { return parse_config(text, "bad.toml"); }

/// The message of the first mistake in the text, or "" without one.
inline std::string error_in(const std::string& text,
                            const std::vector<std::string>& settings = {}) {
  try {
    Config config = parse(text);
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
