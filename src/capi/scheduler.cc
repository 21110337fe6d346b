// SPDX-License-Identifier: Apache-2.0
#include "capi/scheduler.h"

#include <pthread.h>

#include <algorithm>
#include <csignal>
#include <exception>
#include <limits>
#include <system_error>
#include <utility>

#include "capi/log.h"

namespace opscv::capi {
namespace {

constexpr uint64_t kAll = std::numeric_limits<uint64_t>::max();

// How long work waits for somebody to synchronise before a worker takes it. A thread that queues a
// tiny call and synchronises does so within a microsecond; a worker takes about 50 to wake.
constexpr auto kGrace = std::chrono::microseconds(50);
// A worker goes on looking after the last work has come, because a caller that finds it looking
// need not wake it, which costs the caller several microseconds, and 30 on a busy machine: so many
// times every kGrace, and then for a tenth of a second every kDoze, in which only short work leaves
// it.
constexpr int kQuietLooks = 20;
constexpr auto kDoze = std::chrono::milliseconds(1);
constexpr int kDozes = 100;

// The streams whose tasks the thread is inside of, innermost first.
struct Frame {
  const Stream* stream;
  Frame* outer;
};
thread_local Frame* t_frame = nullptr;

bool IsOnThisThread(const Stream& stream) {
  for (const Frame* frame = t_frame; frame != nullptr; frame = frame->outer) {
    if (frame->stream == &stream) return true;
  }
  return false;
}

int FramesOfThisThread() {
  int count = 0;
  for (const Frame* frame = t_frame; frame != nullptr; frame = frame->outer) ++count;
  return count;
}

AclStatus OwnStream() {
  return {ACL_ERROR_RT_STREAM_CONTEXT,
          "a host function must not wait for the stream that runs it."};
}

AclStatus InsideHostFunction() {
  return {ACL_ERROR_RT_STREAM_CONTEXT,
          "a host function must not wait for the device that runs it."};
}

// Runs the work; true if it threw. Lets a cancelled thread unwind.
bool Throws(const std::function<void()>& work, std::string& what) {
  try {
    work();
    return false;
  } catch (const abi::__forced_unwind&) {
    throw;
  } catch (const std::exception& error) {
    what = error.what();
  } catch (...) {
    what = "an exception of unknown type";
  }
  return true;
}

// Ends the first task.
void Finish(Stream& stream) {
  stream.queue.pop_front();
  ++stream.finished;
  if (stream.waiting_threads > 0) stream.changed.notify_all();
}

bool IsHeldUp(const Task& task) { return task.kind == Task::Kind::kWait && !task.record->reached; }

AclStatus CollectFailure(Stream& stream) {
  if (!std::exchange(stream.failed, false)) return {};
  return Refusal(ACL_ERROR_INTERNAL_ERROR, "a host function on the stream threw: {}.",
                 std::exchange(stream.failure, {}));
}

// Empties the queue as if all had been done; gives what has to be destroyed without the lock.
std::deque<Task> Drop(Stream& stream) {
  std::deque<Task> dropped = std::exchange(stream.queue, {});
  for (const Task& task : dropped) {
    if (task.kind == Task::Kind::kReach) task.record->reached = true;
  }
  stream.finished = stream.queued;
  stream.changed.notify_all();
  return dropped;
}

}  // namespace

// While it lives, the thread runs the stream. Begins and ends with the lock held.
class Scheduler::Running {
 public:
  Running(Scheduler& scheduler, std::shared_ptr<Stream> stream)
      : scheduler_(scheduler), stream_(std::move(stream)), frame_{stream_.get(), t_frame} {
    stream_->running = true;
    ++scheduler_.running_;
    t_frame = &frame_;
  }
  ~Running() {
    t_frame = frame_.outer;
    --scheduler_.running_;
    stream_->running = false;
    if (stream_->waiting_threads > 0) stream_->changed.notify_all();
    if (scheduler_.dropping_) {
      scheduler_.run_ended_.notify_all();
    } else if (scheduler_.Settle(stream_)) {
      scheduler_.Offer(stream_);
    }
  }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

  // Runs the first task, which is work, without the lock.
  void RunFirst(Lock& lock) {
    const Ended ended{lock, *stream_};
    std::function<void()> work = std::move(stream_->queue.front().work);
    std::string what;
    lock.unlock();
    const bool threw = Throws(work, what);
    work = nullptr;  // what it holds goes without the lock too
    lock.lock();
    if (threw && !stream_->failed) {
      stream_->failed = true;
      stream_->failure = std::move(what);
    }
  }

 private:
  // Ends the task, also where the thread is cancelled inside it.
  struct Ended {
    Lock& lock;
    Stream& stream;
    ~Ended() {
      if (!lock.owns_lock()) lock.lock();
      Finish(stream);
    }
  };

  Scheduler& scheduler_;
  const std::shared_ptr<Stream> stream_;
  Frame frame_;
};

Scheduler::~Scheduler() {
  {
    const Lock lock(mutex_);
    retired_ = true;
  }
  StopWorkers();
}

AclStatus Scheduler::Submit(const std::shared_ptr<Stream>& stream, std::function<void()> work,
                            Start start) {
  const Lock lock(mutex_);
  return Append(stream, {.kind = Task::Kind::kWork, .work = std::move(work), .record = nullptr},
                start);
}

AclStatus Scheduler::RecordEvent(const std::shared_ptr<Stream>& stream, Event& event) {
  const Lock lock(mutex_);
  auto record = std::make_shared<Record>();
  record->stream = stream;
  record->sequence = stream->queued + 1;
  OPSCV_ACL_RETURN_IF_ERROR(Append(
      stream, {.kind = Task::Kind::kReach, .work = nullptr, .record = record}, Start::kLate));
  event.latest = std::move(record);
  return {};
}

AclStatus Scheduler::WaitEvent(const std::shared_ptr<Stream>& stream, const Event& event) {
  const Lock lock(mutex_);
  if (event.latest == nullptr || event.latest->reached) return {};
  return Append(stream, {.kind = Task::Kind::kWait, .work = nullptr, .record = event.latest},
                Start::kLate);
}

AclStatus Scheduler::Append(const std::shared_ptr<Stream>& stream, Task task, Start start) {
  if (stream->closed) {
    return {ACL_ERROR_RT_STREAM_CONTEXT, "stream is being destroyed by another thread."};
  }
  stream->queue.push_back(std::move(task));
  ++stream->queued;
  const bool was_idle = !stream->running && stream->queue.size() == 1;
  if (was_idle) {
    if (Settle(stream)) Offer(stream, start);
  } else if (stream->listed && start == Start::kSoon) {
    CallWorker();  // what the stream was listed with may have been short
  }
  return {};
}

AclStatus Scheduler::Synchronize(const std::shared_ptr<Stream>& stream) {
  Lock lock(mutex_);
  OPSCV_ACL_RETURN_IF_ERROR(WaitFor(lock, stream, stream->queued));
  return CollectFailure(*stream);
}

AclStatus Scheduler::SynchronizeAll(std::span<const std::shared_ptr<Stream>> streams) {
  Lock lock(mutex_);
  if (t_frame != nullptr) return InsideHostFunction();
  std::vector<uint64_t> targets;
  for (const auto& stream : streams) targets.push_back(stream->queued);
  AclStatus first;
  for (size_t i = 0; i < streams.size(); ++i) {
    OPSCV_ACL_RETURN_IF_ERROR(WaitFor(lock, streams[i], targets[i]));
    AclStatus status = CollectFailure(*streams[i]);
    if (first.ok()) first = std::move(status);
  }
  return first;
}

AclStatus Scheduler::SynchronizeEvent(const Event& event) {
  Lock lock(mutex_);
  const std::shared_ptr<Record> record = event.latest;
  if (record == nullptr || record->reached) return {};
  const std::shared_ptr<Stream> stream = record->stream;
  return WaitFor(lock, stream, record->sequence);
}

AclStatus Scheduler::Close(const std::shared_ptr<Stream>& stream) {
  Lock lock(mutex_);
  if (IsOnThisThread(*stream)) return OwnStream();
  if (std::exchange(stream->closed, true)) {
    return {ACL_ERROR_RT_STREAM_CONTEXT, "stream is being destroyed by another thread."};
  }
  if (AclStatus status = WaitFor(lock, stream, stream->queued); !status.ok()) {
    stream->closed = false;
    return status;
  }
  return CollectFailure(*stream);
}

AclStatus Scheduler::Elapsed(const Event& start, const Event& end, float* ms) {
  const Lock lock(mutex_);
  for (const auto& [event, name] : {std::pair(&start, "startEvent"), std::pair(&end, "endEvent")}) {
    if (event->latest == nullptr) return InvalidParam("{} was never recorded.", name);
    if (!event->latest->reached) {
      return InvalidParam("{} is not reached yet; synchronise its stream first.", name);
    }
  }
  *ms = std::chrono::duration<float, std::milli>(end.latest->time - start.latest->time).count();
  return {};
}

bool Scheduler::InsideTask() { return t_frame != nullptr; }

// Until the task numbered `target` has ended: runs the stream, or what its next task waits for, and
// sleeps only while others run these.
AclStatus Scheduler::WaitFor(Lock& lock, const std::shared_ptr<Stream>& stream, uint64_t target) {
  while (stream->finished < target) {
    if (abandoned_) {
      return {ACL_ERROR_RT_STREAM_CONTEXT, "stream belongs to the parent of this process."};
    }
    Errand errand{stream, target};
    while (!errand.stream->queue.empty() && IsHeldUp(errand.stream->queue.front())) {
      const std::shared_ptr<Record> record = errand.stream->queue.front().record;
      errand = {record->stream, record->sequence};
    }
    if (IsOnThisThread(*errand.stream)) return OwnStream();
    if (CanRun(*errand.stream)) {
      Run(lock, errand.stream, errand.target);
      continue;
    }
    struct Waiting {
      Stream& stream;
      explicit Waiting(Stream& s) : stream(s) { ++stream.waiting_threads; }
      ~Waiting() { --stream.waiting_threads; }
    } const waiting(*stream);
    stream->changed.wait(lock);
  }
  return {};
}

bool Scheduler::CanRun(const Stream& stream) const {
  return !stream.running && !dropping_ && !stream.queue.empty() && !IsHeldUp(stream.queue.front());
}

void Scheduler::Run(Lock& lock, const std::shared_ptr<Stream>& stream, uint64_t target) {
  Running running(*this, stream);
  while (GoesOn(*stream, target) && Settle(stream)) running.RunFirst(lock);
}

bool Scheduler::GoesOn(const Stream& stream, uint64_t target) const {
  if (dropping_ || stream.finished >= target) return false;
  return target != kAll || stopping_ == 0;
}

// Passes the records and the waits that are over at the head of the queue. True if work is next.
bool Scheduler::Settle(const std::shared_ptr<Stream>& stream) {
  while (!stream->queue.empty()) {
    const Task& task = stream->queue.front();
    if (task.kind == Task::Kind::kWork) return true;
    if (IsHeldUp(task)) {
      if (!stream->waits_in_record) task.record->blocked.push_back(stream);
      stream->waits_in_record = true;
      return false;
    }
    if (task.kind == Task::Kind::kReach) Reach(*task.record);
    Finish(*stream);
  }
  return false;
}

void Scheduler::Reach(Record& record) {
  record.reached = true;
  record.time = Clock::now();
  record.stream = nullptr;
  for (const std::shared_ptr<Stream>& stream : std::exchange(record.blocked, {})) {
    stream->waits_in_record = false;
    Offer(stream);
  }
}

// Lists a stream that nobody runs for the workers, and wakes the threads that wait for it.
void Scheduler::Offer(const std::shared_ptr<Stream>& stream, Start start) noexcept {
  stream->ready_since = Clock::now();
  if (stream->waiting_threads > 0) stream->changed.notify_all();
  if (!stream->listed) {
    try {
      ready_.push_back(stream);
    } catch (const std::bad_alloc&) {
      return;  // whoever synchronises the stream runs it
    }
    stream->listed = true;
  }
  CallWorker(start);
}

void Scheduler::CallWorker(Start start) noexcept {
  ++(start == Start::kSoon ? calls_ : late_calls_);
  if (watched_ && dozing_ && start == Start::kSoon) watch_changed_.notify_all();
  if (watched_ || retired_ || stopping_ > 0) return;
  if (idle_ == 0) {
    StartWorker();
    return;
  }
  called_ = true;
  watched_ = true;
  idle_changed_.notify_all();
}

// Signals stay with the program's own threads.
void Scheduler::StartWorker() noexcept {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    Worker& worker = workers_.emplace_back();
    worker.thread = std::thread([this, &worker] { WorkerLoop(worker); });
    pthread_setname_np(worker.thread.native_handle(), "opscv-stream");
    watched_ = true;
  } catch (const std::exception& error) {
    if (!workers_.empty() && !workers_.back().thread.joinable()) workers_.pop_back();
    Log(LogLevel::kWarn, "no thread for a stream: the next synchronisation will run it");
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void Scheduler::WorkerLoop(Worker& self) {
  Lock lock(mutex_);
  do {
    const std::shared_ptr<Stream> stream = Watch(lock, self);
    watched_ = false;
    if (!ready_.empty()) CallWorker();
    if (stream == nullptr) continue;
    self.busy = true;
    Run(lock, stream, kAll);
    self.busy = false;
  } while (AwaitCall(lock, self));
}

// Sleeps until the watch is this worker's; false when the worker is to end.
bool Scheduler::AwaitCall(Lock& lock, const Worker& self) {
  if (Ends(self)) return false;
  if (ready_.empty() || watched_) {
    ++idle_;
    idle_changed_.wait(lock, [&] { return called_ || Ends(self); });
    --idle_;
    if (!std::exchange(called_, false)) return false;
  }
  watched_ = true;
  return true;
}

// Looks for a stream that has waited long enough; null when none has come for a while.
std::shared_ptr<Stream> Scheduler::Watch(Lock& lock, const Worker& self) {
  uint64_t seen = calls_;
  uint64_t seen_late = late_calls_;
  for (int quiet = 0; quiet <= kQuietLooks + kDozes && !Ends(self);) {
    if (std::shared_ptr<Stream> stream = TakeDue(Clock::now())) return stream;
    ++quiet;
    if (late_calls_ != seen_late) quiet = std::min(quiet, kQuietLooks + 1);
    if (calls_ != seen || !ready_.empty()) quiet = 0;
    seen = calls_;
    seen_late = late_calls_;
    dozing_ = quiet > kQuietLooks;
    if (dozing_) {
      watch_changed_.wait_for(lock, kDoze);
    } else {
      watch_changed_.wait_for(lock, kGrace);
    }
    dozing_ = false;
  }
  return nullptr;
}

// Unlists what needs no worker any more. Goes through the whole list: a stream that is queued on
// and synchronised all the time is never due and must not hide the others.
std::shared_ptr<Stream> Scheduler::TakeDue(Clock::time_point now) {
  for (auto next = ready_.begin(); next != ready_.end();) {
    std::shared_ptr<Stream> stream = *next;
    const bool wanted = CanRun(*stream);
    if (wanted && now - stream->ready_since < kGrace) {
      ++next;
      continue;
    }
    stream->listed = false;
    next = ready_.erase(next);
    if (wanted) return stream;
  }
  return nullptr;
}

void Scheduler::StopWorkers() {
  Lock lock(mutex_);
  ++stopping_;
  Join(lock, std::exchange(workers_, {}));
  --stopping_;
  std::erase_if(ready_, [&](const std::shared_ptr<Stream>& stream) {
    stream->listed = CanRun(*stream);
    return !stream->listed;
  });
  if (!ready_.empty()) CallWorker();
}

void Scheduler::RetireIdleWorkers() {
  Lock lock(mutex_);
  std::list<Worker> idle;
  for (auto worker = workers_.begin(); worker != workers_.end();) {
    const auto next = std::next(worker);
    if (!worker->busy) {
      worker->retire = true;
      idle.splice(idle.end(), workers_, worker);
    }
    worker = next;
  }
  Join(lock, std::move(idle));
}

// A worker that ends the process from inside a task cannot be joined by itself.
void Scheduler::Join(Lock& lock, std::list<Worker> workers) {
  idle_changed_.notify_all();
  watch_changed_.notify_all();
  lock.unlock();
  for (Worker& worker : workers) {
    if (worker.thread.get_id() == std::this_thread::get_id()) {
      worker.thread.detach();
    } else {
      worker.thread.join();
    }
  }
  lock.lock();
}

void Scheduler::DropAndStop(std::span<const std::shared_ptr<Stream>> streams) {
  std::vector<std::deque<Task>> dropped;
  {
    Lock lock(mutex_);
    dropping_ = true;
    retired_ = true;
    run_ended_.wait(lock, [&] { return running_ == FramesOfThisThread(); });
    for (const auto& stream : streams) {
      if (!stream->running) dropped.push_back(Drop(*stream));
    }
    dropping_ = false;
  }
  StopWorkers();
}

void Scheduler::AbandonInChild() {
  t_frame = nullptr;
  dropping_ = true;
  retired_ = true;
  abandoned_ = true;
  ++stopping_;
}

}  // namespace opscv::capi
