#include <bochner/train/tasks/custom/custom_task.hpp>

namespace bochner::inline BOCHNER_PRECISION {

CustomTasks& tasks() {
  static CustomTasks all("task", {});
  return all;
}

}  // namespace bochner::inline BOCHNER_PRECISION
