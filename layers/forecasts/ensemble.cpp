#include <algorithm>
#include <bochner/base/errors.hpp>
#include <bochner/base/numeric/parallel.hpp>
#include <bochner/layers/forecasts/ensemble.hpp>
#include <cmath>
#include <numeric>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

MemberSpec member_spec(const EnsembleSpec& spec) {
  constexpr std::size_t few_channels = 8, many_windows = 12288;
  MemberSpec members{spec.horizon, spec.lookback, {}};
  if (spec.channels <= few_channels) members.windows = many_windows;
  for (const double season : spec.seasons) members.seasons.push_back(std::size_t(season));
  return members;
}

}  // namespace

std::vector<std::string> forecast_families() {
  return {"seasonal", "ridge", "kernel", "smoothing", "theta", "decomposition", "process"};
}

std::vector<NamedMember> ensemble_members(const EnsembleSpec& spec) {
  const MemberSpec sizes = member_spec(spec);
  const auto competes = [&](const char* family) {
    return std::ranges::count(spec.members, family) > 0;
  };
  std::vector<NamedMember> members;
  members.push_back({"last value", make_seasonal(sizes, 1, false)});
  if (competes("seasonal")) {
    for (const std::size_t season : sizes.seasons)
      members.push_back(
          {"last season of " + std::to_string(season), make_seasonal(sizes, season, false)});
    members.push_back({"drift", make_seasonal(sizes, sizes.season(), true)});
  }
  const auto add = [&](const std::string& name, const auto& make) {
    members.push_back({name, make()});
    members.push_back({name + " of logarithms", make_logarithmic(make())});
  };
  MemberSpec rest = sizes;
  rest.seasons.clear();
  rest.lags = std::min(sizes.lags, 2 * sizes.season());
  const auto add_rest = [&](const std::string& name, const auto& make) {
    add(name + " without season", [&] { return make_deseasonalised(sizes, make(rest)); });
  };
  if (competes("ridge")) {
    add("ridge", [&] { return make_ridge(sizes, false); });
    add("ridge of changes", [&] { return make_ridge(sizes, true); });
  }
  if (competes("kernel") && spec.channels <= spec.process_channels)
    members.push_back({"kernel ridge", make_kernel_ridge(sizes)});
  if (competes("smoothing")) add("smoothing", [&] { return make_smoothing(sizes); });
  if (competes("theta") && sizes.seasons.empty()) add("theta", [&] { return make_theta(sizes); });
  if (competes("theta") && !sizes.seasons.empty()) add_rest("theta", make_theta);
  if (competes("decomposition") && !sizes.seasons.empty()) {
    add_rest("smoothing", make_smoothing);
    add_rest("ridge", [](const MemberSpec& spec) { return make_ridge(spec, false); });
    add_rest("autoregression", make_autoregression);
  }
  if (competes("process") && spec.channels <= spec.process_channels)
    add("process", [&] { return make_process(sizes); });
  return members;
}

std::size_t best_naive(const std::vector<NamedMember>& members, const std::vector<double>& errors) {
  std::size_t best = 0;
  for (std::size_t m = 0; m < members.size(); ++m)
    if (members[m].is_naive() && errors[m] >= 0 && errors[m] < errors[best]) best = m;
  return best;
}

Ensemble::Ensemble(const EnsembleSpec& spec)
    : channels_(spec.channels),
      horizon_(spec.horizon),
      season_(member_spec(spec).season()),
      members_(ensemble_members(spec)),
      errors_(zeros({channels_, members_.size()})),
      weights_(zeros({channels_, members_.size()})),
      effects_(zeros({channels_, spec.covariates})),
      origins_(zeros({channels_, most_origins})),
      residuals_(zeros({channels_, most_origins, horizon_})),
      naive_spread_(zeros({channels_, horizon_})),
      spread_(zeros({channels_, horizon_})),
      bands_(zeros({channels_, 5})) {
  for (const NamedMember& member : members_)
    states_.push_back(zeros({channels_, member.forecast->size()}));
  for (std::size_t c = 0; c < channels_; ++c) weights_(c, 0) = 1;
}

void Ensemble::fit(const std::vector<std::vector<double>>& channels,
                   const std::vector<std::vector<double>>& covariates) {
  require(channels.size() == channels_, "ensemble", "rows of ", channels_, " channels, not of ",
          channels.size());
  parallel_tasks(channels_, [&](std::size_t c) {
    const auto keep = [&](const auto& numbers, Tensor& in) {
      std::ranges::transform(numbers, in.data() + c * in.size() / channels_,
                             [](auto x) { return real(x); });
    };
    std::vector<double> rows = channels[c];
    if (effects_.size() > 0) keep(covariate_effects(rows, covariates[c], season_), effects_);
    std::vector<double> effects;
    for (std::size_t i = 0; effects_.size() > 0 && i < rows.size(); ++i) {
      effects.push_back(effect(c, covariates[c], i));
      rows[i] -= effects[i];
    }
    const Contest contest = compete(members_, rows, horizon_, effects);
    for (std::size_t m = 0; m < members_.size(); ++m) {
      errors_(c, m) = real(contest.errors[m]);
      weights_(c, m) = real(contest.weights[m]);
      if (contest.weights[m] == 0) continue;
      const std::vector<double>& state = contest.states[m];
      std::ranges::transform(state, states_[m].data() + c * state.size(),
                             [](double x) { return real(x); });
    }
    keep(contest.spread, spread_);
    keep(contest.naive_spread, naive_spread_);
    keep(contest.origins, origins_);
    keep(contest.residuals, residuals_);
    for (std::size_t b = 0; b < 2; ++b) {
      bands_(c, b) = real(contest.bands[b]);
      bands_(c, 3 + b) = real(contest.covered[b]);
    }
    bands_(c, 2) = real(contest.error);
  });
}

std::vector<double> Ensemble::state(std::size_t member, std::size_t channel) const {
  const std::size_t size = members_[member].forecast->size();
  const real* numbers = states_[member].data() + channel * size;
  return {numbers, numbers + size};
}

std::size_t Ensemble::naive_member(std::size_t channel) const {
  const real* errors = errors_.data() + channel * members_.size();
  return best_naive(members_, {errors, errors + members_.size()});
}

std::size_t Ensemble::least_rows(std::size_t channel) const {
  std::size_t least = members_[naive_member(channel)].forecast->least_rows();
  for (std::size_t m = 0; m < members_.size(); ++m)
    if (weights_(channel, m) > 0) least = std::max(least, members_[m].forecast->least_rows());
  return least;
}

double Ensemble::effect(std::size_t channel, Rows covariates, std::size_t row) const {
  const std::size_t C = effects_.shape()[1];
  double sum = 0;
  for (std::size_t c = 0; c < C; ++c)
    sum += double(effects_(channel, c)) * covariates[c * covariates.size() / C + row];
  return sum;
}

EnsembleForecast Ensemble::forecast(std::size_t channel, Rows of, Rows covariates) const {
  std::vector<double> rows(of.begin(), of.end());
  for (std::size_t i = 0; effects_.size() > 0 && i < rows.size(); ++i)
    rows[i] -= effect(channel, covariates, i);
  EnsembleForecast forecast{std::vector<double>(horizon_), {}};
  const std::size_t naive = naive_member(channel);
  forecast.naive = members_[naive].forecast->forecast(of, state(naive, channel));
  for (std::size_t m = 0; m < members_.size(); ++m) {
    const double weight = double(weights_(channel, m));
    if (weight == 0) continue;
    const std::vector<double> values = members_[m].forecast->forecast(rows, state(m, channel));
    for (std::size_t h = 0; h < horizon_; ++h) forecast.mean[h] += weight * values[h];
  }
  for (std::size_t h = 0; effects_.size() > 0 && h < horizon_; ++h) {
    const double effect_to_come = effect(channel, covariates, rows.size() + h);
    forecast.mean[h] += effect_to_come;
  }
  add_bands(channel, forecast);
  return forecast;
}

EnsembleForecast Ensemble::repeated(std::size_t channel, double value) const {
  EnsembleForecast forecast{std::vector<double>(horizon_, value), {}};
  forecast.naive = forecast.mean;
  add_bands(channel, forecast);
  return forecast;
}

void Ensemble::add_bands(std::size_t channel, EnsembleForecast& forecast) const {
  for (std::size_t b = 0; b < 2; ++b)
    for (std::size_t h = 0; h < horizon_; ++h)
      forecast.half_widths[b].push_back(double(bands_(channel, b)) * double(spread_(channel, h)));
}

Contest Ensemble::contest(std::size_t channel) const {
  Contest contest{};
  for (std::size_t m = 0; m < members_.size(); ++m) {
    contest.errors.push_back(double(errors_(channel, m)));
    contest.weights.push_back(double(weights_(channel, m)));
  }
  for (std::size_t h = 0; h < horizon_; ++h) {
    contest.spread.push_back(double(spread_(channel, h)));
    contest.naive_spread.push_back(double(naive_spread_(channel, h)));
  }
  for (std::size_t o = 0; o < most_origins && origins_(channel, o) > 0; ++o) {
    contest.origins.push_back(std::size_t(origins_(channel, o)));
    for (std::size_t h = 0; h < horizon_; ++h)
      contest.residuals.push_back(double(residuals_(channel, o, h)));
  }
  contest.naive = naive_member(channel);
  for (std::size_t b = 0; b < 2; ++b) {
    contest.bands[b] = double(bands_(channel, b));
    contest.covered[b] = double(bands_(channel, 3 + b));
  }
  contest.error = double(bands_(channel, 2));
  return contest;
}

void Ensemble::visit(Visitor& visitor) {
  for (std::size_t m = 0; m < members_.size(); ++m) {
    std::string name = members_[m].name;
    std::ranges::replace(name, ' ', '_');
    visitor(name, states_[m]);
  }
  visitor("errors", errors_);
  visitor("weights", weights_);
  if (effects_.size() > 0) visitor("effects", effects_);
  visitor("origins", origins_);
  visitor("residuals", residuals_);
  visitor("naive_spread", naive_spread_);
  visitor("spread", spread_);
  visitor("bands", bands_);
}

}  // namespace bochner::inline BOCHNER_PRECISION
