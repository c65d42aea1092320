#include <bochner/base/numeric/cholesky.hpp>
#include <bochner/base/numeric/parallel.hpp>
#include <bochner/base/shape.hpp>
#include <bochner/layers/probability/dirichlet_process.hpp>
#include <bochner/layers/probability/gaussian_mixture.hpp>
#include <map>
#include <numbers>
#include <numeric>
#include <optional>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// One of the weights exp(logs), which need not sum to 1, by a uniform number.
std::size_t chosen(const std::vector<double>& logs, double uniform) {
  const double most = *std::ranges::max_element(logs);
  double left = 0;
  for (const double one : logs) left += std::exp(one - most);
  left *= uniform;
  std::size_t k = 0;
  for (; k + 1 < logs.size(); ++k) {
    left -= std::exp(logs[k] - most);
    if (left < 0) break;
  }
  return k;
}

/// A component of the urn: what its rows say of the next one, ready to be asked.
class UrnComponent {
 public:
  explicit UrnComponent(const NormalWishart& base) : state_(base) { prepare(); }
  void add(const double* row) { ++count_, state_.add(row), prepare(); }
  void remove(const double* row) { --count_, state_.remove(row), prepare(); }
  std::size_t count() const { return count_; }

  double log_predictive(const double* row) const { return (*density_)(row); }

 private:
  void prepare() { density_.emplace(state_.predictive()); }

  NormalWishart state_;
  std::size_t count_ = 0;
  std::optional<StudentDensity> density_;
};

class PolyaUrn : public GibbsSampler {
 public:
  PolyaUrn(const DirichletProcess& process, std::vector<double> rows, const RandomFunction& random)
      : process_(process),
        rows_(std::move(rows)),
        random_(random),
        empty_(process.base),
        labels_(
            chinese_restaurant_labels(rows_.size() / dim(), process.concentration, Draws(random))) {
    for (std::size_t i = 0; i < labels_.size(); ++i) {
      if (labels_[i] == components_.size()) components_.push_back(empty_);
      components_[labels_[i]].add(row(i));
    }
  }

  void sweep() override {
    RandomFunction now = random_;
    now.stream += ++sweeps_;
    for (std::size_t i = 0; i < labels_.size(); ++i) {
      take_out(i);
      std::vector<double> logs;
      for (const UrnComponent& one : components_)
        logs.push_back(std::log(double(one.count())) + one.log_predictive(row(i)));
      logs.push_back(std::log(process_.concentration) + empty_.log_predictive(row(i)));
      labels_[i] = chosen(logs, now.uniform(i));
      if (labels_[i] == components_.size()) components_.push_back(empty_);
      components_[labels_[i]].add(row(i));
    }
  }

  const std::vector<std::size_t>& labels() const override { return labels_; }

 private:
  std::size_t dim() const { return process_.base.mean.size(); }
  const double* row(std::size_t i) const { return rows_.data() + i * dim(); }

  /// The last component takes the number of one that becomes empty.
  void take_out(std::size_t i) {
    const std::size_t own = labels_[i], last = components_.size() - 1;
    components_[own].remove(row(i));
    if (components_[own].count() > 0) return;
    components_[own] = components_[last];
    components_.pop_back();
    for (std::size_t& label : labels_)
      if (label == last) label = own;
  }

  DirichletProcess process_;
  std::vector<double> rows_;
  RandomFunction random_;
  UrnComponent empty_;
  std::vector<std::size_t> labels_;
  std::vector<UrnComponent> components_;
  std::uint64_t sweeps_ = 0;
};

/// Mean and covariance of a draw of the precision and of the mean given it.
GaussianComponent drawn_component(const NormalWishart& state, Draws& draws) {
  const std::size_t d = state.mean.size();
  GaussianComponent drawn{0, state.mean, inverse_of(state.precision().draw(draws), d)};
  std::vector<double> factor = drawn.covariance, z(d);
  cholesky(d, factor.data());
  for (double& one : z) one = draws.normal();
  for (std::size_t i = 0; i < d; ++i)
    for (std::size_t j = 0; j <= i; ++j)
      drawn.mean[i] += factor[i * d + j] * z[j] / std::sqrt(state.strength);
  return drawn;
}

class StickBreaking : public GibbsSampler {
 public:
  StickBreaking(const DirichletProcess& process, std::vector<double> rows, std::size_t sticks,
                const RandomFunction& random)
      : process_(process),
        rows_(std::move(rows)),
        sticks_(sticks),
        random_(random),
        labels_(rows_.size() / dim()) {
    const auto first =
        chinese_restaurant_labels(labels_.size(), process.concentration, Draws(random));
    for (std::size_t i = 0; i < labels_.size(); ++i) labels_[i] = first[i] % sticks;
    all_.seen.resize(dim());
    std::iota(all_.seen.begin(), all_.seen.end(), 0);
  }

  void sweep() override {
    RandomFunction now = random_;
    now.stream += 2 * ++sweeps_;
    const std::vector<GaussianComponent> components = drawn_components(now);
    std::vector<SeenGaussian> seen;
    for (const GaussianComponent& one : components) seen.emplace_back(one, all_);
    now.stream += 1;
    parallel_each(labels_.size(), 64, [&](std::size_t i) {
      std::vector<double> logs;
      for (std::size_t k = 0; k < sticks_; ++k)
        logs.push_back(std::log(components[k].share) + seen[k].log_density(row(i)));
      labels_[i] = chosen(logs, now.uniform(i));
    });
  }

  const std::vector<std::size_t>& labels() const override { return labels_; }

 private:
  std::size_t dim() const { return process_.base.mean.size(); }
  const double* row(std::size_t i) const { return rows_.data() + i * dim(); }

  /// Fits the components to their rows; shares are sticks broken at Beta(1 + own rows, a + later
  /// rows).
  std::vector<GaussianComponent> drawn_components(const RandomFunction& random) const {
    std::vector<NormalWishart> states(sticks_, process_.base);
    std::vector<double> counts(sticks_);
    for (std::size_t i = 0; i < labels_.size(); ++i) {
      states[labels_[i]].add(row(i));
      counts[labels_[i]] += 1;
    }
    Draws draws(random);
    double rest = 1, behind = double(labels_.size());
    std::vector<GaussianComponent> components;
    for (std::size_t k = 0; k < sticks_; ++k) {
      components.push_back(drawn_component(states[k], draws));
      behind -= counts[k];
      const double broken =
          BetaDistribution{1 + counts[k], process_.concentration + behind}.draw(draws);
      components[k].share = k + 1 < sticks_ ? rest * broken : rest;
      rest *= 1 - broken;
    }
    return components;
  }

  DirichletProcess process_;
  std::vector<double> rows_;
  std::size_t sticks_;
  RandomFunction random_;
  std::vector<std::size_t> labels_;
  SeenEntries all_;
  std::uint64_t sweeps_ = 0;
};

}  // namespace

std::vector<std::size_t> chinese_restaurant_labels(std::size_t n, double concentration,
                                                   Draws draws) {
  std::vector<std::size_t> labels;
  std::size_t tables = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const bool alone = draws.chance(concentration / (concentration + double(i)));
    labels.push_back(alone ? tables++ : labels[draws.below(i)]);
  }
  return labels;
}

std::vector<double> stick_breaking_shares(std::size_t count, double concentration, Draws draws) {
  std::vector<double> lengths;
  double rest = 1;
  for (std::size_t k = 0; k < count; ++k) {
    const double broken = BetaDistribution{1, concentration}.draw(draws);
    lengths.push_back(rest * broken);
    rest *= 1 - broken;
  }
  return lengths;
}

std::unique_ptr<GibbsSampler> collapsed_gibbs_sampler(const DirichletProcess& process,
                                                      std::vector<double> rows,
                                                      const RandomFunction& random) {
  return std::make_unique<PolyaUrn>(process, std::move(rows), random);
}

std::unique_ptr<GibbsSampler> blocked_gibbs_sampler(const DirichletProcess& process,
                                                    std::vector<double> rows, std::size_t sticks,
                                                    const RandomFunction& random) {
  return std::make_unique<StickBreaking>(process, std::move(rows), sticks, random);
}

std::vector<NormalWishart> component_posteriors(const DirichletProcess& process,
                                                const std::vector<std::size_t>& labels,
                                                const std::vector<double>& rows) {
  const std::size_t d = process.base.mean.size();
  require(labels.size() * d == rows.size(), "component_posteriors", labels.size(), " labels, ",
          rows.size(), " values in rows of ", d);
  std::vector<NormalWishart> states;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] >= states.size()) states.resize(labels[i] + 1, process.base);
    states[labels[i]].add(rows.data() + i * d);
  }
  return states;
}

double log_joint(const DirichletProcess& process, const std::vector<std::size_t>& labels,
                 const std::vector<double>& rows) {
  const double n = double(labels.size()), a = process.concentration,
               base = process.base.log_integral();
  double sum =
      std::lgamma(a) - std::lgamma(a + n) - double(rows.size()) / 2 * std::log(std::numbers::pi);
  for (const NormalWishart& one : component_posteriors(process, labels, rows))
    sum +=
        std::log(a) + std::lgamma(one.strength - process.base.strength) + one.log_integral() - base;
  return sum;
}

std::size_t count_components(GibbsSampler& sampler, std::size_t sweeps, double least_share) {
  std::map<std::size_t, std::size_t> seen;  // how often each number
  for (std::size_t s = 0; s < sweeps; ++s) {
    sampler.sweep();
    if (s < sweeps / 2) continue;
    std::map<std::size_t, double> rows_of;
    for (const std::size_t label : sampler.labels()) rows_of[label] += 1;
    const double least = least_share * double(sampler.labels().size());
    ++seen[std::size_t(std::ranges::count_if(
        rows_of, [&](const auto& one) { return one.second >= std::max(least, 1.0); }))];
  }
  const auto most = std::ranges::max_element(seen, {}, [](const auto& one) { return one.second; });
  return most == seen.end() ? 0 : most->first;
}

}  // namespace bochner::inline BOCHNER_PRECISION
