// SPDX-License-Identifier: Apache-2.0
// acl.h, and of acl_rt.h what concerns the device, contexts and options.
#include "acl/acl.h"
#include "capi/error.h"
#include "capi/runtime.h"
#include "opscv/version.h"

namespace opscv::capi {
namespace {

AclStatus CheckOption(aclSysParamOpt opt) {
  const int number = opt;
  if (number == ACL_OPT_DETERMINISTIC) return {};
  return InvalidParam("opt must be ACL_OPT_DETERMINISTIC (0), got {}.", number);
}

AclStatus CheckOptionValue(aclSysParamOpt opt, int64_t value) {
  OPSCV_ACL_RETURN_IF_ERROR(CheckOption(opt));
  if (value == 0 || value == 1) return {};
  return InvalidParam("value must be 0 or 1, got {}.", value);
}

// What the process has set, else the product's default.
AclStatus ReadProcessOption(int64_t* value) {
  Runtime& runtime = Runtime::Get();
  const int64_t set = runtime.process_deterministic;
  if (set != Context::kUnset) {
    *value = set;
    return {};
  }
  const std::shared_ptr<const Settings> settings = runtime.settings();
  if (!settings->profile) return {ACL_ERROR_INVALID_PARAM, settings->profile.error().message()};
  *value = (*settings->profile)->deterministic ? 1 : 0;
  return {};
}

AclStatus NoContext() {
  return {ACL_ERROR_RT_CONTEXT_NULL,
          "the thread's current context was destroyed; set another one first."};
}

AclStatus StaleContext(aclrtContext context) {
  return Refusal(ACL_ERROR_RT_CONTEXT_NULL, "context {}.", WhyNot(HandleKind::kContext, context));
}

}  // namespace
}  // namespace opscv::capi

using namespace opscv::capi;  // NOLINT(google-build-using-namespace): C functions have no namespace

aclError aclInit(const char* configPath) {
  return Guard([&] { return Runtime::Get().Init(configPath); });
}

aclError aclFinalize(void) {
  return Guard([] { return Runtime::Get().Finalize(); });
}

const char* aclGetRecentErrMsg(void) { return LastMessage(); }

aclError aclrtSetDevice(int32_t deviceId) {
  return Guard([&] { return Runtime::Get().SetDevice(deviceId); });
}

aclError aclrtResetDevice(int32_t deviceId) {
  return Guard([&] { return Runtime::Get().ResetDevice(deviceId); });
}

aclError aclrtGetDevice(int32_t* deviceId) {
  return Guard([&]() -> AclStatus {
    OPSCV_ACL_RETURN_IF_ERROR(CheckNotNull(deviceId, "deviceId"));
    *deviceId = 0;
    return {};
  });
}

aclError aclrtGetDeviceCount(uint32_t* count) {
  return Guard([&]() -> AclStatus {
    OPSCV_ACL_RETURN_IF_ERROR(CheckNotNull(count, "count"));
    *count = 1;
    return {};
  });
}

aclError aclrtSynchronizeDevice(void) {
  return Guard([] { return Runtime::Get().SynchronizeDevice(); });
}

const char* aclrtGetSocName(void) {
  return GuardPointer([]() -> opscv::Result<const char*> {
    return Runtime::Get().settings()->profile.map([](const auto* profile) { return profile->soc; });
  });
}

aclError aclrtGetVersion(int32_t* majorVersion, int32_t* minorVersion, int32_t* patchVersion) {
  return Guard([&]() -> AclStatus {
    OPSCV_ACL_RETURN_IF_ERROR(CheckNotNull(majorVersion, "majorVersion"));
    OPSCV_ACL_RETURN_IF_ERROR(CheckNotNull(minorVersion, "minorVersion"));
    OPSCV_ACL_RETURN_IF_ERROR(CheckNotNull(patchVersion, "patchVersion"));
    *majorVersion = OPSCV_VERSION_MAJOR;
    *minorVersion = OPSCV_VERSION_MINOR;
    *patchVersion = OPSCV_VERSION_PATCH;
    return {};
  });
}

aclError aclrtCreateContext(aclrtContext* context, int32_t deviceId) {
  return Guard([&]() -> AclStatus {
    OPSCV_ACL_RETURN_IF_ERROR(CheckNotNull(context, "context"));
    OPSCV_ACL_RETURN_IF_ERROR(CheckDevice(deviceId));
    Runtime& runtime = Runtime::Get();
    runtime.Touch();
    OPSCV_ACL_RETURN_IF_ERROR(Issue(runtime.contexts, std::make_shared<Context>(), context));
    runtime.SetCurrentContext(*context);
    return {};
  });
}

aclError aclrtDestroyContext(aclrtContext context) {
  return Guard([&]() -> AclStatus {
    Runtime& runtime = Runtime::Get();
    if (context != nullptr && runtime.IsDefaultContext(context)) {
      return InvalidParam("context is the device's own, which cannot be destroyed.");
    }
    if (runtime.contexts.Take(context) == nullptr) return StaleContext(context);
    if (runtime.CurrentContextHandle() == context) runtime.SetCurrentContext(nullptr);
    return {};
  });
}

aclError aclrtSetCurrentContext(aclrtContext context) {
  return Guard([&]() -> AclStatus {
    Runtime& runtime = Runtime::Get();
    if (runtime.contexts.Find(context) == nullptr) return StaleContext(context);
    runtime.SetCurrentContext(context);
    return {};
  });
}

aclError aclrtGetCurrentContext(aclrtContext* context) {
  return Guard([&]() -> AclStatus {
    OPSCV_ACL_RETURN_IF_ERROR(CheckNotNull(context, "context"));
    if (Runtime::Get().CurrentContext() == nullptr) return NoContext();
    *context = Runtime::Get().CurrentContextHandle();
    return {};
  });
}

aclError aclrtCtxSetSysParamOpt(aclSysParamOpt opt, int64_t value) {
  return Guard([&]() -> AclStatus {
    OPSCV_ACL_RETURN_IF_ERROR(CheckOptionValue(opt, value));
    const std::shared_ptr<Context> context = Runtime::Get().CurrentContext();
    if (context == nullptr) return NoContext();
    context->deterministic = value;
    return {};
  });
}

aclError aclrtCtxGetSysParamOpt(aclSysParamOpt opt, int64_t* value) {
  return Guard([&]() -> AclStatus {
    OPSCV_ACL_RETURN_IF_ERROR(CheckOption(opt));
    OPSCV_ACL_RETURN_IF_ERROR(CheckNotNull(value, "value"));
    const std::shared_ptr<Context> context = Runtime::Get().CurrentContext();
    if (context == nullptr) return NoContext();
    const int64_t set = context->deterministic;
    if (set == Context::kUnset) return ReadProcessOption(value);
    *value = set;
    return {};
  });
}

aclError aclrtSetSysParamOpt(aclSysParamOpt opt, int64_t value) {
  return Guard([&]() -> AclStatus {
    OPSCV_ACL_RETURN_IF_ERROR(CheckOptionValue(opt, value));
    Runtime::Get().process_deterministic = value;
    return {};
  });
}

aclError aclrtGetSysParamOpt(aclSysParamOpt opt, int64_t* value) {
  return Guard([&]() -> AclStatus {
    OPSCV_ACL_RETURN_IF_ERROR(CheckOption(opt));
    OPSCV_ACL_RETURN_IF_ERROR(CheckNotNull(value, "value"));
    return ReadProcessOption(value);
  });
}
