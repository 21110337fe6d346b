// SPDX-License-Identifier: Apache-2.0
// Streams and events as the scheduler sees them. Everything in here is guarded by the scheduler's
// mutex; nobody else touches it.
#ifndef OPSCV_CAPI_STREAM_H_
#define OPSCV_CAPI_STREAM_H_

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace opscv::capi {

using Clock = std::chrono::steady_clock;

struct Stream;

// One aclrtRecordEvent: a place in a stream's order.
struct Record {
  std::shared_ptr<Stream> stream;  // null once reached
  uint64_t sequence = 0;           // of the task, in that stream
  bool reached = false;
  Clock::time_point time;                        // when it was reached
  std::vector<std::shared_ptr<Stream>> blocked;  // streams whose next task waits for it
};

struct Event {
  std::shared_ptr<Record> latest;  // null before the first record
};

// What a stream does next: some work, or reaching a record, or waiting for one.
struct Task {
  enum class Kind : uint8_t { kWork, kReach, kWait };
  Kind kind = Kind::kWork;
  std::function<void()> work;
  std::shared_ptr<Record> record;
};

struct Stream {
  std::deque<Task> queue;
  // Tasks are numbered from 1 in the order of their coming.
  uint64_t queued = 0;              // number of the last task that came
  uint64_t finished = 0;            // number of the last task that ended
  bool running = false;             // a thread is executing this stream
  bool listed = false;              // stands in the scheduler's list of streams for workers
  bool closed = false;              // takes no more tasks
  bool waits_in_record = false;     // stands in the `blocked` of its first task's record
  Clock::time_point ready_since;    // since when there is work that nobody runs
  int waiting_threads = 0;          // in `changed`
  std::condition_variable changed;  // a task ended, or the stream can be run again
  bool failed = false;              // some work threw since the last synchronisation
  std::string failure;              // what the first such work threw
};

}  // namespace opscv::capi

#endif  // OPSCV_CAPI_STREAM_H_
