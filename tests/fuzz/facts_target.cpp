#include <bochner/train/tasks/conformal/calibration.hpp>
#include <bochner/train/tasks/events/event_data.hpp>
#include <bochner/train/tasks/fields/field_data.hpp>
#include <bochner/train/tasks/fields/sensor_facts.hpp>
#include <bochner/train/tasks/labels/label_data.hpp>
#include <bochner/train/tasks/labels/labelled_series_facts.hpp>
#include <bochner/train/tasks/series/series_data.hpp>
#include <bochner/train/tasks/tables/process_facts.hpp>
#include <bochner/train/tasks/text/text_facts.hpp>

#include "fuzz/targets.hpp"

namespace bochner {
namespace {

const Batch tokens{{{1, 4}, {1, 2, 3, 4}}, {{1, 4}, {2, 3, 4, 5}}};

std::vector<std::string> facts_seeds() {
  SeriesFacts series;
  series.variates = 2;
  series.columns = {"load", "price"};
  series.time = "date";
  return {
      encode_facts(TextFacts{.length = 4, .tokenizer = 7, .specimens = {tokens, tokens}}),
      encode_facts(LabelFacts{.vocabulary = 9, .length = 5, .labels = {"good", "bad"}}),
      encode_facts(EventFacts{.types = 2, .table = {3, {"time", "type"}, {"in", "out"}}}),
      encode_facts(FieldFacts{.frames = 2, .sides = {4, 4}}),
      encode_facts(SensorFacts{.names = {"time", "x", "heat"}}),
      encode_facts(series),
      encode_facts(ProcessFacts{}),
      encode_facts(LabelledSeriesFacts{.channels = 2, .length = 7}),
      encode_facts(Calibration{
          .step = 3, .leads = 2, .channels = {{{1, 2, 3, 4}, 2, {0.1, {9, 1}}}}, .ends = {1.7e9}}),
      encode_facts(Calibration{.classes = {"a", "b"}, .scores = {{0.1}, {0.2, 0.3}}})};
}

/// Decodes facts by the kind that they name.
template <class... Facts>
void decode_any(std::string_view bytes) {
  const std::string kind = kind_of_facts(bytes);
  const bool known = ((kind == Facts::kind && (decode_facts<Facts>(bytes), true)) || ...);
  if (!known) throw DataError("facts of an unknown kind");
}

void read_facts(ByteSpan input, Draws&) {
  decode_any<TextFacts, LabelFacts, EventFacts, FieldFacts, SensorFacts, SeriesFacts, ProcessFacts,
             LabelledSeriesFacts, Calibration>(
      {reinterpret_cast<const char*>(input.data()), input.size()});
}

/// Changes one byte half of the time, so that the rest is often accepted.
std::string make_facts(const Target& target, Draws& draws) {
  if (draws.chance(0.5)) return mutated(target, draws);
  std::string bytes = pick(target.seeds, draws);
  bytes[draws.below(bytes.size())] = char(draws.below(256));
  return bytes;
}

}  // namespace

Target facts_target() {
  return {"facts",    facts_seeds(), {"text", "series", "\xff\xff\xff\xff"},
          make_facts, read_facts,    400};
}

}  // namespace bochner
