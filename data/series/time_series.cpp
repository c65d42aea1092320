#include <bochner/data/files/digest.hpp>
#include <bochner/data/series/series_table.hpp>
#include <bochner/data/series/time_series.hpp>

namespace bochner {

TimeSeries time_series(const NamedArray& table, const std::vector<std::string>& columns) {
  return time_series(table, {.targets = columns}, rows_of_series(table, {}).front());
}

std::uint64_t fingerprint(const TimeSeries& series) {
  std::uint64_t hash = digest_of_elements(series.values, series.variates());
  hash = digest_of_elements(series.times, hash);
  for (const std::string& name : series.names) hash = digest_of_elements(name, hash);
  for (const std::string& part : series.id) hash = digest_of_elements(part, hash);
  if (series.channels() > 0) hash = digest_of_elements(series.covariates, hash);
  return hash;
}

}  // namespace bochner
