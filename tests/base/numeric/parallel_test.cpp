#include <gtest/gtest.h>
#include <oneapi/tbb/parallel_for.h>

#include <atomic>
#include <bochner/base/numeric/parallel.hpp>
#include <bochner/base/numeric/product_precision.hpp>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace bochner {
namespace parallel_test {

class Parallel : public testing::Test {
 protected:
  void TearDown() override { set_thread_count(0); }
};

constexpr std::size_t thread_counts[] = {1, 2, 3, 4, 8};

TEST_F(Parallel, CoversEveryIndexOnce) {
  for (const std::size_t threads : thread_counts) {
    set_thread_count(threads);
    for (const std::size_t size : {0, 1, 2, 63, 64, 65, 1000, 10007}) {
      for (const std::size_t grain : {1, 7, 64, 20000}) {
        std::vector<int> visits(size);
        parallel_for(size, grain, [&](std::size_t begin, std::size_t end) {
          EXPECT_EQ(begin % grain, 0u);
          EXPECT_EQ(end, std::min(size, begin + grain));
          for (std::size_t i = begin; i < end; ++i) ++visits[i];
        });
        EXPECT_EQ(visits, std::vector<int>(size, 1)) << size << " by " << grain;
      }
    }
  }
}

TEST_F(Parallel, RunsEveryTaskOnce) {
  for (const std::size_t threads : thread_counts) {
    set_thread_count(threads);
    for (const std::size_t count : {0, 1, 2, 500}) {
      std::vector<int> visits(count);
      parallel_tasks(count, [&](std::size_t task) { ++visits[task]; });
      EXPECT_EQ(visits, std::vector<int>(count, 1));
    }
  }
}

TEST_F(Parallel, SumsHaveTheSameBitsForAnyThreadCount) {
  std::vector<float> x(100003);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::sin(float(i)) * std::exp2(float(i % 40));
  const auto sum = [&] {
    return parallel_sum<float>(x.size(), 1000, [&](std::size_t begin, std::size_t end) {
      return std::accumulate(x.begin() + long(begin), x.begin() + long(end), 0.0f);
    });
  };
  set_thread_count(1);
  const float expected = sum();
  for (const std::size_t threads : thread_counts) {
    set_thread_count(threads);
    for (int repeat = 0; repeat < 20; ++repeat) ASSERT_EQ(sum(), expected) << threads;
  }
}

TEST_F(Parallel, SumOfNothingIsZero) {
  const auto one = [](std::size_t, std::size_t) { return 1.0; };
  EXPECT_EQ(parallel_sum<double>(0, 10, one), 0);
  EXPECT_EQ(parallel_sum<double>(1, 10, one), 1);
}

TEST_F(Parallel, ExceptionsReachTheCaller) {
  for (const std::size_t threads : thread_counts) {
    set_thread_count(threads);
    try {
      parallel_for(1000, 10, [](std::size_t begin, std::size_t) {
        if (begin == 500) throw std::runtime_error("chunk 50");
      });
      FAIL() << "with " << threads << " threads";
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "chunk 50");
    }
    std::atomic<int> visits = 0;
    parallel_tasks(100, [&](std::size_t) { ++visits; });
    EXPECT_EQ(visits, 100) << "the loop after a failed one";
  }
}

TEST_F(Parallel, WorkersAreNumberedBelowTheLimitAndNeverShared) {
  for (const std::size_t threads : thread_counts) {
    set_thread_count(threads);
    ASSERT_EQ(thread_count(), threads);
    std::vector<std::atomic<int>> users(threads);
    parallel_tasks(2000, [&](std::size_t) {
      const std::size_t worker = worker_index();
      ASSERT_LT(worker, threads);
      EXPECT_EQ(users[worker]++, 0);
      std::this_thread::yield();
      --users[worker];
    });
  }
}

TEST_F(Parallel, NestedLoopsWork) {
  for (const std::size_t threads : thread_counts) {
    set_thread_count(threads);
    for (const std::size_t outer : {0, 1, 20}) {
      for (const std::size_t inner : {0, 1, 30}) {
        std::atomic<std::size_t> visits = 0;
        parallel_tasks(outer, [&](std::size_t) {
          parallel_tasks(inner, [&](std::size_t) {
            EXPECT_LT(worker_index(), threads);
            ++visits;
          });
        });
        EXPECT_EQ(visits, outer * inner);
      }
    }
  }
}

TEST_F(Parallel, ScratchOfAnOuterTaskSurvivesInnerLoops) {
  set_thread_count(8);
  const Scratch<std::size_t> scratch(1);
  std::atomic<int> overwritten = 0;
  parallel_tasks(200, [&](std::size_t task) {
    *scratch.local() = task;
    parallel_tasks(50, [&](std::size_t) { std::this_thread::yield(); });
    overwritten += *scratch.local() != task;
  });
  EXPECT_EQ(overwritten, 0);
}

TEST_F(Parallel, ThreadsOfTheUsersOwnLoopsHaveNumbersBelowTheLimitToo) {
  set_thread_count(1);
  std::atomic<int> beyond = 0;
  tbb::task_arena arena(2);
  arena.execute([&] {
    tbb::parallel_for(0, 2000, [&](int) {
      std::this_thread::yield();
      parallel_for(100, 10, [&](std::size_t, std::size_t) { beyond += worker_index() >= 1; });
    });
  });
  EXPECT_EQ(beyond, 0);
}

TEST_F(Parallel, TasksInheritThePrecisionOfProducts) {
  set_thread_count(4);
  std::atomic<int> others = 0;
  {
    const ProductPrecisionScope scope(ProductPrecision::bfloat16);
    parallel_tasks(200, [&](std::size_t) {
      std::this_thread::yield();
      parallel_tasks(
          3, [&](std::size_t) { others += product_precision() != ProductPrecision::bfloat16; });
    });
  }
  parallel_tasks(200, [&](std::size_t) {
    std::this_thread::yield();
    others += product_precision() != ProductPrecision::full;
  });
  EXPECT_EQ(others, 0);
}

TEST_F(Parallel, ZeroThreadsMeansAllProcessors) {
  set_thread_count(3);
  set_thread_count(0);
  EXPECT_GE(thread_count(), 1u);
  EXPECT_LE(thread_count(), std::size_t(std::thread::hardware_concurrency()));
}

}  // namespace parallel_test
}  // namespace bochner
