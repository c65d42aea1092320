#include <algorithm>
#include <bochner/base/errors.hpp>
#include <bochner/layers/convolutions/filter_bank.hpp>

namespace bochner::inline BOCHNER_PRECISION {

FilterBank::Origin FilterBank::origin(std::size_t feature) const {
  require(feature < size(), "filter bank", "has no feature ", feature);
  const std::size_t F = spec_.filters(), of_scale = size() / scales_.size();
  std::size_t place = feature % of_scale / F;
  for (const std::string& pool : spec_.pools) {
    const std::size_t parts = pool == "winners" ? 2 : 1;
    if (place < parts) return {feature / of_scale, feature % F, pool, place == 1};
    place -= parts;
  }
  return {};
}

FilterBank::Firing FilterBank::firing(SeriesValues series, const Origin& origin) {
  constexpr std::size_t G = filters_of_group;
  const std::size_t L = spec_.taps, group = origin.filter / G, f = origin.filter % G,
                    dilation = scales_[origin.scale].dilation;
  const std::vector<real> channels = rows_of(standardized(series), origin.scale);
  const std::size_t C = spec_.channels, rows = channels.size() / C,
                    at = origin.scale * spec_.groups + group;
  std::vector<real> padded(rows + (L - 1) * dilation), y(G * rows);
  mix_channels(channels.data(), C, rows, weights_.value().data() + at * C, L, dilation,
               padded.data());
  const Tensor all = filters();
  bochner::respond(padded.data(), dilation, all.data() + at * G * L, L, rows, y.data());
  const auto begin = padded.begin() + std::ptrdiff_t(L / 2 * dilation);
  Firing firing{{begin, begin + std::ptrdiff_t(rows)}, {}};
  const real *own = y.data() + f * rows, *most = std::max_element(own, own + rows);
  for (std::size_t t = 0; t < rows; ++t) {
    bool fires = true;
    for (std::size_t other = 0; other < G && origin.pool == "winners"; ++other)
      fires =
          fires && (origin.least ? own[t] <= y[other * rows + t] : own[t] >= y[other * rows + t]);
    if (origin.pool == "positive") fires = own[t] > quantiles_(origin.scale, origin.filter);
    if (origin.pool == "maximum") fires = own + t == most;
    if (origin.pool == "mean") fires = own[t] > 0;
    if (fires) firing.rows.push_back(t);
  }
  return firing;
}

}  // namespace bochner::inline BOCHNER_PRECISION
