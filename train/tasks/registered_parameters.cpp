#include <bochner/data/event_files.hpp>
#include <bochner/data/event_sequences.hpp>
#include <bochner/data/fields.hpp>
#include <bochner/data/formats/csv.hpp>
#include <bochner/data/pixels.hpp>
#include <bochner/data/series_windows.hpp>
#include <bochner/data/token_tasks.hpp>
#include <bochner/layers/models/event_model.hpp>
#include <bochner/layers/models/field_model.hpp>
#include <bochner/layers/models/forecaster.hpp>
#include <bochner/optim/optimizer.hpp>
#include <bochner/train/tasks/classifier_task.hpp>
#include <bochner/train/tasks/data_kinds.hpp>
#include <bochner/train/tasks/key_checks.hpp>
#include <bochner/train/tasks/registered_parameters.hpp>
#include <bochner/train/tasks/train_spec.hpp>

namespace bochner {

ParameterTable registered_parameters() {
  RowCollector table;
  table.add<ModelChoice>("model");
  table.add<SequenceClassifierSpec>("model");
  table.add<ForecasterSpec>("model");
  table.add<EventModelSpec>("model");
  table.add<FieldModelSpec>("model");
  table.add<DataSpec>("data");
  table.add<TokenTaskSpec>("data");
  table.add<ListOpsSpec>("data");
  table.add<ImagesSpec>("data");
  table.add<ShapesSpec>("data");
  table.add<CsvOptions>("data");
  table.add<SeriesSpec>("data");
  table.add<HawkesSpec>("data");
  table.add<EventColumns>("data");
  table.add<FieldSpec>("data");
  table.add<OptimizerSpec>("optim");
  table.add<TrainSpec>("train");
  // Where the reference and the configs of runs have always had them.
  table.move("model.positions", "model.norm");
  table.move("model.pooling", "model.checkpoint");
  table.move("model.mixer", "model.time");
  table.move("model.intensity", "data.types");
  return ParameterTable(std::move(table.rows), key_checks());
}

Config read_config(const std::string& file, const std::vector<std::string>& sets) {
  Config config = load_config(file, registered_parameters());
  for (const std::string& set : sets) apply_set(config, set);
  validate(config);
  return config;
}

}  // namespace bochner
