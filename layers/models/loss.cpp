#include <fmt/format.h>

#include <algorithm>
#include <bochner/autodiff/ops.hpp>
#include <bochner/base/join.hpp>
#include <bochner/layers/models/loss.hpp>
#include <limits>
#include <stdexcept>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

class CrossEntropy : public LabelLoss {
 public:
  explicit CrossEntropy(const LossSpec&) {}
  Var of_labels(const Var& logits, const Indices& labels) const override {
    return cross_entropy(logits, labels);
  }
};

/// Mean error of values by a function of predictions and targets.
template <auto mean_error>
class MeanError : public ValueLoss {
 public:
  explicit MeanError(const LossSpec&) {}
  Var of_values(const Var& predicted, const Var& targets) const override {
    return mean_error(predicted, targets.value());
  }
};

Var unit_huber(const Var& x, const Tensor& targets) { return huber(x, targets); }

/// Throws std::invalid_argument unless there is a loss for each target, or one for all.
void require_losses(const char* function, const Var& losses, const Shape& shape) {
  require(losses.rank() == 0 || losses.shape() == shape, "loss", function, " returned ",
          losses.shape(), "; expected one number for each target ", shape, ", or their mean ()");
}

/// Makes a loss, or null if it has not the interface.
template <class Wanted>
std::unique_ptr<Wanted> make_if(const LossSpec& spec) {
  std::unique_ptr<Loss> loss = losses().make(spec.kind, spec);
  auto* wanted = dynamic_cast<Wanted*>(loss.get());
  if (wanted) static_cast<void>(loss.release());
  return std::unique_ptr<Wanted>(wanted);
}

/// Lists the losses with the interface, for an error: without those that refuse their spec.
template <class Wanted>
std::vector<std::string> names_of(const OwnSpecs& own) {
  std::vector<std::string> names = losses().names();
  std::erase_if(names, [&](const std::string& name) {
    try {
      return !make_if<Wanted>({name, own});
    } catch (const std::exception&) {
      return true;
    }
  });
  return names;
}

template <class Wanted>
std::unique_ptr<Wanted> make_loss_of(const LossSpec& spec, const char* targets) {
  if (std::ranges::count(losses().names(), spec.kind) > 0)
    if (auto loss = make_if<Wanted>(spec)) return loss;
  throw std::invalid_argument(fmt::format("[loss] no loss of {} is called \"{}\"; there are: {}",
                                          targets, spec.kind, joined(names_of<Wanted>(spec.own))));
}

/// Returns the numbers of the rows that have a label. (n)
Indices rows_with_label(const Indices& labels) {
  Indices rows;
  for (std::size_t i = 0; i < labels.values.size(); ++i)
    if (labels.values[i] != -1) rows.values.push_back(std::int32_t(i));
  rows.shape = {rows.values.size()};
  return rows;
}

}  // namespace

Losses& losses() {
  static Losses all = Losses("loss", {{"mse", make<MeanError<mean_squared_error>>},
                                      {"mae", make<MeanError<mean_absolute_error>>},
                                      {"huber", make<MeanError<unit_huber>>},
                                      {"cross_entropy", make<CrossEntropy>}})
                          .built_in();
  return all;
}

bool is_cross_entropy(const LossSpec& spec) {
  return spec.kind == "mse" ||
         (spec.kind == "cross_entropy" && losses().is_built_in("cross_entropy"));
}

std::unique_ptr<LabelLoss> make_label_loss(const LossSpec& spec) {
  return make_loss_of<LabelLoss>(spec, "labels");
}

std::unique_ptr<ValueLoss> make_value_loss(const LossSpec& spec) {
  return make_loss_of<ValueLoss>(spec, "values");
}

Var mean_loss(const LabelLoss& loss, const Var& logits, const Indices& labels,
              const std::vector<double>& class_weights) {
  const std::size_t C = logits.dim(-1), all = labels.values.size();
  require(logits.value().size() == all * C, "loss", "logits ", logits.shape(),
          " do not match labels ", labels.shape);
  require(class_weights.empty() || class_weights.size() == C, "loss", "got ", class_weights.size(),
          " weights for ", C, " classes");
  const Indices rows = rows_with_label(labels);
  const std::size_t n = rows.values.size();
  Indices known{{n}, {}};
  for (const std::int32_t row : rows.values)
    known.values.push_back(labels.values[std::size_t(row)]);
  Var of_known = reshape(logits, {all, C});
  if (n < all) of_known = gather(of_known, rows);
  if (n == 0) return sum(of_known);
  const Var each = loss.of_labels(of_known, known);
  require_losses("of_labels", each, {n});
  if (class_weights.empty()) return each.rank() == 0 ? each : mean(each);
  require(each.rank() == 1, "loss",
          "weights of classes need a loss of each label, not the mean; return (n)");
  Tensor weights = uninitialized({n});
  for (std::size_t i = 0; i < n; ++i)
    weights(i) = real(class_weights[std::size_t(known.values[i])]);
  return mean(each * Var(std::move(weights)));
}

Var mean_loss(const ValueLoss& loss, const Var& predicted, const Tensor& targets) {
  const Var each = loss.of_values(predicted, Var(targets));
  require_losses("of_values", each, predicted.shape());
  return each.rank() == 0 ? each : mean(each);
}

Var label_log_probabilities(const Var& logits, const Indices& labels) {
  require(logits.rank() == 2 && labels.values.size() == logits.dim(0), "label_log_probabilities",
          "logits ", logits.shape(), " and labels ", labels.shape, " must be (n, C) and (n)");
  const std::size_t n = logits.dim(0), C = logits.dim(1);
  require(n * C <= std::size_t(std::numeric_limits<std::int32_t>::max()), "label_log_probabilities",
          n, " rows of ", C, " classes are more than 2^31 numbers; use smaller batches");
  Indices at{{n}, {}};
  for (std::size_t i = 0; i < n; ++i) {
    const std::int32_t label = labels.values[i];
    require(label >= 0 && std::size_t(label) < C, "label_log_probabilities", "label ", label,
            " must be from 0 to ", C - 1);
    at.values.push_back(std::int32_t(i * C) + label);
  }
  return reshape(gather(reshape(log_softmax(logits), {n * C, 1}), at), {n});
}

}  // namespace bochner::inline BOCHNER_PRECISION
