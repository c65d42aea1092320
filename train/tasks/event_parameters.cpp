#include <bochner/train/tasks/parameter_rows.hpp>

namespace bochner {

Rows all_event_rows() {
  return {
      {.name = "model.intensity.delays",
       .initial = whole(6),
       .doc = "events: mean delays of the learned waves of intensity after an event",
       .range = between(0, 1024)},
      {.name = "model.intensity.shortest",
       .initial = 0.25,
       .doc = "events: the shortest of them, in median gaps",
       .range = above(0)},
      {.name = "model.intensity.longest",
       .initial = 16.0,
       .doc = "events: the longest of them, in median gaps",
       .range = above(0)},
      {.name = "data.types",
       .initial = whole(3),
       .doc = "hawkes: types of events (K)",
       .range = between(1, 1 << 16)},
      {.name = "data.excitation",
       .initial = "delayed",
       .doc = "hawkes: an event makes others more likely at once, less and less (exponential), or "
              "after a while (delayed)",
       .choices = among({"exponential", "delayed"})},
      {.name = "data.branching",
       .initial = 0.8,
       .doc = "hawkes: events that an event causes on the average",
       .range = below(0, 1)},
      {.name = "data.lag",
       .initial = 3.0,
       .doc = "hawkes: mean delay of what an event of the first type causes, in mean gaps; that of "
              "the n-th is n times as long",
       .range = above(0)},
      {.name = "data.type_column",
       .initial = "type",
       .doc =
           "event_files: the column of types, whole numbers from 0, by name or by number from 1"},
      {.name = "data.sequence_column",
       .initial = "",
       .doc = "event_files: the column of numbers that tell sequences apart; by default a file is "
              "one sequence"},
  };
}

}  // namespace bochner
