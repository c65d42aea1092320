#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bochner/train/distributed/exchange_plan.hpp>
#include <map>

namespace bochner {
namespace exchange_plan_test {

/// The plans of all processes, carried out on texts: sums are in brackets, smaller part first.
class Play {
 public:
  Play(const Leaves& leaves, std::size_t bucket)
      : stacks_(leaves.processes), next_(leaves.processes) {
    for (std::size_t rank = 0; rank < leaves.processes; ++rank)
      plans_.push_back(exchange_plan(leaves, rank, bucket));
  }

  std::vector<std::vector<std::string>> stacks() {
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t rank = 0; rank < plans_.size(); ++rank)
        for (; next_[rank] < plans_[rank].size() && move(rank); ++next_[rank]) moved = true;
    }
    for (std::size_t rank = 0; rank < plans_.size(); ++rank)
      EXPECT_EQ(next_[rank], plans_[rank].size()) << "process " << rank << " waits for ever";
    for (const auto& [ends, texts] : post_) EXPECT_TRUE(texts.empty());
    return stacks_;
  }

  std::size_t sent_by(std::size_t rank) const {
    return std::size_t(std::ranges::count_if(plans_[rank], [](const ExchangeStep& step) {
      return step.kind == ExchangeStep::send || step.kind == ExchangeStep::share;
    }));
  }

 private:
  bool move(std::size_t rank) {
    const ExchangeStep step = plans_[rank][next_[rank]];
    std::vector<std::string>& stack = stacks_[rank];
    if (step.kind == ExchangeStep::receive) {
      std::vector<std::string>& texts = post_[{step.other, rank}];
      if (texts.empty()) return false;
      stack.push_back(texts.front());
      texts.erase(texts.begin());
    } else if (step.kind == ExchangeStep::leaf) {
      stack.push_back(std::to_string(step.other));
    } else if (step.kind == ExchangeStep::add) {
      const std::string upper = stack.back();
      stack.pop_back();
      const auto first = [](const std::string& text) {
        return std::stoi(text.substr(text.find_first_of("0123456789")));
      };
      const bool ordered = first(stack.back()) < first(upper);
      stack.back() =
          "(" + (ordered ? stack.back() + " " + upper : upper + " " + stack.back()) + ")";
    } else {
      post_[{rank, step.other}].push_back(stack.back());
      if (step.kind == ExchangeStep::send) stack.pop_back();
    }
    return true;
  }

  std::vector<std::vector<ExchangeStep>> plans_;
  std::vector<std::vector<std::string>> stacks_;
  std::vector<std::size_t> next_;
  std::map<std::pair<std::size_t, std::size_t>, std::vector<std::string>> post_;
};

std::string tree(std::size_t first, std::size_t last) {
  if (last - first == 1) return std::to_string(first);
  const std::size_t middle = Leaves::middle(first, last);
  return "(" + tree(first, middle) + " " + tree(middle, last) + ")";
}

TEST(ExchangePlan, BringsTheSameSumToAllForAnyNumberOfProcesses) {
  for (std::size_t shards = 1; shards <= 11; ++shards)
    for (std::size_t processes = 1; processes <= shards; ++processes)
      for (std::size_t bucket = 0; bucket < 9; ++bucket) {
        Play play({shards, processes}, bucket);
        for (const std::vector<std::string>& stack : play.stacks())
          EXPECT_THAT(stack, testing::ElementsAre(tree(0, shards)))
              << shards << " shards, " << processes << " processes, bucket " << bucket;
      }
}

TEST(ExchangePlan, LetsBucketsMeetAtOtherProcesses) {
  for (const std::size_t processes : {2, 4, 8}) {
    std::vector<std::size_t> sent(processes);
    for (std::size_t bucket = 0; bucket < processes; ++bucket) {
      const Play play({8, processes}, bucket);
      for (std::size_t rank = 0; rank < processes; ++rank) sent[rank] += play.sent_by(rank);
    }
    EXPECT_EQ(sent, std::vector<std::size_t>(processes, 2 * (processes - 1)));
  }
}

/// Before its last leaf, a process only sends.
TEST(ExchangePlan, LetsPassesGoOn) {
  for (std::size_t shards = 1; shards <= 11; ++shards)
    for (std::size_t processes = 1; processes <= shards; ++processes)
      for (std::size_t rank = 0; rank < processes; ++rank)
        for (std::size_t bucket = 0; bucket < 9; ++bucket) {
          const auto plan = exchange_plan({shards, processes}, rank, bucket);
          const auto is = [](auto kind) {
            return [kind](const ExchangeStep& step) { return step.kind == kind; };
          };
          const auto received = std::ranges::find_if(plan, is(ExchangeStep::receive));
          EXPECT_TRUE(std::none_of(received, plan.end(), is(ExchangeStep::leaf)))
              << shards << " shards, " << processes << " processes, bucket " << bucket;
        }
}

TEST(ExchangePlan, KnowsHowMuchAStackHolds) {
  EXPECT_EQ(depth_of(exchange_plan({8, 1}, 0, 0)), 4u);
  EXPECT_EQ(depth_of(exchange_plan({2, 2}, 0, 0)), 2u);
  EXPECT_EQ(depth_of(exchange_plan({2, 2}, 1, 0)), 1u);
}

TEST(Buckets, AreWorthAMessage) {
  EXPECT_EQ(Buckets(0, 4).count, 1u);
  EXPECT_EQ(Buckets(32767, 4).count, 1u);
  EXPECT_EQ(Buckets(3 * 16384, 4).count, 3u);
  EXPECT_EQ(Buckets(1 << 30, 4).count, 32u);
  const Buckets odd(100001, 4);
  EXPECT_EQ(odd.begin_of(0), 0u);
  EXPECT_EQ(odd.begin_of(odd.count), 100001u);
}

}  // namespace exchange_plan_test
}  // namespace bochner
