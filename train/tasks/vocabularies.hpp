#pragma once
/// What numbers of a run stand for, in its config.

#include <bochner/data/vocabularies.hpp>
#include <bochner/train/config/config.hpp>

namespace bochner {

Vocabularies stored_vocabularies(const Config& config);
/// Writes them into the config of a run that begins. Throws DataError for names that are no UTF-8,
/// which no config holds.
void store_vocabularies(Config& config, const Vocabularies& names);
/// Those of a parent, where the config of its fork has none; of series which other columns tell
/// apart none.
void inherit_vocabularies(Config& config, const Config& parent);
/// Throws DataError where data have other names than those that a run has learned: new ones, or
/// fewer of its series.
void require_known(const Config& config, const Vocabularies& names);

}  // namespace bochner
