#pragma once
/// The mixers that a config names, and what they demand of its keys.

#include <bochner/train/config/config.hpp>

namespace bochner {

/// Whether one of the mixers that a config names is of these kinds.
bool some_mixer_is(const Config& config, const std::vector<std::string>& kinds);
/// Whether the model has blocks: all but linear forecasts.
bool has_stack(const Config& config);
/// Whether it forecasts by tokens that are rows of a table.
bool forecasts_rows(const Config& config);
/// Whether it learns at every token what follows, so that no token may see that.
bool predicts_what_follows(const Config& config);
/// Whether tokens have times of their own: those of events, or data.stamps.
bool has_irregular_tokens(const Config& config);
/// Whether a feature map is made for model.mixer.features.length positions.
bool counts_positions(const Config& config);

/// Throws ConfigError where a mixer cannot be as the keys say.
void check_stack(const Config& config);
/// Throws ConfigError where a value needs what none of the mixers has: an error of new runs.
void check_traits(const Config& config);

/// Throws ConfigError where the tokens of the data have no order and the mixers give them one.
void check_order(const Config& config);

}  // namespace bochner
