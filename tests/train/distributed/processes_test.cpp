#include <gtest/gtest.h>

#include <bochner/base/numeric/philox.hpp>
#include <bochner/base/shape.hpp>

#include "train/thread_processes.hpp"

namespace bochner {
namespace processes_test {

using Numbers = std::vector<float>;

/// Whose sum depends on the order of the additions.
Numbers leaf_numbers(std::size_t leaf) {
  Numbers numbers(100);
  const RandomFunction random{7, Purpose::test, leaf};
  for (std::size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = float(std::exp(4 * random.normal(i)) * (random.uniform(i + 1000) - 0.5));
  return numbers;
}

void add_numbers(Numbers& left, const Numbers& right) {
  for (std::size_t i = 0; i < left.size(); ++i) left[i] += right[i];
}

/// What all processes get, which must be the same.
Numbers joined(std::size_t count, std::size_t leaves) {
  std::vector<Numbers> sums(count);
  run_processes(count, [&](Processes& processes) {
    sums[processes.rank()] = processes.join<Numbers>(leaves, leaf_numbers, add_numbers);
  });
  for (const Numbers& sum : sums) EXPECT_EQ(sum, sums[0]);
  return sums[0];
}

/// As a program would that adds up its own leaves first: the bug that the tree is there against.
Numbers joined_by_blocks(std::size_t count, std::size_t leaves) {
  Numbers total(100);
  for (std::size_t rank = 0; rank < count; ++rank) {
    Numbers block(100);
    const Leaves all{leaves, count};
    for (std::size_t leaf = all.first_of(rank); leaf < all.first_of(rank + 1); ++leaf)
      add_numbers(block, leaf_numbers(leaf));
    add_numbers(total, block);
  }
  return total;
}

TEST(Processes, JoinWithEqualBitsHoweverManyThereAre) {
  for (const std::size_t leaves : {1, 2, 3, 4, 5, 6, 8, 12, 13})
    for (std::size_t count = 1; count <= std::min<std::size_t>(leaves, 8); ++count)
      EXPECT_EQ(joined(count, leaves), joined(1, leaves)) << count << " of " << leaves;
}

TEST(Processes, SumsByBlocksWouldHaveOtherBits) {
  for (const std::size_t count : {2, 3, 4}) {
    EXPECT_NE(joined_by_blocks(count, 8), joined_by_blocks(1, 8)) << count;
    EXPECT_NE(joined_by_blocks(count, 8), joined(count, 8)) << count;
  }
}

TEST(Processes, HaveBlocksThatCoverAllLeavesInOrder) {
  for (std::size_t count = 1; count <= 20; ++count)
    for (std::size_t processes = 1; processes <= count; ++processes) {
      const Leaves leaves{count, processes};
      EXPECT_EQ(leaves.first_of(0), 0u);
      EXPECT_EQ(leaves.first_of(processes), count);
      for (std::size_t leaf = 0; leaf < count; ++leaf) {
        const std::size_t owner = leaves.owner(leaf);
        EXPECT_LE(leaves.first_of(owner), leaf);
        EXPECT_LT(leaf, leaves.first_of(owner + 1));
      }
    }
}

TEST(Processes, CallTheirOwnLeavesInOrder) {
  std::vector<std::vector<std::size_t>> called(3);
  run_processes(3, [&](Processes& processes) {
    processes.join<std::string>(
        7,
        [&](std::size_t leaf) {
          called[processes.rank()].push_back(leaf);
          return std::to_string(leaf);
        },
        [](std::string& left, const std::string& right) { left = "(" + left + right + ")"; });
  });
  EXPECT_EQ(called, (std::vector<std::vector<std::size_t>>{{0, 1}, {2, 3}, {4, 5, 6}}));
}

TEST(Processes, ATreeDependsOnTheNumberOfLeavesOnly) {
  for (const std::size_t count : {1, 2, 3, 5}) {
    run_processes(count, [](Processes& processes) {
      const std::string tree = processes.join<std::string>(
          5, [&](std::size_t leaf) { return std::to_string(leaf); },
          [](std::string& left, const std::string& right) { left = "(" + left + right + ")"; });
      EXPECT_EQ(tree, "(((01)(23))4)");
    });
  }
}

TEST(Processes, AgreeOnNumbersAndTexts) {
  for (const std::size_t count : {1, 2, 3, 4, 7})
    run_processes(count, [count](Processes& processes) {
      const double rank = double(processes.rank()), last = double(count - 1);
      EXPECT_EQ(processes.largest({rank, -rank}), (std::vector<double>{last, 0}));
      std::vector<std::string> names;
      for (std::size_t i = 0; i < count; ++i) names.push_back(i % 2 == 0 ? "" : std::to_string(i));
      EXPECT_EQ(processes.texts(names[processes.rank()]), names);
      EXPECT_EQ(processes.first_text(names[processes.rank()]), count > 1 ? "1" : "");
      std::string told = processes.leads() ? "all" : "mine";
      processes.share(told);
      EXPECT_EQ(told, "all");
      const std::vector<std::string> texts = {"", std::string("a\0b", 3), "c"};
      std::vector<std::string> shared = processes.leads() ? texts : names;
      processes.share(shared);
      EXPECT_EQ(shared, texts);
      EXPECT_EQ(processes.texts(texts[1]), std::vector<std::string>(count, texts[1]));
      double number = rank + 5;
      processes.share_bytes(&number, sizeof number);
      EXPECT_EQ(number, 5);
      EXPECT_EQ(processes.hosts().size(), count);
    });
}

/// As the slots of an exchange of gradients would be that is over too early.
TEST(Transport, TellsASenderThatChangesBytesTooEarly) {
  for (const bool early : {false, true})
    run_processes(2, [early](Processes& processes) {
      Transport& transport = processes.transport();
      int number = 5, other = 0;
      if (!processes.leads()) {
        transport.receive(0, &other, sizeof other);
        EXPECT_EQ(other, 5);
        return;
      }
      const Transport::Ticket ticket = transport.begin_send(1, 0, &number, sizeof number);
      if (!early) {
        EXPECT_NO_THROW(transport.wait(ticket));
        return;
      }
      number = 6;
      EXPECT_THROW(transport.wait(ticket), std::invalid_argument);
      number = 5;
      EXPECT_TRUE(transport.is_over(ticket));
    });
}

}  // namespace processes_test
}  // namespace bochner
