#include <bit>
#include <bochner/base/errors.hpp>
#include <bochner/base/numeric/parallel.hpp>
#include <bochner/data/text/state_tracking.hpp>
#include <bochner/data/text/token_tasks.hpp>
#include <cmath>

namespace bochner {
namespace {

class Writer {
 public:
  Writer(const TokenTaskSpec& spec, Draws& draws) : spec(spec), draws(draws) {}
  void add(std::size_t token) { append(token, false); }
  void add_answer(std::size_t token) { append(token, true); }
  void add(std::size_t token, std::size_t times) {
    for (std::size_t i = 0; i < times; ++i) add(token);
  }
  std::vector<std::size_t> symbols(std::size_t n, std::size_t below) {
    std::vector<std::size_t> all(n);
    for (std::size_t& symbol : all) symbol = draws.below(below);
    return all;
  }

  const TokenTaskSpec& spec;
  Draws& draws;
  Questions questions;

 private:
  void append(std::size_t token, bool is_answer) {
    questions.tokens.push_back(std::int32_t(token));
    questions.is_answer.push_back(is_answer);
  }
};

void write_copy(Writer& out) {
  const std::size_t n = out.spec.length / 2, marker = out.spec.vocabulary - 1;
  const std::vector<std::size_t> symbols = out.symbols(n, marker);
  out.add(marker, out.spec.length - 2 * n);
  for (const std::size_t symbol : symbols) out.add(symbol);
  out.add(marker);
  for (const std::size_t symbol : symbols) out.add_answer(symbol);
}

void write_selective_copy(Writer& out) {
  const std::size_t n = out.spec.items, marker = out.spec.vocabulary - 1, noise = marker - 1;
  std::vector<std::size_t> context(out.spec.length - n, noise);
  std::vector<std::size_t> places = out.draws.shuffled(context.size());
  places.resize(n);
  std::ranges::sort(places);
  const std::vector<std::size_t> symbols = out.symbols(n, noise);
  for (std::size_t i = 0; i < n; ++i) context[places[i]] = symbols[i];
  for (const std::size_t token : context) out.add(token);
  out.add(marker);
  for (const std::size_t symbol : symbols) out.add_answer(symbol);
}

void write_recall(Writer& out) {
  const std::size_t keys = (out.spec.vocabulary - 1) / 2, marker = out.spec.vocabulary - 1;
  const std::size_t pairs = out.spec.length / 2 - 1;
  const std::vector<std::size_t> value = out.symbols(keys, keys), seen = out.symbols(pairs, keys);
  out.add(marker, out.spec.length % 2);
  for (const std::size_t key : seen) {
    out.add(key);
    out.add(keys + value[key]);
  }
  out.add(marker);
  // Any key that has occurred; each distinct one is equally likely.
  std::vector<std::size_t> different = seen;
  std::ranges::sort(different);
  different.erase(std::unique(different.begin(), different.end()), different.end());
  const std::size_t asked = different[out.draws.below(different.size())];
  out.add(asked);
  out.add_answer(keys + value[asked]);
}

/// Returns for each slot after the pairs the index of the pair that it asks for; an index beyond
/// the pairs asks for none.
std::vector<std::size_t> asked_in_slots(Writer& out, std::size_t slots) {
  if (out.spec.gap_power == 1) return out.draws.shuffled(slots);
  // Draws slots without replacement by weight: in the order of exponential times with these rates.
  std::vector<std::pair<double, std::size_t>> ends;
  for (std::size_t slot = 0; slot < slots; ++slot) {
    const double weight = std::pow(double(slot + 1), out.spec.gap_power - 1);
    ends.emplace_back(-std::log(out.draws.uniform()) / weight, slot);
  }
  std::ranges::sort(ends);
  std::vector<std::size_t> asked(slots);
  for (std::size_t pair = 0; pair < slots; ++pair) asked[ends[pair].second] = pair;
  return asked;
}

void write_multi_query_recall(Writer& out) {
  const std::size_t half = out.spec.vocabulary / 2, pairs = out.spec.items;
  const std::vector<std::size_t> key = out.draws.shuffled(half), value = out.draws.shuffled(half);
  const std::size_t slots = (out.spec.length + 1 - 2 * pairs) / 2;
  const auto add_noise = [&] {
    out.add(out.spec.filled_with_all ? out.draws.below(2 * half) : half + out.draws.below(half));
  };
  if (out.spec.length % 2 == 0) add_noise();
  for (std::size_t i = 0; i < pairs; ++i) {
    out.add(key[i]);
    out.add(half + value[i]);
  }
  for (const std::size_t i : asked_in_slots(out, slots)) {
    if (i < pairs) {
      out.add(key[i]);
      out.add_answer(half + value[i]);
    } else {
      add_noise();
      add_noise();
    }
  }
}

void write_induction(Writer& out) {
  const std::size_t marker = out.spec.vocabulary - 1, T = out.spec.length;
  std::vector<std::size_t> context = out.symbols(T - 1, marker);
  const std::size_t place = out.draws.below(T - 2);
  context[place] = marker;
  for (const std::size_t token : context) out.add(token);
  out.add(marker);
  out.add_answer(context[place + 1]);
}

/// A task of the library: how it is written, and the smallest sizes.
struct Task {
  void (*write)(Writer&);
  std::size_t (*smallest_length)(const TokenTaskSpec&);
  std::size_t (*smallest_vocabulary)(const TokenTaskSpec&);
};

template <std::size_t size>
std::size_t fixed(const TokenTaskSpec&) {
  return size;
}
std::size_t two_for_each_item(const TokenTaskSpec& spec) { return 2 * spec.items; }
std::size_t four_for_each_item(const TokenTaskSpec& spec) { return 4 * spec.items - 1; }

constexpr Task copy_task{write_copy, fixed<2>, fixed<3>},
    selective_copy{write_selective_copy, two_for_each_item, fixed<4>},
    recall{write_recall, fixed<4>, fixed<5>},
    multi_query_recall{write_multi_query_recall, four_for_each_item, two_for_each_item},
    induction{write_induction, fixed<3>, fixed<3>};

template <const Task& task>
class Written : public TokenGenerator {
 public:
  explicit Written(const TokenTaskSpec& spec) : spec_(spec) {}
  Questions make(Draws draws) const override {
    Writer out(spec_, draws);
    task.write(out);
    return std::move(out.questions);
  }
  std::size_t smallest_length() const override { return task.smallest_length(spec_); }
  std::size_t smallest_vocabulary() const override { return task.smallest_vocabulary(spec_); }

 private:
  TokenTaskSpec spec_;
};

}  // namespace

TokenGenerators& token_tasks() {
  static TokenGenerators registry = [] {
    TokenGenerators all("task of tokens", {});
    all.add("copy", make<Written<copy_task>>);
    all.add("selective_copy", make<Written<selective_copy>>);
    all.add("recall", make<Written<recall>>);
    all.add("multi_query_recall", make<Written<multi_query_recall>>);
    all.add("induction", make<Written<induction>>);
    add_state_tracking(all);
    return std::move(all).built_in();
  }();
  return registry;
}

TokenTaskSpec TokenTaskSpec::of(Split split) const {
  TokenTaskSpec spec = *this;
  if (split != Split::train && validation_length > 0) spec.length = validation_length;
  return spec;
}

TokenTasks::TokenTasks(const TokenTaskSpec& spec, const ExampleSet& examples)
    : TokenSource(examples),
      spec_(spec),
      training_(token_tasks().make(spec.kind, spec)),
      held_out_(token_tasks().make(spec.kind, spec.of(Split::validation))) {
  for (const Split split : {Split::train, Split::validation})
    require(spec.of(split).length >= training_->smallest_length(), "token_tasks",
            split == Split::train ? "data.length = " : "data.validation_length = ",
            spec.of(split).length, ": ", spec.kind, " of ", spec.items, " items needs at least ",
            training_->smallest_length());
  require(spec.vocabulary >= training_->smallest_vocabulary(), "token_tasks",
          "data.vocabulary = ", spec.vocabulary, ": ", spec.kind, " of ", spec.items,
          " items needs at least ", training_->smallest_vocabulary());
}

Questions TokenTasks::questions(const Examples& examples, std::size_t row) const {
  const bool trains = examples.split == Split::train;
  Questions made = (trains ? training_ : held_out_)
                       ->make(draws_of(examples_, examples.split, examples.index(row)));
  const std::size_t tokens = spec_.of(examples.split).length + 1;
  if (made.answers.empty()) made.answers = made.tokens;
  require(made.tokens.size() == tokens && made.is_answer.size() == tokens &&
              made.answers.size() == tokens,
          "token_tasks", "\"", spec_.kind, "\" made ", made.tokens.size(), " tokens, ",
          made.is_answer.size(), " marks of answers and ", made.answers.size(),
          " answers instead of ", tokens, " each");
  for (const auto* numbers : {&made.tokens, &made.answers})
    for (const std::int32_t token : *numbers)
      require(token >= 0 && std::size_t(token) < spec_.vocabulary, "token_tasks", "\"", spec_.kind,
              "\" made the token ", token, "; data.vocabulary = ", spec_.vocabulary);
  return made;
}

Batch TokenTasks::batch(const Examples& examples) const {
  const TokenTaskSpec spec = spec_.of(examples.split);
  const std::size_t count = examples.size(), T = spec.length;
  const bool only_answers = spec_.only_answers || examples.split != Split::train;
  const Indices tokens{{count, T}, std::vector<std::int32_t>(count * T)};
  Batch batch{tokens, tokens};
  parallel_tasks(count, [&](std::size_t row) {
    const Questions questions = this->questions(examples, row);
    for (std::size_t t = 0; t < T; ++t) {
      const bool asked = !only_answers || questions.is_answer[t + 1];
      batch.inputs.values[row * T + t] = questions.tokens[t];
      batch.targets.values[row * T + t] = asked ? questions.answers[t + 1] : not_asked;
    }
  });
  return batch;
}

std::uint64_t TokenTasks::fingerprint() const {
  std::vector<std::uint64_t> parameters{spec_.length, spec_.vocabulary, spec_.items,
                                        spec_.only_answers};
  if (spec_.gap_power != 1) parameters.push_back(std::bit_cast<std::uint64_t>(spec_.gap_power));
  if (spec_.filled_with_all) parameters.push_back(1);
  return examples_.fingerprint(spec_.kind, parameters);
}

std::string TokenTasks::describe() const {
  const std::size_t validated = spec_.of(Split::validation).length;
  return in_words(spec_.kind, ", ", spec_.length, " tokens of ", spec_.vocabulary,
                  validated == spec_.length ? "" : in_words(", ", validated, " to validate"));
}

}  // namespace bochner
