#include <fmt/format.h>

#include <algorithm>
#include <bochner/base/shape.hpp>
#include <bochner/train/config/usage.hpp>
#include <bochner/train/run/log/file_tail.hpp>
#include <bochner/train/sweep/journal.hpp>
#include <cmath>
#include <limits>
#include <map>
#include <ranges>

namespace bochner {
namespace {

constexpr const char* journal_name = "sweep.jsonl";
constexpr const char* journal_lock = "sweep.lock";

std::vector<std::string> texts_of(const Json& array) {
  std::vector<std::string> texts;
  for (const Json& item : array.items()) texts.push_back(item.text() ? *item.text() : "");
  return texts;
}

/// Whether a score is missing, as in a grid whose trial never measured the goal.
bool lacks_a_score(const Scores& scores) {
  return std::ranges::any_of(scores, [](double one) { return std::isnan(one); });
}

std::vector<double> numbers_of(const Json& array) {
  std::vector<double> numbers;
  for (const Json& item : array.items()) numbers.push_back(item.number().value_or(std::nan("")));
  return numbers;
}

/// Returns a whole number below the bound.
std::uint64_t count_of(const Json& json, std::uint64_t bound = 1'000'000'000'000'000) {
  const auto count = json.count();
  require(count && *count < bound, "sweep", "no count");
  return *count;
}

std::vector<std::string> keys_of(const SweepHeader& header) {
  std::vector<std::string> keys;
  for (const std::string& text : header.vary) keys.push_back(text.substr(0, text.find('=')));
  return keys;
}

Json json_of(const SweepHeader& header) {
  return {{"event", "sweep"},
          {"search", name_of(header.search)},
          {"seed", header.seed},
          {"vary", Json::array(header.vary)},
          {"goals", Json::array(header.goals | std::views::transform(&Goal::text))},
          {"rungs", Json::array(header.rungs)},
          {"factor", header.factor}};
}

SweepHeader header_of(const Json& json) {
  SweepHeader header{.search = parse_search(json["search"].text() ? *json["search"].text() : ""),
                     .seed = count_of(json["seed"], std::numeric_limits<std::uint64_t>::max()),
                     .vary = texts_of(json["vary"]),
                     .goals = {},
                     .factor = json["factor"].number().value_or(0)};
  for (const std::string& goal : texts_of(json["goals"])) header.goals.push_back(parse_goal(goal));
  for (const Json& rung : json["rungs"].items()) header.rungs.push_back(count_of(rung));
  require(!header.goals.empty() && !header.vary.empty(), "sweep", "no goals or nothing to vary");
  return header;
}

/// Returns a header to compare: a grid may get further values of its keys.
Json json_to_compare(const SweepHeader& header) {
  Json json = json_of(header);
  if (header.search == SearchKind::grid) json.set("vary", Json::array(keys_of(header)));
  return json;
}

/// Throws std::invalid_argument that names a changed option.
void require_same(const Path& directory, const SweepHeader& before, const SweepHeader& after) {
  const Json was = json_to_compare(before), is = json_to_compare(after);
  const std::pair<const char*, const char*> options[] = {
      {"search", "--search"}, {"seed", "--seed"},      {"vary", "--vary"},
      {"goals", "--goal"},    {"factor", "--halving"}, {"rungs", "--halving"}};
  for (const auto& [key, option] : options) {
    if (was[key].line() == is[key].line()) continue;
    throw std::invalid_argument(
        fmt::format("{}: was made with {} {}, not {}; choose another --runs DIR",
                    directory.string(), option, was[key].line(), is[key].line()));
  }
}

}  // namespace

std::string state_of(const SweepTrial& trial) {
  if (!trial.failed.empty()) return "failed";
  return trial.done ? "done" : trial.is_open() ? "open" : "waits";
}

double last_measured(const SweepTrial& trial, std::size_t goal) {
  return trial.measured.empty() ? std::nan("") : trial.measured.back()[goal];
}

Space space_of(const SweepHeader& header) {
  std::vector<Variation> variations;
  for (const std::string& text : header.vary) variations.push_back(parse_variation(text));
  return Space(std::move(variations));
}

bool is_sweep(FileStorage& storage, const Path& directory) {
  return storage.exists(directory / journal_name);
}

SweepJournal SweepJournal::read(FileStorage& storage, const Path& directory) {
  const Path file = directory / journal_name;
  demand(is_sweep(storage, directory),
         "{}: not a sweep ({} is missing); give the directory of a sweep", directory.string(),
         journal_name);
  SweepJournal journal(storage, directory);
  journal.read_lines(read_file(storage, file));
  return journal;
}

SweepJournal SweepJournal::open(FileStorage& storage, const Path& directory,
                                const SweepHeader& header) {
  SweepJournal journal(storage, directory);
  make_directories(storage, directory);
  journal.lock_ = storage.lock(directory / journal_lock);
  const Path file = directory / journal_name;
  journal.file_ = storage.open_append(file);
  const std::uint64_t whole_bytes = journal.read_lines(read_file(storage, file));
  journal.file_->truncate(whole_bytes);
  storage.sync_directory(directory);
  const bool is_new = whole_bytes == 0;
  if (!is_new) require_same(directory, journal.header_, header);
  if (is_new || journal.header_.vary != header.vary) journal.write(json_of(header));
  return journal;
}

std::uint64_t SweepJournal::read_lines(std::string_view text) {
  const auto read = [&](std::string_view line, std::size_t number) {
    try {
      apply(Json::parse(line));
    } catch (const std::exception&) {
      throw DataError((directory_ / journal_name).string(), ":", number,
                      ": not written by a sweep; restore the file, or choose another --runs DIR");
    }
  };
  return text.size() - for_each_line(text, read).size();
}

void SweepJournal::apply(const Json& event) {
  const std::string kind = event["event"].text() ? *event["event"].text() : "";
  seconds_ = event["seconds"].number().value_or(seconds_);
  if (kind == "sweep") {
    header_ = header_of(event);
  } else if (kind == "start") {
    require(event["name"].text() && event["name"].text()->find('/') == std::string::npos &&
                event["trial"].number() == double(trials_.size()) &&
                event["values"].items().size() == header_.vary.size(),
            "sweep", "a trial has no name or a wrong number of values");
    trials_.push_back({*event["name"].text(), texts_of(event["values"])});
  } else if (kind != "stopped") {
    apply_to(trials_[count_of(event["trial"], trials_.size())], event, kind);
  }
}

void SweepJournal::apply_to(SweepTrial& trial, const Json& event, const std::string& kind) {
  if (kind == "reached" || kind == "done") {
    trial.steps.push_back(count_of(event["step"]));
    trial.measured.push_back(numbers_of(event["measured"]));
    trial.done = kind == "done";
    require(trial.measured.back().size() == header_.goals.size(), "sweep",
            "a goal has no measurement");
  } else if (kind == "promoted") {
    trial.rung = trial.measured.size();
  } else if (kind == "failed") {
    trial.failed = event["why"].text() ? *event["why"].text() : "failed";
  } else {
    require(kind == "retried", "sweep", "no event");
    if (trial.done) trial = {trial.name, trial.values};
    trial.failed.clear();
  }
}

void SweepJournal::write(const Json& event) {
  const std::string line = event.line() + "\n";
  file_->append(line.data(), line.size());
  file_->sync();
  apply(Json::parse(line));
}

void SweepJournal::write_measured(const char* kind, std::size_t trial, std::uint64_t step,
                                  const std::vector<double>& measured, double seconds) {
  write(trial_event(kind, trial)
            .set("step", step)
            .set("measured", Json::array(measured))
            .set("seconds", seconds));
}

void SweepJournal::promoted(std::size_t trial) {
  const std::size_t rung = trials_[trial].measured.size();
  write(trial_event("promoted", trial).set("to", header_.rungs.at(rung)));
}

std::vector<Tried> SweepJournal::tried() const {
  std::vector<Tried> all;
  for (const SweepTrial& trial : trials_) {
    Tried one{trial.values};
    for (const auto& measured : trial.measured)
      one.reached.push_back(scores_of(header_.goals, measured));
    one.failed = !trial.failed.empty() || std::ranges::any_of(one.reached, lacks_a_score);
    // A trial that ended early, without hope to improve, is complete.
    if (trial.done)
      one.reached.resize(std::max<std::size_t>(1, header_.rungs.size()), one.reached.back());
    all.push_back(std::move(one));
  }
  return all;
}

std::vector<TrialProgress> SweepJournal::progress() const {
  std::vector<TrialProgress> all;
  for (const Tried& trial : tried()) {
    const SweepTrial& own = trials_[all.size()];
    TrialProgress progress;
    for (const Scores& scores : trial.reached) progress.scores.push_back(scores.front());
    if (trial.failed) progress.scores.push_back(std::nan(""));
    progress.waits = !own.done && !trial.failed && !own.is_open();
    all.push_back(std::move(progress));
  }
  return all;
}

std::vector<SeedGroup> SweepJournal::done_groups() const {
  const std::vector<std::string> keys = keys_of(header_);
  const auto seed = std::ranges::find(keys, "train.seed") - keys.begin();
  std::vector<SeedGroup> groups;
  std::map<Values, std::size_t> found;
  for (std::size_t i = 0; i < trials_.size(); ++i) {
    if (!trials_[i].done) continue;
    Values values = trials_[i].values;
    if (std::size_t(seed) < values.size()) values[std::size_t(seed)].clear();
    const auto [entry, is_new] = found.emplace(std::move(values), groups.size());
    if (is_new) groups.push_back({{}, std::vector<double>(header_.goals.size())});
    groups[entry->second].trials.push_back(i);
  }
  for (SeedGroup& group : groups)
    for (std::size_t goal = 0; goal < group.means.size(); ++goal)
      for (const std::size_t trial : group.trials)
        group.means[goal] += trials_[trial].measured.back()[goal] / double(group.trials.size());
  return groups;
}

std::vector<SeedGroup> SweepJournal::best_groups() const {
  const std::vector<SeedGroup> groups = done_groups();
  std::vector<Scores> scores;
  for (const SeedGroup& group : groups) {
    const Scores means = scores_of(header_.goals, group.means);
    scores.push_back(lacks_a_score(means) ? Scores() : means);
  }
  std::vector<SeedGroup> best;
  for (const std::size_t index : pareto_front(scores)) best.push_back(groups[index]);
  if (header_.goals.size() == 1 && !best.empty()) best.resize(1);
  return best;
}

std::vector<std::size_t> SweepJournal::best() const {
  std::vector<std::size_t> trials;
  for (const SeedGroup& group : best_groups())
    trials.insert(trials.end(), group.trials.begin(), group.trials.end());
  return trials;
}

}  // namespace bochner
