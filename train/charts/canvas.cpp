#include <fmt/format.h>

#include <algorithm>
#include <bochner/base/format.hpp>
#include <bochner/data/formats/time_stamp.hpp>
#include <bochner/train/charts/canvas.hpp>
#include <bochner/train/charts/page.hpp>
#include <chrono>
#include <cmath>

namespace bochner {
namespace {

constexpr double wanted_ticks = 5;

/// Returns the step, 1, 2 or 5 times a power of ten, that is nearest to `span / wanted_ticks`.
double tick_step(double span) {
  const double raw = span / wanted_ticks, power = std::pow(10, std::floor(std::log10(raw)));
  const double part = raw / power;
  return power * (part < 1.4 ? 1 : part < 3.2 ? 2 : part < 7.1 ? 5 : 10);
}

/// Formats a tick with the digits that the step needs, so that labels are alike and distinct.
std::string tick_label(double number, double step) {
  if (std::fabs(number) < step / 1e6) return "0";
  const double size = std::fabs(number);
  const std::string sign = number < 0 ? "−" : "";
  const int first = int(std::floor(std::log10(size) + 1e-9)),
            last = int(std::floor(std::log10(step) + 1e-9));  // decimal places
  if (first >= 4 && first < 12) {
    const int unit = first / 3 * 3;
    if (unit - last <= 2)
      return sign + fmt::format("{:.{}f}", size / std::pow(10, unit), std::max(0, unit - last)) +
             " kMG"[unit / 3];
  }
  if (first < -4 || first >= 9 || last < -9)
    return sign + fmt::format("{:.{}e}", size, std::max(0, first - last));
  return sign + fmt::format("{:.{}f}", size, std::max(0, -last));
}

std::string decade_label(int exponent) {
  if (exponent >= -3 && exponent <= 3) return short_number(std::pow(10, exponent));
  const char* digits[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string raised;
  for (const char digit : std::to_string(std::abs(exponent))) raised += digits[digit - '0'];
  return std::string("10") + (exponent < 0 ? "⁻" : "") + raised;
}

constexpr double most_date_ticks = 6, minute = 60, hour = 3600, day = 86400;
constexpr double year_0 = -62167219200, year_9999 = 253370764800;

/// Formats "2016-07-01 00:00:00" without the parts that all ticks share or lack.
std::string date_label(double time, double step) {
  const std::string text = format_time(time);
  if (step >= day) return text.substr(0, 10);
  return step >= minute ? text.substr(5, 11) : text.substr(11, 8);
}

std::vector<Tick> even_ticks(double low, double high, double step) {
  const double origin = step == 7 * day ? 4 * day : 0;  // a Monday
  std::vector<Tick> ticks;
  for (double i = std::ceil((low - origin) / step); origin + i * step <= high; ++i)
    ticks.push_back({origin + i * step, date_label(origin + i * step, step)});
  return ticks;
}

/// Returns the first of every `step` months, counted from January of the year 0.
std::vector<Tick> month_ticks(double low, double high, int step) {
  const auto date = std::chrono::year_month_day(
      std::chrono::sys_days(std::chrono::days(std::int64_t(std::floor(low / day)))));
  int month = 12 * int(date.year()) + int(unsigned(date.month())) - 1;
  std::vector<Tick> ticks;
  for (month -= month % step;; month += step) {
    const std::chrono::sys_days first =
        std::chrono::year(month / 12) / std::chrono::month(unsigned(month % 12) + 1) / 1;
    const double at = double(first.time_since_epoch().count()) * day;
    if (at > high) return ticks;
    if (at >= low) ticks.push_back({at, format_time(at).substr(0, step % 12 == 0 ? 4 : 7)});
  }
}

/// Returns up to six ticks at whole seconds, minutes, hours, days, months or years between two
/// times in seconds since 1970, UTC; none beyond the years 0 to 9999.
std::vector<Tick> date_ticks(double low, double high) {
  if (!(low >= year_0 && high <= year_9999)) return {};
  for (const double step : {1.0, 5.0, 15.0, 30.0, minute, 5 * minute, 15 * minute, 30 * minute,
                            hour, 3 * hour, 6 * hour, 12 * hour, day, 2 * day, 7 * day, 14 * day})
    if (high - low <= most_date_ticks * step) return even_ticks(low, high, step);
  for (const int months : {1, 3, 6, 12, 24, 60, 120, 240, 600, 1200, 6000})
    if (high - low <= most_date_ticks * 30 * day * months) return month_ticks(low, high, months);
  return month_ticks(low, high, 24000);
}

constexpr double character_width = 6.3;  // for text of 11.5 px

std::string swatch(const LegendEntry& entry, double x, double y) {
  const std::string colour = colour_class(entry.colour);
  if (entry.mark == Mark::points)
    return fmt::format(R"(<circle class="dot {}" cx="{}" cy="{}" r="3.5"/>)", colour,
                       coordinate(x + 8), coordinate(y));
  return fmt::format(R"(<path class="curve {}{}" d="M{} {}h16"/>)", colour,
                     entry.mark == Mark::dashed ? " dashed" : "", coordinate(x), coordinate(y));
}

}  // namespace

void Extent::add(const std::vector<double>& numbers, Scale scale) {
  for (const double number : numbers) {
    if (!std::isfinite(number) || (scale == Scale::logarithmic && number <= 0)) continue;
    low = empty ? number : std::min(low, number);
    high = empty ? number : std::max(high, number);
    empty = false;
  }
}

AxisLayout::AxisLayout(const Axis& axis, double low, double high)
    : scale_(axis.scale), low_(axis.lowest.value_or(low)), high_(axis.highest.value_or(high)) {
  if (scale_ == Scale::logarithmic) {
    low_ = std::log10(low_ > 0 ? low_ : 1);
    high_ = std::log10(high_ > 0 ? high_ : 10);
    const double margin = 0.03 * (high_ - low_);
    if (!axis.lowest) low_ -= margin;
    if (!axis.highest) high_ += margin;
  }
  if (!(high_ - low_ > 1e-12 * std::max(std::fabs(low_), std::fabs(high_)))) {
    const double end = axis.highest ? high_ : low_;
    const double span = scale_ == Scale::logarithmic || end == 0 ? 1 : std::fabs(end);
    const bool is_anchored = axis.lowest.has_value() != axis.highest.has_value();
    const double below = is_anchored ? (axis.lowest ? 0 : 1) : 0.5;
    low_ = end - below * span;
    high_ = end + (1 - below) * span;
  }
  if (scale_ == Scale::logarithmic) choose_decades();
  if (scale_ == Scale::time) ticks_ = date_ticks(low_, high_);
  if (scale_ != Scale::logarithmic && ticks_.empty()) choose_linear_ticks(axis);
}

void AxisLayout::choose_linear_ticks(const Axis& axis) {
  const double step = tick_step(high_ - low_);
  if (!axis.lowest) low_ = step * std::floor(low_ / step + 1e-9);
  if (!axis.highest) high_ = step * std::ceil(high_ / step - 1e-9);
  for (double index = std::ceil(low_ / step - 1e-9); index * step <= high_ + step / 1e6; ++index)
    ticks_.push_back({index * step, tick_label(index * step, step)});
}

void AxisLayout::choose_decades() {
  const double decades = high_ - low_;
  const int stride = std::max(1, int(std::ceil(decades / 6)));
  for (int exponent = int(std::floor(low_)); exponent <= int(std::floor(high_)); ++exponent) {
    for (int digit = 1; digit < 10; ++digit) {
      const double place = exponent + std::log10(digit);
      if (place < low_ - 1e-9 || place > high_ + 1e-9) continue;
      const double number = std::pow(10, exponent) * digit;
      std::string label;
      if (digit == 1 && exponent % stride == 0)
        label = decade_label(exponent);
      else if (decades < 0.6 || (decades < 2.6 && (digit == 2 || digit == 5)))
        label = short_number(number);
      if (!label.empty() || decades < 4) ticks_.push_back({number, label});
    }
  }
  if (std::ranges::count_if(ticks_, [](const Tick& tick) { return !tick.label.empty(); }) < 2)
    choose_between_digits();
}

/// Chooses ticks where all numbers lie between two digits, or one of these among the numbers.
void AxisLayout::choose_between_digits() {
  const double low = std::pow(10, low_), high = std::pow(10, high_), step = tick_step(high - low);
  ticks_.clear();
  for (double index = std::ceil(low / step - 1e-9); index * step <= high + step / 1e6; ++index)
    ticks_.push_back({index * step, tick_label(index * step, step)});
}

bool AxisLayout::has(double number) const {
  return std::isfinite(number) && (scale_ != Scale::logarithmic || number > 0);
}

double AxisLayout::operator()(double number) const {
  const double place = scale_ == Scale::logarithmic ? std::log10(number) : number;
  const double part = (place - low_) / (high_ - low_);
  return from_ + std::clamp(part, -0.02, 1.02) * (to_ - from_);
}

std::string colour_class(int colour) { return fmt::format("c{}", colour % palette_size); }

double text_width(const std::string& text) {
  return character_width * double(character_count(text));
}

void Canvas::text(double x, double y, const std::string& words, const char* style,
                  const char* anchor) {
  body_ += fmt::format(R"(<text class="{}" x="{}" y="{}" text-anchor="{}">{}</text>)", style,
                       coordinate(x), coordinate(y), anchor, escaped(words));
}

void Canvas::line(double x1, double y1, double x2, double y2, const char* style) {
  body_ += fmt::format(R"(<path class="{}" d="M{} {}L{} {}"/>)", style, coordinate(x1),
                       coordinate(y1), coordinate(x2), coordinate(y2));
}

double Canvas::legend(const std::vector<LegendEntry>& entries, double y) {
  double x = 0;
  for (const LegendEntry& entry : entries) {
    if (entry.name.empty()) continue;
    const double wide = 22 + text_width(entry.name);
    if (x > 0 && x + wide > width_) {
      x = 0;
      y += 18;
    }
    body_ += swatch(entry, x, y - 4);
    text(x + 22, y, entry.name, "label");
    x += wide + 16;
  }
  return x > 0 ? y + 12 : y - 10;
}

double Canvas::header(const std::string& title, const std::string& note,
                      const std::vector<LegendEntry>& entries) {
  double y = 0;
  if (!title.empty()) text(0, y += 15, title, "title");
  if (!note.empty()) text(0, y += 17, note, "label");
  return legend(entries, y + 21);
}

double Canvas::margin(const AxisLayout& axis) {
  double widest = 0;
  for (const Tick& tick : axis.ticks()) widest = std::max(widest, text_width(tick.label));
  return widest + 10;
}

void Canvas::value_axis(const AxisLayout& axis, const std::string& label, const Rectangle& plot) {
  for (const Tick& tick : axis.ticks()) {
    const double y = axis(tick.at);
    line(plot.left, y, plot.right, y, tick.label.empty() ? "grid minor" : "grid");
    if (!tick.label.empty()) text(plot.left - 8, y + 4, tick.label, "tick", "end");
  }
  text(0, plot.top - 16, label, "label");
}

void Canvas::bottom_axis(const AxisLayout& axis, const std::string& label, const Rectangle& plot) {
  line(plot.left, plot.bottom, plot.right, plot.bottom, "base");
  double free_from = -1e9;
  for (const Tick& tick : axis.ticks()) {
    const double x = axis(tick.at), half = text_width(tick.label) / 2;
    line(x, plot.bottom, x, plot.bottom + (tick.label.empty() ? 3 : 5), "base");
    if (tick.label.empty() || x - half < free_from) continue;
    text(x, plot.bottom + 18, tick.label, "tick", "middle");
    free_from = x + half + 6;
  }
  text((plot.left + plot.right) / 2, plot.bottom + 36, label, "label", "middle");
}

std::string Canvas::finish(const std::string& title) const {
  return fmt::format(
      R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {} {}" style="min-width:{}px" role="img" aria-label="{}">{}</svg>)",
      coordinate(width_), coordinate(height_), coordinate(smallest_scale * width_), escaped(title),
      body_);
}

}  // namespace bochner
