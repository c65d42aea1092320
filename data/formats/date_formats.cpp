#include <algorithm>
#include <bochner/base/text.hpp>
#include <bochner/data/formats/date_formats.hpp>
#include <bochner/data/formats/time_stamp.hpp>
#include <chrono>
#include <cmath>
#include <iterator>
#include <map>
#include <set>

namespace bochner {
namespace {

constexpr char slot = '\1';  // of a number whose role is open

bool is_ascii_digit(char c) { return c >= '0' && c <= '9'; }
bool is_ascii_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

template <class Is>
std::string_view run_of(std::string_view text, const Is& is) {
  return text.substr(0, std::size_t(std::ranges::find_if_not(text, is) - text.begin()));
}

bool begins_with_half_of_day(std::string_view text) {
  const std::string word = lower_case(run_of(text, is_ascii_letter));
  return word == "am" || word == "pm";
}

/// Returns whether a text ends after an offset from UTC such as +02:00, -0330 or +02.
bool is_offset(std::string_view text) {
  return parse_time(text, "%z").has_value() && !is_ascii_letter(text[0]);
}

/// Derives a format from the text of a date; numbers of days, months and years become slots.
class DateShape {
 public:
  explicit DateShape(std::string_view text) : rest_(text) {
    bool fits = !text.empty() && (is_ascii_digit(text[0]) || is_ascii_letter(text[0]));
    while (fits && !rest_.empty())
      fits = is_ascii_digit(rest_[0]) ? number() : is_ascii_letter(rest_[0]) ? word() : mark();
    if (!fits || last_ == '-') format_.clear(), digits_.clear();
  }

  /// Returns the formats for each choice of roles that the numbers may have.
  std::vector<std::string> formats() const {
    std::vector<std::string> all;
    for (const std::string_view roles : choices()) {
      std::string format;
      std::size_t next = 0;
      for (const char c : format_)
        format += c == slot ? std::string("%") + roles[next++] : std::string(1, c);
      all.push_back(format);
    }
    return all;
  }

 private:
  void take(std::size_t size, std::string_view format) {
    last_ = rest_[size - 1];
    rest_.remove_prefix(size);
    format_ += format;
  }

  bool number() {
    const std::size_t size = run_of(rest_, is_ascii_digit).size();
    const std::string_view after = rest_.substr(size);
    if (size <= 2 && after.starts_with(':')) return clock(size);
    if (size <= 2 && begins_with_half_of_day(after.substr(after.starts_with(' ') ? 1 : 0)))
      return hour(size, "%I");
    if (size == 8 || size == 14) return compact(size);
    if (is_compact_ && !has_clock_ && (size == 4 || size == 6))
      return hour(size, size == 4 ? "%H%M" : "%H%M%S");
    if (size > 2 && size != 4) return false;
    digits_.push_back(size);
    take(size, std::string_view(&slot, 1));
    return true;
  }

  bool compact(std::size_t size) {
    if (is_compact_ || !digits_.empty() || size == format_.size() + rest_.size()) return false;
    is_compact_ = true, has_clock_ = size == 14;
    take(size, has_clock_ ? "%Y%m%d%H%M%S" : "%Y%m%d");
    return true;
  }

  bool hour(std::size_t size, std::string_view format) {
    if (has_clock_) return false;
    has_clock_ = true;
    take(size, format);
    return true;
  }

  /// Takes a time of day from the hour on: 13:45, 1:45:00.5 PM, 13:45+02:00.
  bool clock(std::size_t size) {
    std::string_view after = rest_.substr(size);
    const bool has_seconds = after.size() > 3 && after[3] == ':';
    std::size_t end = std::min<std::size_t>(after.size(), has_seconds ? 6 : 3);
    if (has_seconds && after.substr(end).starts_with('.'))
      end += 1 + run_of(after.substr(end + 1), is_ascii_digit).size();
    after = after.substr(end);
    const bool is_half = begins_with_half_of_day(after.substr(after.starts_with(' ') ? 1 : 0));
    return hour(size + end,
                std::string(is_half ? "%I" : "%H") + ":%M" + (has_seconds ? ":%S" : "")) &&
           (!is_offset(after) || offset());
  }

  bool offset() {
    take(rest_.size(), "%z");
    return true;
  }

  bool word() {
    const std::string_view text = run_of(rest_, is_ascii_letter);
    const std::string name = lower_case(text);
    if (parse_time(text, "%a")) return take(text.size(), "%a"), true;
    if (parse_time(text, "%b")) {
      if (names_month_) return false;
      names_month_ = true;
      return take(text.size(), "%b"), true;
    }
    if (name == "q" || name == "w") return part_of_year(text);
    const bool after_digit = is_ascii_digit(last_);
    if (name == "m" && digits_.size() == 1 && digits_[0] == 4) return take(1, text), true;
    if (name == "t" && after_digit) return take(1, text), true;
    if (!has_clock_) return false;
    if (name == "z" && after_digit && text.size() == rest_.size()) return offset();
    if (name == "am" || name == "pm") return take(text.size(), "%p"), true;
    return (name == "utc" || name == "gmt") && (take(text.size(), text), true);
  }

  /// Takes a quarter or a week of the year: Q1, W05, W05-3.
  bool part_of_year(std::string_view letter) {
    const bool is_week = lower_case(letter) == "w";
    const std::size_t size = run_of(rest_.substr(1), is_ascii_digit).size();
    if (part_of_year_ != 0 || size != (is_week ? 2 : 1)) return false;
    part_of_year_ = is_week ? 'V' : 'q';
    take(1 + size, std::string(letter) + '%' + part_of_year_);
    if (is_week && rest_.size() == 2 && rest_[0] == '-' && is_ascii_digit(rest_[1])) take(2, "-%u");
    return true;
  }

  bool mark() {
    if (has_clock_ && is_offset(rest_)) return offset();
    constexpr std::string_view marks = " -/.,'";
    if (marks.find(rest_[0]) == marks.npos) return false;
    const bool is_space = rest_[0] == ' ';
    const std::size_t size = is_space ? run_of(rest_, [](char c) { return c == ' '; }).size() : 1;
    take(size, rest_.substr(0, 1));
    return true;
  }

  /// Returns the text between a slot, counted from 0, and the next one.
  std::string between(std::size_t first) const {
    std::size_t at = format_.find(slot);
    for (; first > 0; --first) at = format_.find(slot, at + 1);
    return format_.substr(at + 1, format_.find(slot, at + 1) - at - 1);
  }

  using Roles = std::vector<std::string_view>;

  Roles choices() const {
    if (is_compact_) return digits_.empty() && !names_month_ ? Roles{""} : Roles();
    if (std::ranges::count(digits_, 4u) > 1) return {};
    if (part_of_year_ != 0) return choices_with_part();
    if (names_month_) return choices_with_month();
    return digits_.size() == 2   ? choices_of_two()
           : digits_.size() == 3 ? choices_of_three()
                                 : Roles();
  }

  /// Returns the year next to a quarter or a week.
  Roles choices_with_part() const {
    if (digits_.size() != 1 || names_month_ || has_clock_) return {};
    if (digits_[0] == 4) return {part_of_year_ == 'V' ? "G" : "Y"};
    return part_of_year_ == 'q' && digits_[0] == 2 ? Roles{"y"} : Roles();
  }

  Roles choices_of_two() const {
    constexpr std::string_view marks = "-/.Mm";
    const std::string mark = between(0);
    if (has_clock_ || mark.size() != 1 || marks.find(mark) == marks.npos) return {};
    return digits_[0] == 4 ? Roles{"Ym"} : digits_[1] == 4 ? Roles{"mY"} : Roles();
  }

  Roles choices_of_three() const {
    const std::string mark = between(0);
    const bool has_year = digits_[0] == 4 || digits_[2] == 4;
    constexpr std::string_view marks[] = {"-", "/", ".", ". ", " "};
    if (mark != between(1) || std::ranges::find(marks, mark) == std::end(marks)) return {};
    if (digits_[1] == 4 || (mark == " " && !has_year)) return {};
    if (has_year) return digits_[0] == 4 ? Roles{"Ymd"} : Roles{"dmY", "mdY"};
    Roles all;
    if (digits_[2] == 2) all = {"dmy", "mdy"};
    if (std::ranges::count(digits_, 2u) == 3) all.push_back("ymd");
    return all;
  }

  /// Returns the roles of the numbers next to the name of a month.
  Roles choices_with_month() const {
    const bool has_year = std::ranges::count(digits_, 4u) == 1;
    if (digits_.size() == 1 && !has_clock_) return has_year ? Roles{"Y"} : choices_of_short_year();
    if (digits_.size() != 2) return {};
    if (has_year) return {digits_[0] == 4 ? "Yd" : "dY"};
    return digits_[1] == 2 ? Roles{"dy"} : Roles();
  }

  /// Returns the year of Jan-22 and Jan '22; Jan 22 may be a day.
  Roles choices_of_short_year() const {
    const bool is_year = format_.starts_with("%b-") || format_.find('\'') != format_.npos;
    return is_year && digits_[0] == 2 && format_.back() == slot ? Roles{"y"} : Roles();
  }

  std::string_view rest_;
  std::string format_;
  std::vector<std::size_t> digits_;   // of each slot
  char last_ = 0, part_of_year_ = 0;  // directive of a quarter or a week
  bool is_compact_ = false, has_clock_ = false, names_month_ = false;
};

/// Returns the share of the most frequent number.
double share_of_most(const std::vector<double>& numbers) {
  std::map<double, std::size_t> counts;
  std::size_t most = 0;
  for (const double number : numbers) most = std::max(most, ++counts[number]);
  return numbers.empty() ? 0 : double(most) / double(numbers.size());
}

std::vector<double> gaps_of(const std::vector<double>& numbers) {
  std::vector<double> gaps;
  for (std::size_t i = 1; i < numbers.size(); ++i) gaps.push_back(numbers[i] - numbers[i - 1]);
  return gaps;
}

/// Returns the months of the times; none unless all are at one time of one day of theirs.
std::vector<double> months_of(const std::vector<double>& times) {
  std::vector<double> months;
  std::set<std::pair<unsigned, double>> places;
  for (const double time : times) {
    const auto day =
        std::chrono::sys_days(std::chrono::days(std::int64_t(std::floor(time / 86400))));
    const std::chrono::year_month_day date(day);
    months.push_back(12.0 * int(date.year()) + unsigned(date.month()));
    places.insert({unsigned(date.day()), time - 86400 * std::floor(time / 86400)});
  }
  return places.size() == 1 ? months : std::vector<double>();
}

/// Returns the share of the most frequent step between different times; 0 for fewer than four.
double evenness_of(const std::string& format, const std::vector<std::string>& texts) {
  std::set<double> times;
  for (const std::string& text : texts)
    if (const auto time = parse_time(text, format)) times.insert(*time);
  if (times.size() < 4) return 0;
  const std::vector<double> sorted(times.begin(), times.end());
  return std::max(share_of_most(gaps_of(sorted)), share_of_most(gaps_of(months_of(sorted))));
}

}  // namespace

std::vector<std::string> possible_time_formats(std::string_view text) {
  std::vector<std::string> formats = DateShape(text).formats();
  std::erase_if(formats, [&](const auto& format) { return !parse_time(text, format); });
  return formats;
}

std::vector<std::string> time_formats_of(const std::vector<std::string>& texts) {
  std::vector<std::pair<std::string, std::size_t>> counts;  // in the order of their first texts
  std::size_t most = 0;
  for (const std::string& text : texts)
    for (const std::string& format : possible_time_formats(text)) {
      auto found = std::ranges::find(counts, format, &std::pair<std::string, std::size_t>::first);
      if (found == counts.end()) found = counts.insert(found, {format, 0});
      most = std::max(most, ++found->second);
    }
  std::vector<std::string> formats;
  for (const auto& [format, count] : counts)
    if (count == most && 10 * count >= 9 * texts.size()) formats.push_back(format);
  const bool day_first = std::ranges::any_of(
      formats, [](const std::string& each) { return each.find("%d.%m.") != each.npos; });
  if (day_first)
    std::erase_if(formats, [](const auto& each) { return each.find("%m.%d.") != each.npos; });
  return formats;
}

std::vector<std::string> evenly_spaced_formats(const std::vector<std::string>& formats,
                                               const std::vector<std::string>& texts) {
  std::vector<double> evenness;
  for (const std::string& format : formats) evenness.push_back(evenness_of(format, texts));
  for (const double fewest : {1.0, 0.75}) {
    const auto is_even = [&](double share) { return share >= fewest; };
    if (std::ranges::count_if(evenness, is_even) != 1) continue;
    const auto only = std::ranges::find_if(evenness, is_even) - evenness.begin();
    return {formats[std::size_t(only)]};
  }
  return formats;
}

}  // namespace bochner
