// SPDX-License-Identifier: Apache-2.0
#include "capi/runtime.h"

#include <pthread.h>

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <utility>

#include "base/parallel.h"
#include "capi/config.h"
#include "capi/log.h"
#include "ops/registry.h"
#include "plan/plan.h"

namespace opscv::capi {
namespace {

// A handle; null stands for the device's own context.
thread_local aclrtContext t_context = nullptr;

Result<IndexRule> ReadRule() {
  const char* text = std::getenv("OPSCV_INDEX_RULE");
  if (text == nullptr || *text == '\0') return IndexRule::kAscend;
  for (const IndexRule rule : {IndexRule::kAscend, IndexRule::kTorchCpu, IndexRule::kExact}) {
    if (NameOf(rule) == text) return rule;
  }
  return Unexpected(InvalidArgument("OPSCV_INDEX_RULE must be one of {}, {}, {}, got '{}'.",
                                    NameOf(IndexRule::kAscend), NameOf(IndexRule::kTorchCpu),
                                    NameOf(IndexRule::kExact), text));
}

std::shared_ptr<const Settings> ReadSettings() {
  return std::make_shared<const Settings>(
      Settings{.profile = FindProfile(std::getenv("OPSCV_SOC")), .rule = ReadRule()});
}

AclStatus AsParam(const Status& status) { return {ACL_ERROR_INVALID_PARAM, status.message()}; }

// Makes everything that is made at its first use, for the reason that g_making has.
void MakeSharedValues() {
  (void)ops::AllPairs();
  (void)DefaultThreads();
  (void)plan::MakePlan({});  // obeys the variables of the environment and detects the SIMD target
  (void)Logs(LogLevel::kError);
}

AclStatus InsideHostFunction() {
  return {ACL_ERROR_RT_STREAM_CONTEXT, "must not be called from a host function."};
}

// A lock of our own and not the compiler's, since the fork handlers must hold it: a child forked
// while another thread makes the runtime would wait for that thread, which it does not have.
constinit std::mutex g_making;
constinit std::atomic<Runtime*> g_runtime = nullptr;

}  // namespace

// Never destroyed: threads may still be inside at exit.
Runtime& Runtime::Get() {
  Runtime* runtime = g_runtime.load(std::memory_order_acquire);
  if (runtime != nullptr) return *runtime;
  const std::lock_guard lock(g_making);
  if (g_runtime.load(std::memory_order_relaxed) == nullptr) {
    g_runtime.store(new Runtime, std::memory_order_release);
  }
  return *g_runtime.load(std::memory_order_relaxed);
}

// When the library is loaded. The engine's handlers go first, so that they run after ours have
// ended the idle workers.
const bool Runtime::handles_forks_ = [] {
  InstallForkHandlers();
  return pthread_atfork(BeforeFork, AfterForkInParent, AfterForkInChild) == 0;
}();

Runtime::Runtime() : scheduler_(new Scheduler), default_stream_(std::make_shared<Stream>()) {
  default_context_ = contexts.Insert(std::make_shared<Context>());
  MakeSharedValues();
  std::atexit(AtExit);
}

AclStatus Runtime::Init(const char* config_path) {
  if (const Status config = CheckConfigFile(config_path); !config.ok()) return AsParam(config);
  std::shared_ptr<const Settings> settings = ReadSettings();
  if (!settings->profile) return AsParam(settings->profile.error());
  if (!settings->rule) return AsParam(settings->rule.error());
  const std::lock_guard lock(state_mutex_);
  if (initialized_ || finalizing_) {
    return {ACL_ERROR_REPEAT_INITIALIZE, "aclInit was called already; aclFinalize ends it."};
  }
  initialized_ = true;
  settings_ = std::move(settings);
  return {};
}

AclStatus Runtime::Finalize() {
  if (Scheduler::InsideTask()) return InsideHostFunction();
  {
    const std::lock_guard lock(state_mutex_);
    if (finalizing_ || !(initialized_ || used_)) {
      return {ACL_ERROR_UNINITIALIZE, "aclInit must be called first."};
    }
    finalizing_ = true;
  }
  try {
    AclStatus finished = SynchronizeDevice();
    AclStatus ended = End(TakeLeftovers());
    FreeHostObjects();
    scheduler_->StopWorkers();
    ResetState();
    return finished.ok() ? ended : finished;
  } catch (...) {
    const std::lock_guard lock(state_mutex_);
    finalizing_ = false;
    throw;
  }
}

Runtime::Leftovers Runtime::TakeLeftovers() {
  events.TakeAll();
  return {.streams = streams.TakeAll(), .blocks = device_memory.TakeAll()};
}

// Memory is freed last: until then tasks may touch it.
AclStatus Runtime::End(const Leftovers& leftovers) {
  AclStatus first;
  for (const std::shared_ptr<Stream>& stream : leftovers.streams) {
    AclStatus status = scheduler_->Close(stream);
    if (first.ok() && status.code() == ACL_ERROR_INTERNAL_ERROR) first = std::move(status);
  }
  FreeBlocks(leftovers.blocks);
  return first;
}

void Runtime::FreeHostObjects() {
  FreeBlocks(host_memory.TakeAll());
  executors.TakeAll();
  tensors.TakeAll();
  int_arrays.TakeAll();
  float_arrays.TakeAll();
  contexts.TakeAll();
  planned_calls.Clear();
}

void Runtime::ResetState() {
  process_deterministic = Context::kUnset;
  default_context_ = contexts.Insert(std::make_shared<Context>());
  const std::lock_guard lock(state_mutex_);
  initialized_ = false;
  finalizing_ = false;
  used_ = false;
  device_uses_ = 0;
  settings_ = nullptr;
}

AclStatus CheckDevice(int32_t device) {
  if (device == 0) return {};
  return InvalidParam("deviceId must be 0, the only device, got {}.", device);
}

AclStatus Runtime::SetDevice(int32_t device) {
  OPSCV_ACL_RETURN_IF_ERROR(CheckDevice(device));
  Touch();
  SetCurrentContext(nullptr);
  const std::lock_guard lock(state_mutex_);
  ++device_uses_;
  return {};
}

AclStatus Runtime::ResetDevice(int32_t device) {
  OPSCV_ACL_RETURN_IF_ERROR(CheckDevice(device));
  if (Scheduler::InsideTask()) return InsideHostFunction();
  {
    const std::lock_guard lock(state_mutex_);
    if (device_uses_ > 0) --device_uses_;
    if (device_uses_ > 0) return {};
  }
  AclStatus finished = SynchronizeDevice();
  Leftovers leftovers;
  {
    const std::lock_guard lock(state_mutex_);
    if (device_uses_ > 0) return finished;  // another thread has begun to use the device
    leftovers = TakeLeftovers();
  }
  AclStatus ended = End(leftovers);
  return finished.ok() ? ended : finished;
}

AclStatus Runtime::SynchronizeDevice() { return scheduler_->SynchronizeAll(AllStreams()); }

std::shared_ptr<const Settings> Runtime::settings() {
  const std::lock_guard lock(state_mutex_);
  if (settings_ == nullptr) settings_ = ReadSettings();
  return settings_;
}

std::vector<std::shared_ptr<Stream>> Runtime::AllStreams() const {
  std::vector<std::shared_ptr<Stream>> all = streams.All();
  all.push_back(default_stream_);
  return all;
}

std::shared_ptr<Stream> Runtime::FindStream(aclrtStream handle) const {
  return handle == nullptr ? default_stream_ : streams.Find(handle);
}

std::shared_ptr<Context> Runtime::CurrentContext() const {
  return contexts.Find(CurrentContextHandle());
}

aclrtContext Runtime::CurrentContextHandle() const {
  return t_context == nullptr ? default_context_.load() : t_context;
}

void Runtime::SetCurrentContext(aclrtContext handle) {
  t_context = handle == default_context_ ? nullptr : handle;
}

bool Runtime::IsDefaultContext(aclrtContext handle) const { return handle == default_context_; }

void Runtime::AtExit() {
  Runtime& runtime = Get();
  runtime.scheduler_->DropAndStop(runtime.AllStreams());
}

void Runtime::BeforeFork() {
  g_making.lock();
  Runtime* const runtime = g_runtime;
  if (runtime == nullptr) return;
  runtime->scheduler_->RetireIdleWorkers();
  runtime->LockForFork();
}

void Runtime::AfterForkInParent() {
  if (Runtime* const runtime = g_runtime) runtime->UnlockAfterFork();
  g_making.unlock();
}

void Runtime::AfterForkInChild() {
  if (Runtime* const runtime = g_runtime) {
    runtime->BecomeChild();
    runtime->UnlockAfterFork();
  }
  g_making.unlock();
}

// Everything that a thread could be inside of while another forks.
void Runtime::LockForFork() {
  state_mutex_.lock();
  forking_scheduler_ = scheduler_;
  forking_scheduler_->LockForFork();
  tensors.LockForFork();
  int_arrays.LockForFork();
  float_arrays.LockForFork();
  executors.LockForFork();
  streams.LockForFork();
  events.LockForFork();
  contexts.LockForFork();
  planned_calls.LockForFork();
  device_memory.LockForFork();
  host_memory.LockForFork();
}

void Runtime::UnlockAfterFork() {
  host_memory.UnlockAfterFork();
  device_memory.UnlockAfterFork();
  planned_calls.UnlockAfterFork();
  contexts.UnlockAfterFork();
  events.UnlockAfterFork();
  streams.UnlockAfterFork();
  executors.UnlockAfterFork();
  float_arrays.UnlockAfterFork();
  int_arrays.UnlockAfterFork();
  tensors.UnlockAfterFork();
  forking_scheduler_->UnlockAfterFork();
  state_mutex_.unlock();
}

// Memory, tensors and arrays go on as copies; what stands for work of the parent ends here.
void Runtime::BecomeChild() {
  scheduler_->AbandonInChild();
  parents_schedulers_.push_back(scheduler_);
  parents_streams_.push_back(default_stream_);
  for (auto& stream : streams.TakeAllLocked()) parents_streams_.push_back(std::move(stream));
  executors.TakeAllLocked();
  events.TakeAllLocked();
  finalizing_ = false;
  scheduler_ = new Scheduler;
  default_stream_ = std::make_shared<Stream>();
}

AclStatus FindStream(aclrtStream handle, std::shared_ptr<Stream>& stream) {
  stream = Runtime::Get().FindStream(handle);
  if (stream != nullptr) return {};
  return Refusal(ACL_ERROR_RT_STREAM_CONTEXT, "stream {}.", WhyNot(HandleKind::kStream, handle));
}

Result<std::shared_ptr<const Tensor>> FindTensor(const aclTensor* handle, std::string_view name) {
  std::shared_ptr<const Tensor> tensor = Runtime::Get().tensors.Find(handle);
  if (tensor != nullptr) return tensor;
  return Unexpected(InvalidArgument("{} {}.", name, WhyNot(HandleKind::kTensor, handle)));
}

Result<std::shared_ptr<const IntArray>> FindIntArray(const aclIntArray* handle,
                                                     std::string_view name) {
  std::shared_ptr<const IntArray> array = Runtime::Get().int_arrays.Find(handle);
  if (array != nullptr) return array;
  return Unexpected(InvalidArgument("{} {}.", name, WhyNot(HandleKind::kIntArray, handle)));
}

}  // namespace opscv::capi
