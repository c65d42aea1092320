#include <fmt/format.h>

#include <algorithm>
#include <bochner/base/format.hpp>
#include <bochner/train/studies/learned_pages.hpp>
#include <cmath>
#include <numbers>

namespace bochner {
namespace {

/// Tokens that all passes of a report may read together: a few seconds.
constexpr std::uint64_t most_tokens_read = 1 << 18;
constexpr std::size_t tabled_frequencies = 5;

/// Rise of the loss without a frequency, in percent of the loss.
struct FrequencyRise {
  const EncodedFrequency& frequency;
  double percent;

  /// Returns the length of the frequency in turns per unit.
  double turns() const {
    double square = 0;
    for (const double w : frequency.radians) square += w * w;
    return std::sqrt(square) / (2 * std::numbers::pi);
  }
  std::string components() const {
    std::string text;
    for (const double w : frequency.radians)
      text += fmt::format("{}{:.2f}", text.empty() ? "" : ", ", w / (2 * std::numbers::pi));
    return text;
  }
};

std::string rises_chart(const std::vector<FrequencyRise>& rises) {
  Chart chart{.title = "validation loss without one frequency",
              .x = {"length of the frequency, turns per unit"},
              .y = {"rise of the loss, %"}};
  for (const FrequencyRise& one : rises) {
    if (chart.series.empty() || chart.series.back().name != one.frequency.part)
      chart.add(one.frequency.part, {}, Mark::points);
    chart.series.back().x.push_back(one.turns());
    chart.series.back().y.push_back(one.percent);
  }
  return draw(chart);
}

Table largest_rises(const std::vector<FrequencyRise>& rises) {
  std::vector<const FrequencyRise*> order;
  for (const FrequencyRise& one : rises) order.push_back(&one);
  std::ranges::stable_sort(order, std::greater<>(), &FrequencyRise::percent);
  Table table{{"part", "frequency, turns per unit", "rise of the loss, %"}, {}};
  for (std::size_t i = 0; i < std::min(tabled_frequencies, order.size()); ++i)
    table.rows.push_back({order[i]->frequency.part, order[i]->components(),
                          fmt::format("{:.2f}", order[i]->percent)});
  return table;
}

}  // namespace

std::vector<double> losses_without(const std::vector<EncodedFrequency>& frequencies,
                                   const std::function<double()>& loss) {
  std::vector<double> losses;
  for (const EncodedFrequency& one : frequencies) {
    std::vector<std::vector<real>> saved;
    for (const std::span<real> factor : one.factors) {
      saved.emplace_back(factor.begin(), factor.end());
      std::ranges::fill(factor, real(0));
    }
    losses.push_back(loss());
    for (std::size_t i = 0; i < saved.size(); ++i)
      std::ranges::copy(saved[i], one.factors[i].begin());
  }
  return losses;
}

void add_frequency_losses(Page& page, Task& task) {
  std::vector<EncodedFrequency> frequencies;
  for (const NamedPart& named : parts_of(task.model()))
    if (auto* encoding = dynamic_cast<SpaceTimeEncoding*>(named.part))
      frequencies = encoding->frequencies();
  if (frequencies.empty()) return;
  const std::uint64_t of_one = (frequencies.size() + 1) * task.data().tokens_per_example();
  const std::uint64_t count =
      std::min(task.data().examples().validation, most_tokens_read / of_one);
  const char* heading = "Contribution of each frequency of the encoding";
  if (count == 0)
    return page.section(heading,
                        "Not measured: a pass of a validation example without each of the "
                        "frequencies reads too many tokens, or there is no example.");
  const auto loss = [&] {
    Tape tape({.recording = false});
    return task.evaluate(tape, task.data().in_order(Split::validation, 0, std::size_t(count)))
        .loss();
  };
  const double whole = loss();
  const std::vector<double> losses = losses_without(frequencies, loss);
  std::vector<FrequencyRise> rises;
  for (std::size_t f = 0; f < losses.size(); ++f)
    rises.push_back({frequencies[f], 100 * (losses[f] / whole - 1)});
  page.section(
      heading,
      fmt::format("Rise of the loss of the first {} validation examples, {}, if one frequency is "
                  "left out: its sine and cosine are 0. Below 0 the model predicts these better "
                  "without it. The unit is that of places and times in the model.",
                  count, short_number(whole)));
  page.charts({rises_chart(rises)});
  page.table(largest_rises(rises));
}

}  // namespace bochner
