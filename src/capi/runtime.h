// SPDX-License-Identifier: Apache-2.0
// The state of the process: handles, memory, streams, settings, and when they begin and end.
#ifndef OPSCV_CAPI_RUNTIME_H_
#define OPSCV_CAPI_RUNTIME_H_

#include <atomic>
#include <memory>
#include <mutex>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "acl/acl_rt.h"
#include "capi/call_cache.h"
#include "capi/error.h"
#include "capi/executor.h"
#include "capi/handle_table.h"
#include "capi/memory.h"
#include "capi/meta.h"
#include "capi/product.h"
#include "capi/scheduler.h"
#include "capi/stream.h"
#include "opscv/spec.h"

namespace opscv::capi {

// What the environment says, read when the runtime is first used and again by aclInit. A variable
// that is no known value holds the refusal, given wherever the setting is needed.
struct Settings {
  Result<const ProductProfile*> profile;  // OPSCV_SOC
  Result<IndexRule> rule;                 // OPSCV_INDEX_RULE
};

class Runtime {
 public:
  // The process's runtime, made on first use. It is never destroyed: destructors of a program's own
  // statics may still call in.
  static Runtime& Get();

  AclStatus Init(const char* config_path);
  AclStatus Finalize();

  AclStatus SetDevice(int32_t device);
  AclStatus ResetDevice(int32_t device);
  AclStatus SynchronizeDevice();

  [[nodiscard]] std::shared_ptr<const Settings> settings();
  [[nodiscard]] Scheduler& scheduler() { return *scheduler_; }

  // The stream of a handle, null meaning the default one; null for a handle that is not live.
  [[nodiscard]] std::shared_ptr<Stream> FindStream(aclrtStream handle) const;
  // The calling thread's current context, null when that was destroyed.
  [[nodiscard]] std::shared_ptr<Context> CurrentContext() const;
  [[nodiscard]] aclrtContext CurrentContextHandle() const;
  void SetCurrentContext(aclrtContext handle);
  [[nodiscard]] bool IsDefaultContext(aclrtContext handle) const;

  // Marks the runtime as used, so that aclFinalize has something to end.
  void Touch() { used_.store(true, std::memory_order_relaxed); }

  HandleTable<const Tensor> tensors{HandleKind::kTensor};
  HandleTable<const IntArray> int_arrays{HandleKind::kIntArray};
  HandleTable<const FloatArray> float_arrays{HandleKind::kFloatArray};
  HandleTable<Executor> executors{HandleKind::kExecutor};
  HandleTable<Stream> streams{HandleKind::kStream};
  HandleTable<Event> events{HandleKind::kEvent};
  HandleTable<Context> contexts{HandleKind::kContext};
  CallCache planned_calls;
  BlockList device_memory;
  BlockList host_memory;
  std::atomic<int64_t> process_deterministic = Context::kUnset;

 private:
  Runtime();

  [[nodiscard]] std::vector<std::shared_ptr<Stream>> AllStreams() const;
  // What a device holds when its use ends.
  struct Leftovers {
    std::vector<std::shared_ptr<Stream>> streams;
    std::unordered_set<void*> blocks;
  };
  [[nodiscard]] Leftovers TakeLeftovers();
  AclStatus End(const Leftovers& leftovers);
  void FreeHostObjects();
  void ResetState();

  static void AtExit();
  static const bool handles_forks_;
  static void BeforeFork();
  static void AfterForkInParent();
  static void AfterForkInChild();
  void LockForFork();
  void UnlockAfterFork();
  void BecomeChild();

  std::mutex state_mutex_;  // guards what follows, up to the blank line
  bool initialized_ = false;
  bool finalizing_ = false;
  int64_t device_uses_ = 0;  // aclrtSetDevice calls that no aclrtResetDevice has answered
  std::shared_ptr<const Settings> settings_;

  std::atomic<bool> used_ = false;
  Scheduler* scheduler_;  // replaced in a forked child, while that has one thread
  std::shared_ptr<Stream> default_stream_;
  std::atomic<aclrtContext> default_context_;
  Scheduler* forking_scheduler_ = nullptr;  // locked around fork
  // In a forked child: what counts threads of the parent and so can never be destroyed.
  std::vector<Scheduler*> parents_schedulers_;
  std::vector<std::shared_ptr<Stream>> parents_streams_;
};

// The object of a handle, or a refusal that names the parameter.
[[nodiscard]] Result<std::shared_ptr<const Tensor>> FindTensor(const aclTensor* handle,
                                                               std::string_view name);
[[nodiscard]] Result<std::shared_ptr<const IntArray>> FindIntArray(const aclIntArray* handle,
                                                                   std::string_view name);

// The stream of a handle, null meaning the default one; 107003 for a handle that is not live.
[[nodiscard]] AclStatus FindStream(aclrtStream handle, std::shared_ptr<Stream>& stream);

// Gives the program a handle of a new object.
template <typename T>
[[nodiscard]] AclStatus Issue(HandleTable<T>& table, std::shared_ptr<T> object, void** handle) {
  Runtime::Get().Touch();
  void* issued = table.Insert(std::move(object));
  if (issued == nullptr) return {ACL_ERROR_BAD_ALLOC, "there are too many objects of this kind."};
  *handle = issued;
  return {};
}

// 100000 unless it is the one device.
[[nodiscard]] AclStatus CheckDevice(int32_t device);

}  // namespace opscv::capi

#endif  // OPSCV_CAPI_RUNTIME_H_
