#pragma once
/// metrics.jsonl as curves.

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace bochner {

/// A number that was written again and again while training.
struct LoggedCurve {
  std::vector<double> step, value;
};

/// The numbers of each key ("loss", "valid", "lr"), and those of the layers' kernels under
/// "kernels.KEY" by layer.
struct MetricsLog {
  std::map<std::string, LoggedCurve> curves;
  std::map<std::string, std::map<std::string, LoggedCurve>> kernels;
};

/// `source` stands in errors. A last line without its end is left out; throws DataError when
/// another one is no JSON object with a step.
MetricsLog read_metrics(std::string_view text, const std::string& source);

}  // namespace bochner
