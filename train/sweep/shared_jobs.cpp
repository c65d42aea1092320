#include <bochner/train/sweep/shared_jobs.hpp>
#include <chrono>
#include <cstdint>
#include <deque>
#include <thread>
#include <utility>

namespace bochner {
namespace {

using namespace std::chrono_literals;

/// Message header, followed by `bytes` of words.
struct Message {
  enum Kind : std::uint64_t {
    start,  ///< to a helper: job `number`
    stop,   ///< to a helper: stop all of its jobs
    ended,  ///< from a helper: job `number`, with `code`
    asked,  ///< from a helper: signal `code` asked for a stop
    over    ///< last message to a helper, and its answer
  } kind = over;
  std::uint64_t number = 0, code = 0, bytes = 0;
};

/// Messages from and to another process; waiting polls at intervals to leave processors to others.
class Mail {
 public:
  Mail(Transport& transport, std::size_t other) : transport_(transport), other_(other) { expect(); }
  // A message may still be written into it.
  Mail(const Mail&) = delete;
  Mail& operator=(const Mail&) = delete;

  void send(Message message, const std::string& words = "") {
    message.bytes = words.size();
    transport_.send(other_, &message, sizeof message);
    if (!words.empty()) transport_.send(other_, words.data(), words.size());
  }
  /// Takes a message; nothing if none has arrived.
  std::optional<Message> take() {
    if (is_over_ || !transport_.is_over(ticket_)) return std::nullopt;
    const Message message = next_;
    words_.resize(message.bytes);
    if (!words_.empty()) transport_.receive(other_, words_.data(), words_.size());
    is_over_ = message.kind == Message::over;
    if (!is_over_) expect();
    return message;
  }
  /// Returns the words of the last taken message.
  const std::string& words() const { return words_; }
  bool is_over() const { return is_over_; }

 private:
  void expect() { ticket_ = transport_.begin_receive(other_, 0, &next_, sizeof next_); }

  Transport& transport_;
  std::size_t other_;
  Transport::Ticket ticket_ = 0;
  Message next_;
  std::string words_;
  bool is_over_ = false;
};

/// Packs a job: its words, then its log.
std::string message_of(const Job& job) { return packed(job.words) + packed({job.log}); }

Job job_of(const std::string& message) {
  std::vector<std::string> texts = unpacked(message);
  const std::string log = texts.back();
  texts.pop_back();
  return {std::move(texts), log};
}

class RemoteJobs : public JobPlace {
 public:
  RemoteJobs(Transport& transport, std::size_t helper, std::size_t at_most, SignalGuard& signals)
      : mail_(transport, helper), at_most_(at_most), signals_(signals) {}
  bool has_room() const override { return running_ < at_most_; }
  bool is_empty() const override { return running_ == 0; }
  void add(const Job& job, std::size_t index) override {
    mail_.send({.kind = Message::start, .number = index}, message_of(job));
    ++running_;
  }
  void stop() override { mail_.send({.kind = Message::stop}); }
  void reap(const JobEnded& ended) override {
    while (const std::optional<Message> message = mail_.take()) {
      if (message->kind == Message::asked) signals_.adopt_stop(int(message->code));
      if (message->kind != Message::ended) continue;
      --running_;
      ended(message->number, int(message->code));
    }
  }
  /// Waits until the helper has confirmed the end.
  void dismiss() {
    mail_.send({.kind = Message::over});
    for (reap({}); !mail_.is_over(); reap({})) std::this_thread::sleep_for(1ms);
  }

 private:
  Mail mail_;
  std::size_t at_most_, running_ = 0;
  SignalGuard& signals_;
};

/// Returns the number of jobs that each process runs.
std::vector<double> rooms(Processes& processes, const JobShare& here) {
  return processes.gather(processes.size(),
                          [&](std::size_t) { return std::vector<double>{double(here.jobs)}; });
}

}  // namespace

void run_shared_jobs(Processes& processes, const JobShare& here, const JobQueue& queue,
                     SignalGuard& signals) {
  const std::vector<double> at_most = rooms(processes, here);
  LocalJobs own(here);
  std::deque<RemoteJobs> others;
  std::vector<JobPlace*> places = {&own};
  for (std::size_t rank = 1; rank < processes.size(); ++rank)
    places.push_back(
        &others.emplace_back(processes.transport(), rank, std::size_t(at_most[rank]), signals));
  run_jobs(places, queue);
  for (RemoteJobs& other : others) other.dismiss();
}

void help_with_jobs(Processes& processes, const JobShare& here, const SignalGuard& signals) {
  rooms(processes, here);
  Mail mail(processes.transport(), 0);
  LocalJobs jobs(here);
  for (bool asked = false; !mail.is_over(); std::this_thread::sleep_for(20ms)) {
    while (const std::optional<Message> message = mail.take()) {
      if (message->kind == Message::start) jobs.add(job_of(mail.words()), message->number);
      if (message->kind == Message::stop) jobs.stop();
    }
    if (signals.stop_requested() && !std::exchange(asked, true))
      mail.send({.kind = Message::asked, .code = std::uint64_t(signals.asked_by())});
    jobs.reap([&](std::size_t index, int code) {
      mail.send({.kind = Message::ended, .number = index, .code = std::uint64_t(code)});
    });
  }
  mail.send({});
}

}  // namespace bochner
