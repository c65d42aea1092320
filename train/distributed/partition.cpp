#include <bochner/train/distributed/partition.hpp>

namespace bochner {
namespace {

constexpr std::size_t weights_channel = 0;

}  // namespace

OptimizerPartition::OptimizerPartition(Optimizer& optimizer, std::vector<NamedParameter> parameters,
                                       Processes& processes)
    : optimizer_(optimizer),
      parameters_(std::move(parameters)),
      processes_(processes),
      loop_(parameters_) {}

/// Sends from each process to each, so that all links are used at once.
void OptimizerPartition::share_weights() {
  Tensor flat = uninitialized({loop_.size()});
  const auto value_of = [&](std::size_t index) {
    return parameters_[index].parameter->value().data();
  };
  const std::size_t own = processes_.rank(), begin = begin_of(own), end = begin_of(own + 1);
  loop_.within(begin, end, [&](std::size_t index, std::size_t from, std::size_t to) {
    std::copy(value_of(index) + from, value_of(index) + to,
              flat.data() + loop_.offset_of(index) + from);
  });
  Transport& transport = processes_.transport();
  std::vector<Transport::Ticket> tickets;
  const auto bytes = [&](std::size_t process) {
    return (begin_of(process + 1) - begin_of(process)) * sizeof(real);
  };
  for (std::size_t other = 0; other < processes_.size(); ++other) {
    if (other == own) continue;
    tickets.push_back(transport.begin_receive(other, weights_channel, flat.data() + begin_of(other),
                                              bytes(other)));
    tickets.push_back(
        transport.begin_send(other, weights_channel, flat.data() + begin, bytes(own)));
  }
  for (const Transport::Ticket ticket : tickets) transport.wait(ticket);
  const auto take = [&](std::size_t index, std::size_t from, std::size_t to) {
    std::copy(flat.data() + loop_.offset_of(index) + from,
              flat.data() + loop_.offset_of(index) + to, value_of(index) + from);
  };
  loop_.within(0, begin, take);
  loop_.within(end, loop_.size(), take);
}

void OptimizerPartition::gather() {
  if (optimizer_.is_whole()) return;
  if (processes_.leads()) optimizer_.make_whole();
  for (std::size_t process = 1; process < processes_.size(); ++process) exchange_moments(process);
}

/// Sends moments from a process to the first one; the tensors of state() are the counts of updates
/// and then, for each moment, those of all parameters.
void OptimizerPartition::exchange_moments(std::size_t process) {
  if (processes_.rank() != process && !processes_.leads()) return;
  const std::vector<NamedTensor> state = optimizer_.state();
  for (std::size_t i = 1; i < state.size(); ++i) {
    const auto [from, to] =
        optimizer_.part_of((i - 1) % parameters_.size(), begin_of(process), begin_of(process + 1));
    real* data = state[i].tensor->data();
    if (processes_.leads())
      processes_.transport().receive(process, data + from, (to - from) * sizeof(real));
    else
      processes_.transport().send(0, data, (to - from) * sizeof(real));
  }
}

}  // namespace bochner
