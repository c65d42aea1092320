#include <fmt/format.h>

#include <algorithm>
#include <bochner/train/tasks/stack_checks.hpp>
#include <bochner/train/tasks/task_kinds.hpp>
#include <bochner/train/tasks/text/generated_checks.hpp>

namespace bochner {
namespace {

/// Throws ConfigError if buckets need too many sequences: each is generated to find its length.
void check_buckets(const Config& config) {
  constexpr std::int64_t most = 1 << 20;
  const std::int64_t windows = std::max<std::int64_t>(1, most / config.integer("train.batch"));
  if (config.integer("data.buckets") > windows)
    fail(config, "data.buckets",
         fmt::format("must be at most {} with {}: more than {} sequences would be sorted at once",
                     windows, assignment(config, "train.batch"), most),
         "train.batch");
}

}  // namespace

void check_token_task(const Config& config) {
  const TokenTaskSpec spec = token_task_spec(config);
  const auto demand = [&](const char* key, std::size_t value, std::size_t smallest) {
    if (value < smallest)
      fail(config, key,
           fmt::format("must be at least {} for {} and {}", smallest,
                       assignment(config, "data.kind"), assignment(config, "data.items")),
           "data.kind");
  };
  demand("data.length", spec.length, smallest_length(spec));
  demand("data.vocabulary", spec.vocabulary, smallest_vocabulary(spec));
  if (spec.validation_length == 0) return;
  demand("data.validation_length", spec.validation_length, smallest_length(spec));
  if (config.text("model.positions") == "learned")
    require_at_most(config, "data.validation_length", "data.length");
  const char* positions = "model.mixer.features.length";
  const std::size_t most = std::max(spec.length, config.count(positions));
  if (spec.validation_length > most && counts_positions(config))
    fail(config, "data.validation_length",
         fmt::format("must be at most {}, the positions of cosformer: train a new run with a "
                     "larger {}",
                     most, positions),
         positions);
}

void check_list_ops(const Config& config) {
  const ListOpsSpec spec = list_ops_spec(config);
  require_at_most(config, "data.shortest", "data.length");
  if (double(spec.shortest) > largest_list_ops(spec))
    fail(config, "data.shortest",
         fmt::format("must be at most {}: {} and {} allow no larger expression",
                     largest_list_ops(spec), assignment(config, "data.depth"),
                     assignment(config, "data.arguments")),
         "data.depth");
  check_buckets(config);
}

}  // namespace bochner
