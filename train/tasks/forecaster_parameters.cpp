#include <bochner/train/tasks/parameter_rows.hpp>

namespace bochner {

Rows forecaster_rows() {
  return {
      {.name = "model.backbone",
       .initial = "linear",
       .doc = "forecaster: a linear map of the window, or attention over its patches",
       .choices = among({"linear", "attention"})},
      {.name = "model.loss",
       .initial = "mse",
       .doc = "forecaster: what is minimised, in the unit of the training data",
       .choices = among({"mse", "mae", "huber"})},
      {.name = "model.instance_norm.kind",
       .initial = "revin",
       .doc =
           "forecaster: the unit of each window of each variate: its mean and deviation (revin), "
           "its mean, its last value, none",
       .choices = among({"revin", "mean", "last", "none"})},
      {.name = "model.instance_norm.affine",
       .initial = false,
       .doc = "forecaster: a learned gain and bias of each variate behind it"},
      {.name = "model.per_variate",
       .initial = false,
       .doc = "linear forecaster: weights of its own for each variate"},
      {.name = "model.moving_average",
       .initial = whole(0),
       .doc = "linear forecaster: a map of its own for the mean over so many rows, 0 for none",
       .range = between(0, 1 << 16)},
      {.name = "model.patch.length",
       .initial = whole(16),
       .doc = "attention forecaster: rows of a token",
       .range = between(1, 1 << 16)},
      {.name = "model.patch.stride",
       .initial = whole(8),
       .doc = "attention forecaster: rows from one token to the next",
       .range = between(1, 1 << 16)},
      {.name = "model.head_dropout",
       .initial = 0.0,
       .doc = "attention forecaster: probability that an input of the last map is dropped",
       .range = below(0, 1)},
  };
}

Rows series_rows() {
  return {
      {.name = "data.columns",
       .initial = std::vector<std::string>{},
       .doc = "series: columns of the file that are forecast; none for all"},
      {.name = "data.time_column",
       .initial = "",
       .doc = "series, event_files: the column of time stamps; by default the first that holds "
              "dates, if data.columns names none; of events, \"time\""},
      {.name = "data.time_format",
       .initial = "",
       .doc = "series, event_files: how time stamps are written, such as %d.%m.%Y %H:%M, or %s for "
              "seconds since "
              "1970; by default ISO 8601"},
      {.name = "data.missing",
       .initial = "refuse",
       .doc = "series: what becomes of missing values: an error, or the value of the row before "
              "(forward)",
       .choices = among({"refuse", "forward"})},
      {.name = "data.splits",
       .initial = std::vector<double>{0.7, 0.1, 0.2},
       .doc = "series: training, validation and test, one after the other: fractions of the rows, "
              "or rows where a number is above 1",
       .range = at_least(0)},
      {.name = "data.lookback",
       .initial = whole(336),
       .doc = "series: rows that a forecaster sees (L)",
       .range = between(1, 1 << 20)},
      {.name = "data.horizon",
       .initial = whole(96),
       .doc = "series: rows that it forecasts (H)",
       .range = between(1, 1 << 20)},
      {.name = "data.stride",
       .initial = whole(1),
       .doc = "series: rows from one window to the next",
       .range = between(1, 1 << 20)},
  };
}

}  // namespace bochner
