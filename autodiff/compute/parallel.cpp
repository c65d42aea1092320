#include <omp.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/info.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

#include <bochner/autodiff/compute/parallel.hpp>
#include <memory>

namespace bochner {
namespace {

std::size_t& configured_threads() {
  static std::size_t count = static_cast<std::size_t>(tbb::info::default_concurrency());
  return count;
}

/// An arena of our own gives every task a slot number below the limit, whatever the process uses
/// TBB for besides.
std::unique_ptr<tbb::task_arena>& arena() {
  static auto* instance = new std::unique_ptr<tbb::task_arena>;
  return *instance;
}

std::unique_ptr<tbb::global_control>& thread_limit() {
  static auto* instance = new std::unique_ptr<tbb::global_control>;
  return *instance;
}

}  // namespace

void set_thread_count(std::size_t count) {
  if (count == 0) count = static_cast<std::size_t>(tbb::info::default_concurrency());
  configured_threads() = count;
  thread_limit() =
      std::make_unique<tbb::global_control>(tbb::global_control::max_allowed_parallelism, count);
  arena() = std::make_unique<tbb::task_arena>(static_cast<int>(count));
}

std::size_t thread_count() { return configured_threads(); }
std::size_t worker_limit() { return configured_threads(); }

std::size_t worker_index() {
  const int index = tbb::this_task_arena::current_thread_index();
  return index == tbb::task_arena::not_initialized ? 0 : static_cast<std::size_t>(index);
}

void detail::run_tasks(std::size_t count, const std::function<void(std::size_t)>& task) {
  if (configured_threads() == 1) {
    for (std::size_t index = 0; index < count; ++index) task(index);
    return;
  }
  if (!arena()) set_thread_count(configured_threads());
  arena()->execute([&] {
    tbb::parallel_for(std::size_t(0), count, std::size_t(1), task, tbb::simple_partitioner());
  });
}

}  // namespace bochner
