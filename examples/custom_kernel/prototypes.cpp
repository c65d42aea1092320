#include <bochner/bochner.hpp>
#include <cmath>
#include <limits>
using namespace bochner;

struct FocalSpec {
  double gamma = 2;
};
void describe(Keys& keys, FocalSpec& spec) {
  keys("gamma", spec.gamma, at_least(0), "exponent; 0 is cross entropy");
}

/// -(1 - p)^gamma ln p of the right class's probability p: Lin et al., "Focal loss for dense object
/// detection", 2017.
struct Focal : LabelLoss {
  Focal(const LossSpec&, const FocalSpec& own) : gamma(real(own.gamma)) {}
  Var of_labels(const Var& logits, const Indices& labels) const override {
    const Var log_p = label_log_probabilities(logits, labels);
    return -pow(-expm1(log_p), gamma) * log_p;
  }
  real gamma;
};

struct StableSpec {
  double alpha = 1.5;
};
void describe(Keys& keys, StableSpec& spec) {
  keys("alpha", spec.alpha, Bounds{{0.2, 2, true, true}}, "initial exponent of the tails");
}

/// omega = exp(log_scale) sqrt(a) z with a positive stable number a of exponent alpha / 2:
/// k(delta) = exp(-(|scale delta|^2 / 2)^(alpha / 2)). Draws by Kanter, "Stable densities under
/// change of scale and total variation inequalities", 1975.
class Stable : public SpectralDensity {
 public:
  Stable(const DensitySpec& spec, const StableSpec& own)
      : SpectralDensity(spec, 2),
        log_scale_(filled({spec.heads, 1, spec.dim}, real(spec.log_scale))),
        tail_(filled({spec.heads, 1, 1}, real(std::log(own.alpha / (2 - own.alpha))))) {}

  /// Returns frequencies. (H, m, d + 2) -> (H, m, d)
  Var sample(Tape& tape, const Var& noise) override {
    const std::size_t d = noise.dim(-1) - 2;
    const real least = real(1e-6), pi = real(M_PI);
    const Var half = sigmoid(tape(tail_));  // alpha / 2
    const Var u = clamp(normal_cdf(slice(noise, -1, d, d + 1)), least, 1 - least);
    const Var e = -log(clamp(normal_cdf(slice(noise, -1, d + 1, d + 2)), least, 1 - least));
    const Var log_a = log(sin(half * pi * u)) - log(sin(pi * u)) / half +
                      (1 - half) / half * (log(sin((1 - half) * pi * u)) - log(e));
    return exp(tape(log_scale_) + 0.5 * log_a) * slice(noise, -1, 0, d);
  }

  PointFunction kernel(std::size_t head) override {
    const std::size_t d = log_scale_.shape()[2];
    const real* first = log_scale_.value().data() + head * d;
    const double half = 1 / (1 + std::exp(-tail_.value().data()[head]));
    return [half, log_scale = std::vector<double>(first, first + d)](const double* lag) {
      double square = 0;
      for (std::size_t i = 0; i < log_scale.size(); ++i)
        square += std::pow(std::exp(log_scale[i]) * lag[i], 2);
      return std::exp(-std::pow(square / 2, half));
    };
  }

  void visit(Visitor& visitor) override {
    visitor("log_scale", log_scale_);
    visitor("tail", tail_);
    SpectralDensity::visit(visitor);
  }

 protected:
  void set_log_scale(const std::vector<double>& log_scale) override {
    std::copy(log_scale.begin(), log_scale.end(), log_scale_.value().data());
  }

 private:
  Parameter log_scale_, tail_;  // (H, 1, d), logit of alpha / 2 (H, 1, 1)
};

struct TopKSpec {
  std::size_t keys = 8;
};
void describe(Keys& keys, TopKSpec& spec) {
  keys("keys", spec.keys, between(1, 4096), "keys that each query attends to");
}

/// Softmax attention to the k keys of the largest scores: Gupta et al., "Memory-efficient
/// transformers via top-k attention", 2021.
class TopKAttention : public AttentionMixer {
 public:
  TopKAttention(const MixerSpec& spec, const TopKSpec& own)
      : AttentionMixer(spec), causal_(spec.causal), keys_(own.keys) {}

  std::unique_ptr<MixerState> start() const override { return std::make_unique<State>(); }

  Var step(Tape& tape, const Var& x, MixerState& state) override {
    require_causal_step(causal_, "topk");
    auto& past = static_cast<State&>(state);
    Normed rows(x);
    const Heads now = projections_.split(tape, rows, past);
    const bool first = past.k.dimension() == 0;
    const Var k = first ? now.k : concat({tape.constant(past.k), now.k}, 1);
    const Var v = first ? now.v : concat({tape.constant(past.v), now.v}, 1);
    past.k = k.value(), past.v = v.value();
    return projections_.join(tape, mean_of_best(now.q, k, v, zeros({1, 1, 1, k.dim(1)})));
  }

 private:
  struct State : MixerState {
    Tensor k, v;  // (B, T, H, d)
  };

  Var attend(Tape& tape, Normed& x, const Layout& layout) override {
    const Heads heads = projections_.split(tape, x, layout);
    const std::size_t B = heads.q.dim(0), T = heads.q.dim(1);
    Tensor hidden = zeros({B, 1, T, T});
    for (std::size_t b = 0; b < B; ++b)
      for (std::size_t i = 0; i < T; ++i)
        for (std::size_t j = 0; j < T; ++j)
          if ((causal_ && j > i) || (!layout.lengths.empty() && j >= layout.lengths[b]))
            hidden(b, 0, i, j) = real(-1e30);
    return mean_of_best(heads.q, heads.k, heads.v, hidden);
  }

  /// q (B, T, H, d), k, v (B, S, H, d), hidden (B, 1, T, S) -> (B, T, H, d)
  Var mean_of_best(const Var& q, const Var& k, const Var& v, const Tensor& hidden) const {
    const double unit = 1 / std::sqrt(double(q.dim(-1)));
    const Var scores = einsum("bthd,bshd->bhts", q * unit, k) + Var(hidden);
    const TopK best = topk(scores, std::min(keys_, scores.dim(-1)));
    const Var weights =
        scatter_add_along(Var(zeros(scores.shape())), -1, best.indices, softmax(best.values));
    return einsum("bhts,bshd->bthd", weights, v);
  }

  bool causal_;
  std::size_t keys_;
};

struct SsdSpec {
  std::size_t states = 16;
};
void describe(Keys& keys, SsdSpec& spec) {
  keys("states", spec.states, between(1, 1024), "states of each channel");
}

/// S_t = exp(-a dt_t) S_(t-1) + dt_t b_t x_t^T, y_t = S_t^T c_t + skip x_t, with one rate a for
/// each head: Dao, Gu, "Transformers are SSMs" (Mamba-2), 2024.
class Ssd : public Mixer {
 public:
  Ssd(const MixerSpec& spec, const SsdSpec& own)
      : D_(spec.width),
        H_(spec.heads),
        N_(own.states),
        gate_(D_, D_),
        input_(D_, D_ + 2 * N_),
        step_size_(D_, H_),
        output_(D_, D_),
        convolution_(4, D_ + 2 * N_),
        log_rate_({H_}, Initial::normal(1)),
        skip_(filled({H_, 1}, real(1))),
        gain_(filled({D_}, real(1))) {
    require(spec.causal, "ssd", "sees earlier tokens only; use a causal model");
  }

  Var forward(Tape& tape, const Var& x, const Layout& layout) override {
    const Parts in = parts(tape, x, convolution_.forward(tape, input_.forward(tape, x)));
    return finish(
        tape, x, in,
        gated_linear_attention(in.c, in.b, in.written, in.log_decay, {.lengths = layout.lengths}));
  }

  std::unique_ptr<MixerState> start() const override { return std::make_unique<TensorState>(); }

  Var step(Tape& tape, const Var& x, MixerState& state) override {
    auto& past = static_cast<TensorState&>(state);
    past.recent.resize(1);
    const std::size_t B = x.dim(0);
    if (past.position++ == 0) past.values = zeros({B, H_, N_, D_ / H_});
    const Parts in =
        parts(tape, x, convolution_.step(tape, input_.forward(tape, x), past.recent[0]));
    const auto token = [&](const Var& y) { return reshape(y, {B, H_, y.dim(-1)}).value(); };
    const Tensor y = gated_linear_attention_step(past.values, token(in.c), token(in.b),
                                                 token(in.written), token(in.log_decay));
    return finish(tape, x, in, reshape(tape.constant(y), in.x.shape()));
  }

  void visit(Visitor& visitor) override {
    visitor("gate", gate_);
    visitor("input", input_);
    visitor("step_size", step_size_);
    visitor("output", output_);
    visitor("convolution", convolution_);
    visitor("log_rate", log_rate_);
    visitor("skip", skip_);
    visitor("gain", gain_);
  }

 private:
  struct Parts {
    Var x, written, b, c, log_decay;  // (B, T, H, D / H) twice, (B, T, H, N) thrice
  };

  Parts parts(Tape& tape, const Var& x, const Var& convolved) {
    const std::size_t B = x.dim(0), T = x.dim(1);
    const std::vector<Var> in = split(silu(convolved), -1, {D_, N_, N_});
    const auto shared = [&](const Var& y) {
      return broadcast_to(reshape(y, {B, T, 1, N_}), {B, T, H_, N_});
    };
    const Var dt = reshape(softplus(step_size_.forward(tape, x)), {B, T, H_, 1});
    const Var rate = reshape(exp(tape(log_rate_)), {H_, 1});
    const Var value = reshape(in[0], {B, T, H_, D_ / H_});
    return {value, dt * value, shared(in[1]), shared(in[2]),
            broadcast_to(-rate * dt, {B, T, H_, N_})};
  }

  Var finish(Tape& tape, const Var& x, const Parts& in, const Var& read) {
    const Var y = reshape(read + tape(skip_) * in.x, x.shape());
    return output_.forward(tape, rms_norm(y * silu(gate_.forward(tape, x)), tape(gain_)));
  }

  std::size_t D_, H_, N_;
  Linear gate_, input_, step_size_, output_;
  ShortConvolution convolution_;
  Parameter log_rate_, skip_, gain_;
};

/// S_t = S_(t-1) (diag(w_t) - u_t (a_t u_t)^T) + v_t k_t^T, y_t = S_t r_t, with a key u of length 1
/// that removes, decays w and strengths a for each channel: Peng et al., "RWKV-7 Goose", 2025,
/// without the values of the first layer. Token by token, by ops: built-in "rwkv7" is faster.
class Rwkv7 : public Mixer {
 public:
  explicit Rwkv7(const MixerSpec& spec)
      : D_(spec.width),
        H_(spec.heads),
        mix_(filled({5, spec.width}, real(0.5))),
        replace_(filled({D_}, real(0.5))),
        gain_(filled({D_}, real(1))),
        output_(D_, D_) {
    require(spec.causal, "rwkv7_scan", "sees earlier tokens only; use a causal model");
    for (int i = 0; i < 5; ++i) projections_.push_back(std::make_unique<Linear>(D_, D_));
  }

  Var forward(Tape& tape, const Var& x, const Layout&) override {
    Var S = zeros({x.dim(0), H_, D_ / H_, D_ / H_}), last = zeros({x.dim(0), 1, D_});
    return advance(tape, x, last, S);
  }

  std::unique_ptr<MixerState> start() const override { return std::make_unique<State>(); }

  Var step(Tape& tape, const Var& x, MixerState& state) override {
    auto& past = static_cast<State&>(state);
    if (past.position++ == 0)
      past.S = zeros({x.dim(0), H_, D_ / H_, D_ / H_}), past.last = zeros(x.shape());
    Var S = tape.constant(past.S), last = tape.constant(past.last);
    const Var y = advance(tape, x, last, S);
    past.S = S.value(), past.last = x.value();
    return y;
  }

  void visit(Visitor& visitor) override {
    visitor("mix", mix_);
    visitor("replace", replace_);
    visitor("gain", gain_);
    visitor("projections", projections_);
    visitor("output", output_);
  }

 private:
  struct State : MixerState {
    Tensor S, last;  // (B, H, d, d), (B, 1, D)
  };

  /// Advances S (B, H, d, d) over the tokens x (B, T, D) that follow `last` (B, 1, D).
  Var advance(Tape& tape, const Var& x, const Var& last, Var& S) {
    const std::size_t B = x.dim(0), T = x.dim(1), d = D_ / H_;
    const Var before = T == 1 ? last : concat({last, slice(x, 1, 0, T - 1)}, 1);
    const auto project = [&](int i) {
      const Var mixed = x + (before - x) * slice(tape(mix_), 0, i, i + 1);
      return projections_[i]->forward(tape, mixed, {B, T, H_, d});
    };
    const Var r = project(0), k = project(1), v = project(2);
    const Var w = exp(-std::exp(-0.5) * sigmoid(project(3))), a = sigmoid(project(4));
    const Var u = k / sqrt(sum(square(k), -1, keep) + 1e-6);
    const Var key = k * (1 + (a - 1) * reshape(tape(replace_), {H_, d})), removed = a * u;
    std::vector<Var> y;
    for (std::size_t t = 0; t < T; ++t) {
      const auto row = [&](const Var& z) { return reshape(slice(z, 1, t, t + 1), {B, H_, 1, d}); };
      const Var value = reshape(slice(v, 1, t, t + 1), {B, H_, d, 1});
      S = S * row(w) - sum(S * row(u), -1, keep) * row(removed) + value * row(key);
      y.push_back(reshape(sum(S * row(r), -1), {B, 1, D_}));
    }
    return output_.forward(tape, rms_norm(concat(y, 1), tape(gain_)));
  }

  std::size_t D_, H_;
  Parameter mix_, replace_, gain_;
  std::vector<std::unique_ptr<Linear>> projections_;
  Linear output_;
};

void add_data();  // data.cpp

int main(int argc, char** argv) {
  add_data();
  losses().add("focal", make<Focal, FocalSpec>);
  densities().add("stable", make<Stable, StableSpec>);
  mixers().add("topk", make<TopKAttention, TopKSpec>,
               {.heads = true, .queries = true, .features = false});
  mixers().add("ssd", make<Ssd, SsdSpec>, {.heads = true, .carries = true, .features = false});
  mixers().add("rwkv7_scan", make<Rwkv7>, {.heads = true, .carries = true, .features = false});
  return cli(argc, argv);
}
