// SPDX-License-Identifier: Apache-2.0
// Memory of acl_rt.h.
#include <cstring>

#include "acl/acl_rt.h"
#include "capi/error.h"
#include "capi/memory.h"
#include "capi/runtime.h"

namespace opscv::capi {
namespace {

AclStatus CheckPolicy(aclrtMemMallocPolicy policy) {
  const int number = policy;
  if (number >= ACL_MEM_MALLOC_HUGE_FIRST && number <= ACL_MEM_MALLOC_NORMAL_ONLY) return {};
  return InvalidParam(
      "policy must be ACL_MEM_MALLOC_HUGE_FIRST (0), ACL_MEM_MALLOC_HUGE_ONLY (1) or "
      "ACL_MEM_MALLOC_NORMAL_ONLY (2), got {}.",
      number);
}

AclStatus Allocate(BlockList& blocks, void** address, size_t size, bool huge) {
  if (size == 0) return InvalidParam("size must be > 0, got 0.");
  Runtime::Get().Touch();
  void* block = blocks.Allocate(size, huge);
  if (block == nullptr) {
    return Refusal(ACL_ERROR_RT_MEMORY_ALLOCATION, "{} bytes cannot be allocated.", size);
  }
  *address = block;
  return {};
}

AclStatus Free(BlockList& blocks, void* address, const char* name, const char* maker) {
  OPSCV_ACL_RETURN_IF_ERROR(CheckNotNull(address, name));
  if (blocks.Free(address)) return {};
  return InvalidParam("{} must come from {} and be freed once, got {}.", name, maker, address);
}

AclStatus CheckRoom(const char* room_name, size_t room, size_t count) {
  if (count <= room) return {};
  return InvalidParam("count must be <= {} ({}), got {}.", room_name, room, count);
}

// A copy between addresses that the engine can use.
struct Copy {
  void* dst;
  const void* src;
  size_t count;
  void operator()() const { std::memmove(dst, src, count); }
};

// Waking a thread takes about as long as one core takes to move 100 KiB.
Start StartOf(size_t count) { return count < size_t{64} << 10 ? Start::kLate : Start::kSoon; }

AclStatus MakeCopy(void* dst, size_t dest_max, const void* src, size_t count, aclrtMemcpyKind kind,
                   Copy& copy) {
  OPSCV_ACL_RETURN_IF_ERROR(CheckNotNull(dst, "dst"));
  OPSCV_ACL_RETURN_IF_ERROR(CheckNotNull(src, "src"));
  OPSCV_ACL_RETURN_IF_ERROR(CheckRoom("destMax", dest_max, count));
  const int number = kind;
  if (number < ACL_MEMCPY_HOST_TO_HOST || number > ACL_MEMCPY_DEVICE_TO_DEVICE) {
    return InvalidParam("kind must be one of ACL_MEMCPY_* (0 to 3), got {}.", number);
  }
  const bool from_device =
      number == ACL_MEMCPY_DEVICE_TO_HOST || number == ACL_MEMCPY_DEVICE_TO_DEVICE;
  const bool to_device =
      number == ACL_MEMCPY_HOST_TO_DEVICE || number == ACL_MEMCPY_DEVICE_TO_DEVICE;
  copy = {.dst = to_device ? EnginePointer(dst) : dst,
          .src = from_device ? EnginePointer(src) : src,
          .count = count};
  return {};
}

AclStatus CheckFill(const void* device_address, size_t max_count, size_t count) {
  OPSCV_ACL_RETURN_IF_ERROR(CheckNotNull(device_address, "devPtr"));
  return CheckRoom("maxCount", max_count, count);
}

}  // namespace
}  // namespace opscv::capi

using namespace opscv::capi;  // NOLINT(google-build-using-namespace): C functions have no namespace

aclError aclrtMalloc(void** devPtr, size_t size, aclrtMemMallocPolicy policy) {
  return Guard([&]() -> AclStatus {
    OPSCV_ACL_RETURN_IF_ERROR(CheckNotNull(devPtr, "devPtr"));
    OPSCV_ACL_RETURN_IF_ERROR(CheckPolicy(policy));
    return Allocate(Runtime::Get().device_memory, devPtr, size,
                    policy != ACL_MEM_MALLOC_NORMAL_ONLY);
  });
}

aclError aclrtFree(void* devPtr) {
  return Guard([&] { return Free(Runtime::Get().device_memory, devPtr, "devPtr", "aclrtMalloc"); });
}

aclError aclrtMallocHost(void** hostPtr, size_t size) {
  return Guard([&]() -> AclStatus {
    OPSCV_ACL_RETURN_IF_ERROR(CheckNotNull(hostPtr, "hostPtr"));
    return Allocate(Runtime::Get().host_memory, hostPtr, size, /*huge=*/false);
  });
}

aclError aclrtFreeHost(void* hostPtr) {
  return Guard(
      [&] { return Free(Runtime::Get().host_memory, hostPtr, "hostPtr", "aclrtMallocHost"); });
}

aclError aclrtMemcpy(void* dst, size_t destMax, const void* src, size_t count,
                     aclrtMemcpyKind kind) {
  return Guard([&]() -> AclStatus {
    Copy copy{};
    OPSCV_ACL_RETURN_IF_ERROR(MakeCopy(dst, destMax, src, count, kind, copy));
    copy();
    return {};
  });
}

aclError aclrtMemcpyAsync(void* dst, size_t destMax, const void* src, size_t count,
                          aclrtMemcpyKind kind, aclrtStream stream) {
  return Guard([&]() -> AclStatus {
    Copy copy{};
    OPSCV_ACL_RETURN_IF_ERROR(MakeCopy(dst, destMax, src, count, kind, copy));
    std::shared_ptr<Stream> found;
    OPSCV_ACL_RETURN_IF_ERROR(FindStream(stream, found));
    return Runtime::Get().scheduler().Submit(found, copy, StartOf(count));
  });
}

aclError aclrtMemset(void* devPtr, size_t maxCount, int32_t value, size_t count) {
  return Guard([&]() -> AclStatus {
    OPSCV_ACL_RETURN_IF_ERROR(CheckFill(devPtr, maxCount, count));
    std::memset(EnginePointer(devPtr), value, count);
    return {};
  });
}

aclError aclrtMemsetAsync(void* devPtr, size_t maxCount, int32_t value, size_t count,
                          aclrtStream stream) {
  return Guard([&]() -> AclStatus {
    OPSCV_ACL_RETURN_IF_ERROR(CheckFill(devPtr, maxCount, count));
    std::shared_ptr<Stream> found;
    OPSCV_ACL_RETURN_IF_ERROR(FindStream(stream, found));
    void* memory = EnginePointer(devPtr);
    return Runtime::Get().scheduler().Submit(
        found, [memory, value, count] { std::memset(memory, value, count); }, StartOf(count));
  });
}
