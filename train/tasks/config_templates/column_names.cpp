#include <bochner/base/text.hpp>
#include <bochner/train/tasks/config_templates/column_names.hpp>

namespace bochner {

bool names_an_id(const std::string& column) {
  const std::string name = lower_case(column);
  for (const char* whole : {"sequence", "session", "case", "user", "id", "customer", "patient"})
    if (name == whole) return true;
  return name.ends_with("_id") || name.ends_with(" id");
}

bool names_a_source(const std::string& column) {
  const std::string name = lower_case(column);
  for (const char* whole :
       {"sensor", "device", "station", "meter", "probe", "node", "machine", "channel", "tag",
        "metric", "variable", "parameter", "signal", "series", "item", "name", "site", "location"})
    if (name == whole || name == std::string(whole) + "_name") return true;
  return names_an_id(column);
}

}  // namespace bochner
