#pragma once
/// The processes that train one run together. What each of them computes of a step is joined by a
/// tree over the shards of its examples, with additions of our own, so that the bits are the same
/// for any number of processes: one alone joins all shards by the same tree and tells nobody.

#include <algorithm>
#include <bit>
#include <bochner/base/ceil_div.hpp>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace bochner {

/// Of one who waits for others, perhaps for long: they may need the processor.
class Patience {
 public:
  void rest();

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// How bytes get from one process to another. Messages of a channel between two processes arrive in
/// their order; none moves on but within these functions.
class Transport {
 public:
  using Ticket = std::size_t;  ///< of a message that is under way

  virtual ~Transport() = default;
  virtual std::size_t rank() const = 0;
  virtual std::size_t size() const = 0;
  /// The bytes must stay until the message is over.
  virtual Ticket begin_send(std::size_t to, std::size_t channel, const void* data,
                            std::size_t bytes) = 0;
  virtual Ticket begin_receive(std::size_t from, std::size_t channel, void* data,
                               std::size_t bytes) = 0;
  /// Whether a message has arrived, or its bytes may be changed; it is asked about until it has.
  virtual bool is_over(Ticket ticket) = 0;
  /// On channel 0, at once.
  void send(std::size_t to, const void* data, std::size_t bytes) {
    wait(begin_send(to, 0, data, bytes));
  }
  void receive(std::size_t from, void* data, std::size_t bytes) {
    wait(begin_receive(from, 0, data, bytes));
  }
  void wait(Ticket ticket);
  /// Waits until all processes have come to their end. Without it the others are ended, too.
  virtual void end() = 0;
};

/// The leaves of a tree, of which each process has a block of consecutive ones; at most one more
/// than any other.
struct Leaves {
  std::size_t count = 1, processes = 1;

  std::size_t first_of(std::size_t process) const { return process * count / processes; }
  std::size_t owner(std::size_t leaf) const { return ((leaf + 1) * processes - 1) / count; }
  /// Whether a process has one of first, ..., last - 1.
  bool has(std::size_t process, std::size_t first, std::size_t last) const {
    return first_of(process) < last && first < first_of(process + 1);
  }
  /// Where the tree cuts first, ..., last - 1, at least two: a function of their number only.
  static std::size_t middle(std::size_t first, std::size_t last) {
    return first + std::bit_floor(last - first - 1);
  }
};

class Processes {
 public:
  /// One alone.
  Processes() = default;
  explicit Processes(std::unique_ptr<Transport> transport);
  /// For those who need no others.
  static Processes& alone();

  std::size_t rank() const { return transport_ ? transport_->rank() : 0; }
  std::size_t size() const { return transport_ ? transport_->size() : 1; }
  /// Whether this is the one that writes files and talks to the user.
  bool leads() const { return rank() == 0; }
  /// The machines that they are on.
  const std::vector<std::string>& hosts() const { return hosts_; }
  /// "process 1 on beta"
  std::string name(std::size_t rank) const;
  Leaves leaves(std::size_t count) const { return {count, size()}; }
  /// Only where there are others.
  Transport& transport() { return *transport_; }

  /// add(left, right), which changes `left`, over all leaves by their tree, for all processes.
  /// `leaf` is called for those of this process, in their order. Values are vectors of numbers or
  /// texts, of any length.
  template <class Values, class Leaf, class Add>
  Values join(std::size_t count, const Leaf& leaf, const Add& add) {
    Values joined = part<Values>(leaves(count), 0, count, leaf, add);
    share(joined);
    return joined;
  }
  /// The sums over all leaves, element for element; where a leaf has fewer, the others are 0.
  template <class Leaf>
  std::vector<double> sums(std::size_t count, const Leaf& leaf) {
    return join<std::vector<double>>(
        count, leaf, [](std::vector<double>& left, const std::vector<double>& right) {
          left.resize(std::max(left.size(), right.size()));
          for (std::size_t i = 0; i < right.size(); ++i) left[i] += right[i];
        });
  }
  /// The numbers of part(0), ..., part(count - 1) one behind the other, for all: each process calls
  /// some of them that follow each other, the first one at least as many as others.
  template <class Part>
  std::vector<double> gather(std::size_t count, const Part& part) {
    const auto begin = [&](std::size_t process) { return ceil_div(count * process, size()); };
    const auto append = [](std::vector<double>& left, const std::vector<double>& right) {
      left.insert(left.end(), right.begin(), right.end());
    };
    return join<std::vector<double>>(
        size(),
        [&](std::size_t process) {
          std::vector<double> numbers;
          for (std::size_t i = begin(process); i < begin(process + 1); ++i)
            append(numbers, part(i));
          return numbers;
        },
        append);
  }
  /// Gives all processes the values of the first one.
  template <class Values>
  void share(Values& values) {
    static_assert(std::is_trivially_copyable_v<typename Values::value_type>);
    std::size_t count = values.size();
    share_bytes(&count, sizeof count);
    values.resize(count);
    share_bytes(values.data(), count * sizeof(typename Values::value_type));
  }
  void share(std::vector<std::string>& texts);
  void share_bytes(void* data, std::size_t bytes) { share_bytes(data, bytes, 0, size()); }

  /// Element for element the largest over all processes, which have as many.
  std::vector<double> largest(std::vector<double> mine);
  /// Whether one of them says yes.
  bool any(bool mine) { return largest({double(mine)})[0] > 0; }
  /// The first text that is not empty, in the order of the processes.
  std::string first_text(const std::string& mine);
  /// One text of each process, for all.
  std::vector<std::string> texts(const std::string& mine);

  /// Waits for all others: the last thing that a process does, unless it fails alone.
  void end() {
    if (transport_) transport_->end();
  }

 private:
  static std::string host_name();
  template <class Values>
  void send(std::size_t to, const Values& values) {
    static_assert(std::is_trivially_copyable_v<typename Values::value_type>);
    const std::size_t count = values.size();
    transport_->send(to, &count, sizeof count);
    transport_->send(to, values.data(), count * sizeof(typename Values::value_type));
  }
  template <class Values>
  void receive(std::size_t from, Values& values) {
    std::size_t count = 0;
    transport_->receive(from, &count, sizeof count);
    values.resize(count);
    transport_->receive(from, values.data(), count * sizeof(typename Values::value_type));
  }

  /// Of the leaves first, ..., last - 1 all together, at the process that has the first of them.
  /// Messages go to lower ranks, in one order of all nodes: nobody waits in a circle.
  template <class Values, class Leaf, class Add>
  Values part(const Leaves& leaves, std::size_t first, std::size_t last, const Leaf& leaf,
              const Add& add) {
    if (!leaves.has(rank(), first, last)) return {};
    if (last - first == 1) return leaf(first);
    const std::size_t middle = Leaves::middle(first, last);
    const std::size_t to = leaves.owner(first), from = leaves.owner(middle);
    Values left = part<Values>(leaves, first, middle, leaf, add);
    Values right = part<Values>(leaves, middle, last, leaf, add);
    if (rank() == from && to != from) send(to, right);
    if (rank() != to) return {};
    if (to != from) receive(from, right);
    add(left, right);
    return left;
  }

  void share_bytes(void* data, std::size_t bytes, std::size_t first, std::size_t last);

  std::unique_ptr<Transport> transport_;
  std::vector<std::string> hosts_ = {host_name()};
};

/// Texts as one, behind which that of others may stand; and again what they were.
std::string packed(const std::vector<std::string>& texts);
std::vector<std::string> unpacked(std::string_view text);

/// The first process whose text, of texts(), is not that of process 0.
std::optional<std::size_t> first_other(const std::vector<std::string>& texts);

}  // namespace bochner
