#pragma once
#include <algorithm>
#include <bochner/train/tasks/facts.hpp>

namespace bochner {

/// Facts of labelled series.
struct LabelledSeriesFacts {
  static constexpr const char* kind = "labelled_series";
  std::uint64_t channels = 1, length = 1;         ///< rows of the longest series
  std::vector<std::string> classes = {"1", "2"};  ///< none if labels are numbers
  std::vector<std::string> specimens = {};        ///< none

  template <class Archive>
  void serialize(Archive& archive) {
    archive(channels, length, classes);
  }
  void check() const {
    constexpr std::uint64_t most = std::uint64_t(1) << 24;
    require_size("channels", channels, most);
    require_size("rows of a series", length, most);
    require_size("classes", std::max<std::size_t>(1, classes.size()), most);
  }
};

}  // namespace bochner
