#include <algorithm>
#include <bochner/base/errors.hpp>
#include <bochner/base/numeric/parallel.hpp>
#include <bochner/layers/forecasts/ensemble.hpp>
#include <cmath>
#include <numeric>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

MemberSpec member_spec(const EnsembleSpec& spec) {
  MemberSpec members{spec.horizon, spec.lookback, {}};
  for (const double season : spec.seasons) members.seasons.push_back(std::size_t(season));
  return members;
}

}  // namespace

std::vector<std::string> forecast_families() {
  return {"seasonal", "ridge", "smoothing", "process"};
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
  if (competes("ridge")) {
    add("ridge", [&] { return make_ridge(sizes, false); });
    add("ridge of changes", [&] { return make_ridge(sizes, true); });
  }
  if (competes("smoothing")) add("smoothing", [&] { return make_smoothing(sizes); });
  if (competes("process") && spec.channels <= spec.process_channels)
    add("process", [&] { return make_process(sizes); });
  return members;
}

Ensemble::Ensemble(const EnsembleSpec& spec)
    : channels_(spec.channels),
      horizon_(spec.horizon),
      members_(ensemble_members(spec)),
      errors_(zeros({channels_, members_.size()})),
      weights_(zeros({channels_, members_.size()})),
      spread_(zeros({channels_, horizon_})),
      bands_(zeros({channels_, 3})) {
  for (const NamedMember& member : members_)
    states_.push_back(zeros({channels_, member.forecast->size()}));
  for (std::size_t c = 0; c < channels_; ++c) weights_(c, 0) = 1;
}

void Ensemble::fit(const std::vector<std::vector<double>>& channels) {
  require(channels.size() == channels_, "ensemble", "rows of ", channels_, " channels, not of ",
          channels.size());
  parallel_tasks(channels_, [&](std::size_t c) {
    const Contest contest = compete(members_, channels[c], horizon_);
    for (std::size_t m = 0; m < members_.size(); ++m) {
      errors_(c, m) = real(contest.errors[m]);
      weights_(c, m) = real(contest.weights[m]);
      if (contest.weights[m] == 0) continue;
      const std::vector<double>& state = contest.states[m];
      std::ranges::transform(state, states_[m].data() + c * state.size(),
                             [](double x) { return real(x); });
    }
    for (std::size_t h = 0; h < horizon_; ++h) spread_(c, h) = real(contest.spread[h]);
    for (std::size_t b = 0; b < 2; ++b) bands_(c, b) = real(contest.bands[b]);
    bands_(c, 2) = real(contest.error);
  });
}

std::vector<double> Ensemble::state(std::size_t member, std::size_t channel) const {
  const std::size_t size = members_[member].forecast->size();
  const real* numbers = states_[member].data() + channel * size;
  return {numbers, numbers + size};
}

EnsembleForecast Ensemble::forecast(std::size_t channel, Rows rows) const {
  EnsembleForecast forecast{std::vector<double>(horizon_), {}};
  for (std::size_t m = 0; m < members_.size(); ++m) {
    const double weight = double(weights_(channel, m));
    if (weight == 0) continue;
    const std::vector<double> values = members_[m].forecast->forecast(rows, state(m, channel));
    for (std::size_t h = 0; h < horizon_; ++h) forecast.mean[h] += weight * values[h];
  }
  for (std::size_t b = 0; b < 2; ++b)
    for (std::size_t h = 0; h < horizon_; ++h)
      forecast.half_widths[b].push_back(double(bands_(channel, b)) * double(spread_(channel, h)));
  return forecast;
}

Contest Ensemble::contest(std::size_t channel) const {
  Contest contest{};
  for (std::size_t m = 0; m < members_.size(); ++m) {
    contest.errors.push_back(double(errors_(channel, m)));
    contest.weights.push_back(double(weights_(channel, m)));
  }
  for (std::size_t h = 0; h < horizon_; ++h) contest.spread.push_back(double(spread_(channel, h)));
  for (std::size_t b = 0; b < 2; ++b) contest.bands[b] = double(bands_(channel, b));
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
  visitor("spread", spread_);
  visitor("bands", bands_);
}

}  // namespace bochner::inline BOCHNER_PRECISION
