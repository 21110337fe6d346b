// SPDX-License-Identifier: Apache-2.0
// Runs the tasks of streams in order: on the thread that synchronises, else on workers made as
// needed. Knows nothing of handles and of what tasks do.
#ifndef OPSCV_CAPI_SCHEDULER_H_
#define OPSCV_CAPI_SCHEDULER_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "capi/error.h"
#include "capi/stream.h"

namespace opscv::capi {

// When work that nobody waits for is to start: within some ten microseconds, for which a worker is
// woken; or within about a millisecond, because waking one would cost more than the work itself.
enum class Start : uint8_t { kSoon, kLate };

// All methods may be called from any thread. ACL_ERROR_RT_STREAM_CONTEXT (107003) answers what a
// closed stream cannot take, and what would make a host function wait for its own stream.
// ACL_ERROR_INTERNAL_ERROR at a synchronisation tells of work that threw.
class Scheduler {
 public:
  Scheduler() = default;
  ~Scheduler();
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  AclStatus Submit(const std::shared_ptr<Stream>& stream, std::function<void()> work,
                   Start start = Start::kSoon);
  // Puts a new record of the event behind what the stream holds.
  AclStatus RecordEvent(const std::shared_ptr<Stream>& stream, Event& event);
  // Lets the stream's later tasks wait for the event's latest record, if there is one.
  AclStatus WaitEvent(const std::shared_ptr<Stream>& stream, const Event& event);

  // Returns when all tasks queued before the call have ended.
  AclStatus Synchronize(const std::shared_ptr<Stream>& stream);
  AclStatus SynchronizeAll(std::span<const std::shared_ptr<Stream>> streams);
  AclStatus SynchronizeEvent(const Event& event);
  // Refuses further tasks, then synchronises.
  AclStatus Close(const std::shared_ptr<Stream>& stream);

  // Milliseconds from the latest record of one event to that of another.
  AclStatus Elapsed(const Event& start, const Event& end, float* ms);

  // Whether the calling thread is inside a task.
  [[nodiscard]] static bool InsideTask();

  // Ends and joins all workers; those inside a task finish it first. Later work makes new ones.
  void StopWorkers();
  // Ends and joins the workers that run nothing now.
  void RetireIdleWorkers();

  // At process exit: drops what has not begun, waits for what other threads run, ends the workers
  // for good. What is submitted later runs only when it is synchronised.
  void DropAndStop(std::span<const std::shared_ptr<Stream>> streams);

  // Around fork: the forking thread holds the lock while the process is copied.
  void LockForFork() { mutex_.lock(); }
  void UnlockAfterFork() { mutex_.unlock(); }
  // In the child, before unlocking: nothing of this scheduler begins any more, and a call that the
  // forking thread is in the middle of returns 107003. The object is never destroyed, as its
  // condition variables count threads that are gone.
  void AbandonInChild();

 private:
  using Lock = std::unique_lock<std::mutex>;
  struct Worker {
    std::thread thread;
    bool busy = false;    // is running a stream
    bool retire = false;  // is to end as soon as it is not busy
  };
  // A stream to run, and the number of its task to stop after.
  struct Errand {
    std::shared_ptr<Stream> stream;
    uint64_t target = 0;
  };
  class Running;

  AclStatus Append(const std::shared_ptr<Stream>& stream, Task task, Start start);
  AclStatus WaitFor(Lock& lock, const std::shared_ptr<Stream>& stream, uint64_t target);
  [[nodiscard]] bool CanRun(const Stream& stream) const;

  void Run(Lock& lock, const std::shared_ptr<Stream>& stream, uint64_t target);
  [[nodiscard]] bool GoesOn(const Stream& stream, uint64_t target) const;
  bool Settle(const std::shared_ptr<Stream>& stream);
  void Reach(Record& record);
  void Offer(const std::shared_ptr<Stream>& stream, Start start = Start::kSoon) noexcept;

  void CallWorker(Start start = Start::kSoon) noexcept;
  void StartWorker() noexcept;
  void WorkerLoop(Worker& self);
  [[nodiscard]] bool AwaitCall(Lock& lock, const Worker& self);
  [[nodiscard]] std::shared_ptr<Stream> Watch(Lock& lock, const Worker& self);
  [[nodiscard]] std::shared_ptr<Stream> TakeDue(Clock::time_point now);
  [[nodiscard]] bool Ends(const Worker& self) const { return stopping_ > 0 || self.retire; }
  void Join(Lock& lock, std::list<Worker> workers);

  std::mutex mutex_;
  std::deque<std::shared_ptr<Stream>> ready_;  // streams listed for workers, oldest first
  std::list<Worker> workers_;
  int idle_ = 0;             // workers in idle_changed_
  bool called_ = false;      // an idle worker has been called and is not awake yet
  bool watched_ = false;     // a worker watches ready_, or is on its way to
  bool dozing_ = false;      // that worker looks about once a millisecond
  int stopping_ = 0;         // calls of StopWorkers in progress
  bool dropping_ = false;    // no task is to begin
  bool retired_ = false;     // no workers any more
  bool abandoned_ = false;   // this is the child's copy of its parent's scheduler
  int running_ = 0;          // streams being run
  uint64_t calls_ = 0;       // how often a worker was wanted soon
  uint64_t late_calls_ = 0;  // and late
  std::condition_variable idle_changed_;
  std::condition_variable watch_changed_;
  std::condition_variable run_ended_;  // notified while dropping_
};

}  // namespace opscv::capi

#endif  // OPSCV_CAPI_SCHEDULER_H_
