#pragma once
/// Processes that train one run together. Their results of a step are combined by a tree over the
/// shards of its examples, with our own additions, so that the bits are the same for any number of
/// processes; a single process combines all shards by the same tree.

#include <algorithm>
#include <bit>
#include <bochner/base/ceil_div.hpp>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace bochner {

/// Backoff of a process that waits for others, perhaps for long: they may need the processor.
class Patience {
 public:
  void rest();

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// Transport of bytes between processes. Messages of a channel between two processes arrive in
/// order; they progress only within these functions.
class Transport {
 public:
  using Ticket = std::size_t;  ///< of a message in flight

  virtual ~Transport() = default;
  virtual std::size_t rank() const = 0;
  virtual std::size_t size() const = 0;
  /// Begins a message; the bytes must stay unchanged until it is over.
  virtual Ticket begin_send(std::size_t to, std::size_t channel, const void* data,
                            std::size_t bytes) = 0;
  virtual Ticket begin_receive(std::size_t from, std::size_t channel, void* data,
                               std::size_t bytes) = 0;
  /// Whether a message has arrived, or its bytes may be changed; call it until it returns true.
  virtual bool is_over(Ticket ticket) = 0;
  /// Sends on channel 0 and waits.
  void send(std::size_t to, const void* data, std::size_t bytes) {
    wait(begin_send(to, 0, data, bytes));
  }
  void receive(std::size_t from, void* data, std::size_t bytes) {
    wait(begin_receive(from, 0, data, bytes));
  }
  void wait(Ticket ticket) {
    for (Patience patience; !is_over(ticket);) patience.rest();
  }
  /// Waits until all processes reach their end; a process that skips this ends the others too.
  virtual void end() = 0;
};

/// Leaves of a tree, of which each process has a consecutive block; sizes differ by at most one.
struct Leaves {
  std::size_t count = 1, processes = 1;

  std::size_t first_of(std::size_t process) const { return process * count / processes; }
  std::size_t owner(std::size_t leaf) const { return ((leaf + 1) * processes - 1) / count; }
  /// Whether a process has one of first, ..., last - 1.
  bool has(std::size_t process, std::size_t first, std::size_t last) const {
    return first_of(process) < last && first < first_of(process + 1);
  }
  /// Returns where the tree splits first, ..., last - 1, at least two, by their number only.
  static std::size_t middle(std::size_t first, std::size_t last) {
    return first + std::bit_floor(last - first - 1);
  }
};

class Processes {
 public:
  Processes() = default;
  explicit Processes(std::unique_ptr<Transport> transport);
  static Processes& alone();

  std::size_t rank() const { return transport_ ? transport_->rank() : 0; }
  std::size_t size() const { return transport_ ? transport_->size() : 1; }
  /// Whether this process writes files and messages.
  bool leads() const { return rank() == 0; }
  const std::vector<std::string>& hosts() const { return hosts_; }
  /// Returns "process 1 on beta".
  std::string name(std::size_t rank) const {
    return "process " + std::to_string(rank) + " on " + hosts_[rank];
  }
  Leaves leaves(std::size_t count) const { return {count, size()}; }
  /// Returns the transport; only if there are several processes.
  Transport& transport() { return *transport_; }

  /// Reduces all leaves by their tree with add(left, right), which changes `left`, in all
  /// processes. Calls `leaf` for those of this process, in order. Values are vectors of numbers or
  /// texts, of any length.
  template <class Values, class Leaf, class Add>
  Values join(std::size_t count, const Leaf& leaf, const Add& add) {
    Values joined = part<Values>(leaves(count), 0, count, leaf, add);
    share(joined);
    return joined;
  }
  /// Returns the elementwise sums over all leaves; shorter leaves are padded with 0.
  template <class Leaf>
  std::vector<double> sums(std::size_t count, const Leaf& leaf) {
    return join<std::vector<double>>(
        count, leaf, [](std::vector<double>& left, const std::vector<double>& right) {
          left.resize(std::max(left.size(), right.size()));
          for (std::size_t i = 0; i < right.size(); ++i) left[i] += right[i];
        });
  }
  /// Returns the concatenated numbers of part(0), ..., part(count - 1) in all processes; each
  /// process calls a consecutive range of them, the first one at least as many as others.
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

  /// Returns the elementwise largest over all processes, whose vectors have equal sizes.
  std::vector<double> largest(std::vector<double> mine);
  bool any(bool mine) { return largest({double(mine)})[0] > 0; }
  /// Returns the first nonempty text, in the order of the processes.
  std::string first_text(const std::string& mine);
  std::vector<std::string> texts(const std::string& mine);

  /// Waits for all others; the last call of a process, unless it fails alone.
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

  /// Reduces the leaves first, ..., last - 1 at the process that has the first of them. Messages go
  /// to lower ranks, in one order of all nodes, so there are no deadlocks.
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

/// Packs texts into one, to which others may be appended, and unpacks them.
std::string packed(const std::vector<std::string>& texts);
std::vector<std::string> unpacked(std::string_view text);

/// Returns the first process whose text differs from that of process 0; see texts().
std::optional<std::size_t> first_other(const std::vector<std::string>& texts);

}  // namespace bochner
