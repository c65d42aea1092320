#pragma once
/// The files of a run as a program that trains leaves them, without one that does.

#include <bochner/train/config/config.hpp>
#include <bochner/train/run/log/live_log.hpp>
#include <bochner/train/storage/storage.hpp>
#include <bochner/train/tasks/registered_parameters.hpp>
#include <string>
#include <vector>

namespace bochner {

class WrittenRun {
 public:
  WrittenRun(FileStorage& storage, const Path& path, const std::vector<std::string>& sets)
      : storage_(storage), path_(path) {
    make_directories(storage, path);
    Config config(registered_parameters());
    apply_set(config, "data.files=['text']");
    for (const std::string& set : sets) apply_set(config, set);
    commit_file(storage, path / "config.toml", print_config(config));
  }

  const Path& path() const { return path_; }
  void append(const std::string& name, const std::string& line) {
    storage_.open_append(path_ / name)->append((line + "\n").data(), line.size() + 1);
  }
  void train(int step, double loss, double seconds, int tokens_per_step = 10) {
    const std::string at = std::to_string(step);
    append("metrics.jsonl", "{\"step\":" + at +
                                ",\"tokens\":" + std::to_string(step * tokens_per_step) +
                                ",\"epoch\":0.5,\"loss\":" + std::to_string(loss) + "}");
    append(clock_name, "{\"step\":" + at + ",\"seconds\":" + std::to_string(seconds) +
                           ",\"memory\":" + std::to_string(1000000 + step) + "}");
  }
  void validate(int step, double loss, const std::string& more = "") {
    append("metrics.jsonl",
           "{\"step\":" + std::to_string(step) + ",\"valid\":" + std::to_string(loss) + more + "}");
  }

 private:
  FileStorage& storage_;
  Path path_;
};

}  // namespace bochner
