#pragma once
/// What data.kind may be, which models learn it, and what its keys must satisfy.

#include <bochner/train/config/config.hpp>

namespace bochner {

struct DataKind {
  std::string name;        ///< data.kind
  const char* model;       ///< the model.kind that learns it
  bool files;              ///< read from data.files, else generated
  const char* validation;  ///< the key that keeps examples for validation
  void (*check)(const Config&) = nullptr;
};
const std::vector<DataKind>& data_kinds();

/// Of all kinds of fields.
void check_field(const Config& config);

/// Throws ConfigError where data.kind and other keys do not fit.
void check_data(const Config& config);
/// Throws ConfigError at train.stop.patience when there is nothing to validate on.
void check_validation(const Config& config);

}  // namespace bochner
