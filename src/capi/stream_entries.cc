// SPDX-License-Identifier: Apache-2.0
// Streams and events of acl_rt.h.
#include "acl/acl_rt.h"
#include "capi/error.h"
#include "capi/runtime.h"

namespace opscv::capi {
namespace {

AclStatus FindEvent(aclrtEvent handle, const char* name, std::shared_ptr<Event>& event) {
  event = Runtime::Get().events.Find(handle);
  if (event != nullptr) return {};
  return Refusal(ACL_ERROR_RT_STREAM_CONTEXT, "{} {}.", name, WhyNot(HandleKind::kEvent, handle));
}

AclStatus CheckContext() {
  if (Runtime::Get().CurrentContext() != nullptr) return {};
  return {ACL_ERROR_RT_CONTEXT_NULL,
          "the thread's current context was destroyed; set another one first."};
}

// Only a finished stream's handle ends: one that its own host function would destroy lives on.
AclStatus DestroyStream(aclrtStream handle) {
  Runtime& runtime = Runtime::Get();
  if (handle == nullptr) return InvalidParam("stream is the default stream, which stays.");
  std::shared_ptr<Stream> stream;
  OPSCV_ACL_RETURN_IF_ERROR(FindStream(handle, stream));
  AclStatus status = runtime.scheduler().Close(stream);
  if (status.code() != ACL_ERROR_RT_STREAM_CONTEXT) runtime.streams.Take(handle);
  return status;
}

}  // namespace
}  // namespace opscv::capi

using namespace opscv::capi;  // NOLINT(google-build-using-namespace): C functions have no namespace

aclError aclrtCreateStream(aclrtStream* stream) {
  return Guard([&]() -> AclStatus {
    OPSCV_ACL_RETURN_IF_ERROR(CheckNotNull(stream, "stream"));
    OPSCV_ACL_RETURN_IF_ERROR(CheckContext());
    return Issue(Runtime::Get().streams, std::make_shared<Stream>(), stream);
  });
}

aclError aclrtDestroyStream(aclrtStream stream) {
  return Guard([&] { return DestroyStream(stream); });
}

aclError aclrtSynchronizeStream(aclrtStream stream) {
  return Guard([&]() -> AclStatus {
    std::shared_ptr<Stream> found;
    OPSCV_ACL_RETURN_IF_ERROR(FindStream(stream, found));
    return Runtime::Get().scheduler().Synchronize(found);
  });
}

aclError aclrtLaunchHostFunc(aclrtStream stream, aclrtHostFunc fn, void* userData) {
  return Guard([&]() -> AclStatus {
    if (fn == nullptr) return InvalidParam("fn must not be null.");
    std::shared_ptr<Stream> found;
    OPSCV_ACL_RETURN_IF_ERROR(FindStream(stream, found));
    return Runtime::Get().scheduler().Submit(found, [fn, userData] { fn(userData); });
  });
}

aclError aclrtCreateEvent(aclrtEvent* event) {
  return Guard([&]() -> AclStatus {
    OPSCV_ACL_RETURN_IF_ERROR(CheckNotNull(event, "event"));
    OPSCV_ACL_RETURN_IF_ERROR(CheckContext());
    return Issue(Runtime::Get().events, std::make_shared<Event>(), event);
  });
}

aclError aclrtDestroyEvent(aclrtEvent event) {
  return Guard([&]() -> AclStatus {
    if (Runtime::Get().events.Take(event) != nullptr) return {};
    return Refusal(ACL_ERROR_RT_STREAM_CONTEXT, "event {}.", WhyNot(HandleKind::kEvent, event));
  });
}

aclError aclrtRecordEvent(aclrtEvent event, aclrtStream stream) {
  return Guard([&]() -> AclStatus {
    std::shared_ptr<Event> found_event;
    std::shared_ptr<Stream> found_stream;
    OPSCV_ACL_RETURN_IF_ERROR(FindEvent(event, "event", found_event));
    OPSCV_ACL_RETURN_IF_ERROR(FindStream(stream, found_stream));
    return Runtime::Get().scheduler().RecordEvent(found_stream, *found_event);
  });
}

aclError aclrtStreamWaitEvent(aclrtStream stream, aclrtEvent event) {
  return Guard([&]() -> AclStatus {
    std::shared_ptr<Event> found_event;
    std::shared_ptr<Stream> found_stream;
    OPSCV_ACL_RETURN_IF_ERROR(FindStream(stream, found_stream));
    OPSCV_ACL_RETURN_IF_ERROR(FindEvent(event, "event", found_event));
    return Runtime::Get().scheduler().WaitEvent(found_stream, *found_event);
  });
}

aclError aclrtSynchronizeEvent(aclrtEvent event) {
  return Guard([&]() -> AclStatus {
    std::shared_ptr<Event> found;
    OPSCV_ACL_RETURN_IF_ERROR(FindEvent(event, "event", found));
    return Runtime::Get().scheduler().SynchronizeEvent(*found);
  });
}

aclError aclrtEventElapsedTime(float* ms, aclrtEvent startEvent, aclrtEvent endEvent) {
  return Guard([&]() -> AclStatus {
    OPSCV_ACL_RETURN_IF_ERROR(CheckNotNull(ms, "ms"));
    std::shared_ptr<Event> start;
    std::shared_ptr<Event> end;
    OPSCV_ACL_RETURN_IF_ERROR(FindEvent(startEvent, "startEvent", start));
    OPSCV_ACL_RETURN_IF_ERROR(FindEvent(endEvent, "endEvent", end));
    return Runtime::Get().scheduler().Elapsed(*start, *end, ms);
  });
}
