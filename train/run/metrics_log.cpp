#include <bochner/data/files/errors.hpp>
#include <bochner/train/run/metrics_log.hpp>
#include <bochner/train/storage/json.hpp>

namespace bochner {
namespace {

void append(LoggedCurve& curve, double step, double value) {
  curve.step.push_back(step);
  curve.value.push_back(value);
}

void append_kernels(MetricsLog& log, double step, const Json& layers) {
  for (const Json& layer : layers.items()) {
    const std::string* name = layer["layer"].text();
    if (!name) continue;
    for (const auto& [key, value] : layer.members())
      if (const auto number = value.number()) append(log.kernels[key][*name], step, *number);
  }
}

void append_line(MetricsLog& log, std::string_view line, const std::string& place) {
  const Json entry = Json::parse(line);
  const std::optional<double> step = entry["step"].number();
  if (!step) throw DataError(place + ": no line of metrics; remove it, or restore the file");
  for (const auto& [key, value] : entry.members()) {
    const std::optional<double> number = value.number();
    if (key == "kernels") append_kernels(log, *step, value);
    if (key != "step" && number) append(log.curves[key], *step, *number);
  }
}

}  // namespace

MetricsLog read_metrics(std::string_view text, const std::string& source) {
  MetricsLog log;
  std::size_t number = 0;
  for (std::size_t end; (end = text.find('\n')) != std::string_view::npos;
       text.remove_prefix(end + 1)) {
    append_line(log, text.substr(0, end), source + ":" + std::to_string(++number));
  }
  return log;
}

}  // namespace bochner
