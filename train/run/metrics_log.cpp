#include <bochner/data/files/errors.hpp>
#include <bochner/train/run/metrics_log.hpp>
#include <nlohmann/json.hpp>

namespace bochner {
namespace {

using Json = nlohmann::json;

void append(LoggedCurve& curve, double step, const Json& value) {
  if (!value.is_number()) return;
  curve.step.push_back(step);
  curve.value.push_back(value.get<double>());
}

void append_kernels(MetricsLog& log, double step, const Json& layers) {
  for (const Json& layer : layers) {
    if (!layer.is_object() || !layer.contains("layer") || !layer["layer"].is_string()) continue;
    for (const auto& [key, value] : layer.items())
      if (key != "layer") append(log.kernels[key][layer["layer"].get<std::string>()], step, value);
  }
}

void append_line(MetricsLog& log, std::string_view line, const std::string& place) {
  const Json entry = Json::parse(line, nullptr, false);
  if (!entry.is_object() || !entry.contains("step") || !entry["step"].is_number())
    throw DataError(place + ": no line of metrics; remove it, or restore the file");
  const double step = entry["step"].get<double>();
  for (const auto& [key, value] : entry.items()) {
    if (key == "kernels") {
      append_kernels(log, step, value);
    } else if (key != "step") {
      append(log.curves[key], step, value);
    }
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
