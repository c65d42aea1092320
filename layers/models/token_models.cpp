#include <bochner/autodiff/ops.hpp>
#include <bochner/base/numeric/parallel.hpp>
#include <bochner/layers/models/pooling.hpp>
#include <bochner/layers/models/token_models.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// Splits sequences into groups of 16 to 32, each stepped by one thread through all layers, which
/// avoids synchronization at every product of few rows. For 64 texts of performer-lm on two threads
/// of a Granite Rapids this saves 30 %; fewer than 32 are faster in one group.
std::size_t count_groups(std::size_t sequences) {
  constexpr std::size_t most = 32;
  return sequences < most ? 1 : std::max<std::size_t>(2, ceil_div(sequences, most));
}

void require_batch(const char* model, std::size_t sequences, std::size_t tokens) {
  require(tokens > 0 && tokens == sequences, model, "expected a token for each of ", sequences,
          " sequences, got ", tokens);
}

/// Returns rows (B, 1, T) whose products with sequences are means over their tokens.
Tensor mean_weights(const std::vector<std::size_t>& lengths, std::size_t T) {
  Tensor weights = zeros({lengths.size(), 1, T});
  for (std::size_t b = 0; b < lengths.size(); ++b) {
    require(lengths[b] > 0 && lengths[b] <= T, "pool", "a length must be between 1 and T = ", T,
            ", not ", lengths[b]);
    std::fill_n(weights.data() + b * T, lengths[b], 1 / real(lengths[b]));
  }
  return weights;
}

std::unique_ptr<SpaceTimeEncoding> place_encoding_of(const TrunkSpec& spec,
                                                     std::size_t dimensions) {
  if (spec.positions != "encoding") return nullptr;
  return make_space_time(spec.encoding, spec.block.width, dimensions);
}

std::unique_ptr<PositionEncoding> flat_positions(const TrunkSpec& spec) {
  return make_positions(spec.positions == "encoding" ? "none" : spec.positions, spec.length,
                        spec.block.width);
}

void require_sequences(const Indices& tokens) {
  require(tokens.shape.size() == 2, "language_model", "tokens must be (B, T), not ", tokens.shape);
}

TimeEncodingSpec time_encoding_of(const TrunkSpec& spec) {
  return spec.timed ? spec.time : TimeEncodingSpec{};
}

}  // namespace

NoiseLoss::NoiseLoss(const std::string& kind, const NoiseSpec& spec, std::size_t classes)
    : spec_(checked("noise_loss", spec)), weights_(filled({classes}, real(1))) {
  require(kind == "nce" || kind == "sampled_softmax", "noise_loss", "no kind \"", kind,
          "\"; choose cross_entropy, nce or sampled_softmax");
  if (kind == "nce")
    log_z_ = std::make_unique<Parameter>(filled({1}, real(std::log(double(classes)))));
}

void NoiseLoss::count(const std::vector<double>& occurrences) {
  require(occurrences.size() == weights_.size(), "noise_loss", "got ", occurrences.size(),
          " counts for ", weights_.size(), " classes");
  if (spec_.kind == "uniform") return;
  for (std::size_t j = 0; j < occurrences.size(); ++j)
    weights_.data()[j] = real(std::pow(1 + occurrences[j], spec_.power));
}

NoiseClasses NoiseLoss::draw(const RandomFunction& random) const {
  const std::size_t V = weights_.size();
  std::vector<double> cumulative(V);
  double total = 0;
  for (std::size_t j = 0; j < V; ++j) cumulative[j] = total += double(weights_.data()[j]);
  std::vector<std::size_t> counts(V);
  for (std::size_t i = 0; i < spec_.draws; ++i) {
    const auto found =
        std::upper_bound(cumulative.begin(), cumulative.end(), random.uniform(i) * total);
    ++counts[std::min<std::size_t>(V - 1, found - cumulative.begin())];
  }
  NoiseClasses noise;
  const double log_scale = std::log(double(spec_.draws) / total);
  noise.log_rates.resize(V);
  for (std::size_t j = 0; j < V; ++j) {
    noise.log_rates[j] = log_scale + double(math::log(weights_.data()[j]));
    if (counts[j] == 0) continue;
    noise.classes.push_back(std::int32_t(j));
    noise.counts.push_back(counts[j]);
  }
  return noise;
}

Var NoiseLoss::forward(Tape& tape, const Var& x, const Var& w, const Var& bias,
                       const Indices& labels) {
  const NoiseClasses noise = draw(tape.next_random(Purpose::sampling));
  if (!log_z_) return sampled_softmax(x, w, bias, labels, noise);
  return noise_contrastive(x, w, bias, tape(*log_z_), labels, noise);
}

Trunk::Trunk(const TrunkSpec& spec)
    : places_(checked("trunk", spec).places),
      every_block_(spec.every_block),
      place_encoding_(place_encoding_of(spec, places_.dimensions())),
      embedding_(spec.vocabulary,
                 content_width(place_encoding_.get(), spec.block.width, spec.every_block)),
      timed_(spec.timed),
      time_(time_encoding_of(spec),
            content_width(place_encoding_.get(), spec.block.width, spec.every_block)),
      positions_(flat_positions(spec)),
      stack_(with_times(spec, time_encoding_of(spec))) {}

PlacedTokens Trunk::placed_tokens(Tape& tape, const Var& x, const TokenPoints& points) {
  const Var code = place_encoding_->at(tape, points.places, points.times);
  return add_encoding(*place_encoding_, every_block_, x,
                      reshape(code, {x.dim(0), x.dim(1), code.dim(1)}));
}

Var Trunk::forward(Tape& tape, const Indices& tokens, const std::vector<std::size_t>& lengths,
                   const Times& times) {
  require(!timed_ || (times.dimension() == 2 && times.shape()[0] == tokens.shape[0] &&
                      times.shape()[1] == tokens.shape[1]),
          "trunk", "times must have the shape of the tokens ", tokens.shape);
  Var x = embedding_.forward(tape, tokens);
  const Layout layout = timed_ ? layout_of(scale_.scaled(times), lengths) : Layout{lengths};
  if (timed_) x = time_.forward(tape, x, layout.times);
  if (positions_) x = positions_->forward(tape, x, 0);
  if (!place_encoding_) return stack_.forward(tape, x, layout);
  const PlacedTokens in_place = placed_tokens(tape, x, places_.of(tokens));
  return stack_.forward(tape, in_place.x, layout, in_place.each);
}

Var Trunk::step(Tape& tape, const std::vector<std::int32_t>& tokens, State& state, double time) {
  const std::size_t B = tokens.size();
  if (state.position == 0) state.cursors.resize(B);
  require_batch("trunk", state.cursors.size(), B);
  Var x = embedding_.forward(tape, Indices{{B, 1}, tokens});
  double gap = 1;
  if (timed_) {
    const Times now = scale_.scaled(Times(Times::shape_type{B, 1}, time));
    x = time_.forward(tape, x, now);
    gap = now(0, 0) - std::exchange(state.time, now(0, 0));
  }
  if (positions_) x = positions_->forward(tape, x, state.position);
  ++state.position;
  if (!place_encoding_) return stack_.step(tape, x, state.blocks, gap);
  TokenPoints points;
  for (std::size_t b = 0; b < B; ++b) places_.next(state.cursors[b], tokens[b], points);
  const PlacedTokens in_place = placed_tokens(tape, x, points);
  return stack_.step(tape, in_place.x, state.blocks, gap, in_place.each);
}

std::size_t Trunk::position_limit() const {
  return positions_ ? positions_->limit() : std::numeric_limits<std::size_t>::max();
}

void Trunk::visit(Visitor& visitor) {
  visitor("embedding", embedding_);
  if (timed_) visitor("time_scale", scale_);
  time_.visit(visitor);
  if (positions_) visitor("positions", *positions_);
  if (place_encoding_) visitor("encoding", *place_encoding_);
  stack_.visit(visitor);
}

LanguageModel::LanguageModel(const LanguageModelSpec& spec)
    : trunk_(checked("language_model", spec)), head_(spec.block.width, spec.vocabulary) {
  require_causal_norm(spec, "language_model");
  const std::string& loss = spec.loss.kind;
  if (loss == "nce" || loss == "sampled_softmax")
    noise_ = std::make_unique<NoiseLoss>(loss, spec.noise, spec.vocabulary);
  else if (!is_cross_entropy(spec.loss))
    loss_ = make_label_loss(spec.loss);
}

Var LanguageModel::logits(Tape& tape, const Indices& tokens, const Times& times) {
  require_sequences(tokens);
  return head_.forward(tape, trunk_.forward(tape, tokens, {}, times));
}

Var LanguageModel::loss(Tape& tape, const Indices& tokens, const Indices& targets,
                        const Times& times) {
  require_sequences(tokens);
  const Var x = trunk_.forward(tape, tokens, {}, times);
  if (loss_ && tape.training) return mean_loss(*loss_, head_.forward(tape, x), targets);
  const Var weight = head_.weight(tape);
  if (!noise_ || !tape.training) return affine_cross_entropy(x, weight, head_.bias(tape), targets);
  return noise_->forward(tape, x, weight, head_.bias(tape), targets);
}

Tensor LanguageModel::step(const std::vector<std::int32_t>& tokens, State& state, double time) {
  const std::size_t B = tokens.size(), groups = count_groups(B);
  require_tokens(tokens);
  if (state.position == 0) begin(state, B);
  require(state.model == this, "language_model", "the state belongs to another model");
  require_batch("language_model", state.sequences, B);
  std::vector<Tensor> logits(groups);
  const auto step_one = [&](std::size_t g) {
    const auto first = tokens.begin() + std::ptrdiff_t(B * g / groups);
    const auto last = tokens.begin() + std::ptrdiff_t(B * (g + 1) / groups);
    logits[g] = step_group({first, last}, state.groups[g], *state.cache, time);
  };
  if (state.position++ > 0) {
    parallel_tasks(groups, step_one);
  } else {  // fills the weight cache in a fixed order
    for (std::size_t g = 0; g < groups; ++g) step_one(g);
  }
  if (groups == 1) return std::move(logits[0]);
  Tensor all = uninitialized({B, logits[0].shape()[1]});
  real* to = all.data();
  for (const Tensor& part : logits) to = std::copy_n(part.data(), part.size(), to);
  return all;
}

void LanguageModel::require_tokens(const std::vector<std::int32_t>& tokens) const {
  const std::size_t vocabulary = trunk_.vocabulary();
  for (const std::int32_t token : tokens)
    require(token >= 0 && std::size_t(token) < vocabulary, "language_model", "token ", token,
            " must be below ", vocabulary);
}

void LanguageModel::begin(State& state, std::size_t sequences) {
  require(sequences > 0, "language_model", "a step requires at least one sequence");
  state.model = this;
  state.sequences = sequences;
  state.groups.clear();
  for (std::size_t g = 0; g < count_groups(sequences); ++g) state.groups.push_back(trunk_.start());
  // Every thread reads all weights, so they are packed once.
  if (state.groups.size() > 1) state.cache->add(parameters_of(*this));
}

Tensor LanguageModel::step_group(const std::vector<std::int32_t>& tokens, Trunk::State& state,
                                 WeightCache& cache, double time) {
  Tape tape({.recording = false});
  tape.weight_cache = &cache;
  Tensor logits = head_.forward(tape, trunk_.step(tape, tokens, state, time)).value();
  logits.reshape(Shape{tokens.size(), logits.size() / tokens.size()});
  return logits;
}

SequenceClassifier::SequenceClassifier(const SequenceClassifierSpec& spec)
    : pooling_(checked("sequence_classifier", spec).pooling),
      trunk_(in_both_directions(spec.trunk)),
      head_(spec.trunk.block.width, spec.classes) {
  require_seen_class_token(pooling_, spec.trunk, "sequence_classifier");
}

Var SequenceClassifier::logits(Tape& tape, const Indices& tokens,
                               const std::vector<std::size_t>& lengths, const Times& times) {
  require(tokens.shape.size() == 2, "sequence_classifier", "tokens must be (B, T), not ",
          tokens.shape);
  return head_.forward(tape, pool(pooling_, trunk_.forward(tape, tokens, lengths, times), lengths));
}

Var SequenceClassifier::loss(Tape& tape, const Indices& tokens, const Indices& labels,
                             const std::vector<std::size_t>& lengths, const Times& times) {
  return cross_entropy(logits(tape, tokens, lengths, times), labels);
}

Var pool(const std::string& kind, const Var& x, const std::vector<std::size_t>& lengths) {
  require(x.rank() == 3, "pool", "sequences must be (B, T, D), not ", x.shape());
  const std::size_t B = x.dim(0), T = x.dim(1), D = x.dim(2);
  if (kind == "cls") return reshape(slice(x, 1, 0, 1), {B, D});
  require(kind == "mean", "pool", "no pooling is called \"", kind, "\"; there are: mean, cls");
  if (lengths.empty()) return mean(x, {1});
  require(lengths.size() == B, "pool", "got ", lengths.size(), " lengths for ", B, " sequences");
  return reshape(matmul(Var(mean_weights(lengths, T)), x), {B, D});
}

}  // namespace bochner::inline BOCHNER_PRECISION
