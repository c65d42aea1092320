#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/info.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

#include <bochner/base/numeric/parallel.hpp>
#include <bochner/base/numeric/product_precision.hpp>
#include <memory>

namespace bochner {
namespace {

std::size_t default_threads() { return std::size_t(tbb::info::default_concurrency()); }

/// Thread state of all loops. Never destroyed, because worker threads may outlive static objects. A
/// custom arena gives every worker a slot below the limit, whatever else the process does with TBB.
struct Workers {
  std::size_t count = default_threads();
  std::unique_ptr<tbb::global_control> limit;
  std::unique_ptr<tbb::task_arena> arena = std::make_unique<tbb::task_arena>(int(count));
};

Workers& workers() {
  static auto* instance = new Workers;
  return *instance;
}

thread_local std::size_t slot = 0;

/// Holds a worker's slot during one task; threads outside our loops have slot 0.
class SlotScope {
 public:
  SlotScope() : before_(slot) { slot = std::size_t(tbb::this_task_arena::current_thread_index()); }
  ~SlotScope() { slot = before_; }

 private:
  std::size_t before_;
};

}  // namespace

void set_thread_count(std::size_t count) {
  if (count == 0) count = default_threads();
  Workers& mine = workers();
  mine.count = count;
  // TBB needs a raised limit only to exceed the number of processors; the arena enforces fewer.
  mine.limit.reset();
  if (count > default_threads()) {
    mine.limit =
        std::make_unique<tbb::global_control>(tbb::global_control::max_allowed_parallelism, count);
  }
  mine.arena = std::make_unique<tbb::task_arena>(int(count));
}

std::size_t thread_count() { return workers().count; }
std::size_t worker_index() { return slot; }

void parallel_detail::run_tasks(std::size_t count, const std::function<void(std::size_t)>& task) {
  if (thread_count() == 1) {
    for (std::size_t index = 0; index < count; ++index) task(index);
    return;
  }
  const auto run = [&, precision = product_precision()](std::size_t index) {
    const SlotScope scope;
    const ProductPrecisionScope inherited(precision);
    task(index);
  };
  // Isolated: a task that waits for an inner loop must not start a second outer task, which would
  // overwrite its scratch memory.
  workers().arena->execute([&] {
    tbb::this_task_arena::isolate([&] {
      tbb::parallel_for(std::size_t(0), count, std::size_t(1), run, tbb::simple_partitioner());
    });
  });
}

}  // namespace bochner
