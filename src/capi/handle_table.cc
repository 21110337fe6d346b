// SPDX-License-Identifier: Apache-2.0
#include "capi/handle_table.h"

#include <fmt/format.h>

#include <array>
#include <string_view>

namespace opscv::capi {
namespace {

constexpr int kSlotBits = 28;
constexpr int kGenerationBits = 32;
static_assert(sizeof(void*) == 8, "a handle is a 64-bit word");
static_assert(kMaxSlots == 1u << kSlotBits);

// By HandleKind.
constexpr std::array<std::string_view, 8> kPhrases = {
    "",         "a tensor", "an int array", "a float array", "an executor",
    "a stream", "an event", "a context"};

}  // namespace

void* EncodeHandle(const HandleWord& word) {
  const uint64_t bits = (static_cast<uint64_t>(word.kind) << (kSlotBits + kGenerationBits)) |
                        (static_cast<uint64_t>(word.generation) << kSlotBits) | word.slot;
  return reinterpret_cast<void*>(bits);  // NOLINT(performance-no-int-to-ptr): never dereferenced
}

HandleWord DecodeHandle(const void* handle) {
  const uint64_t bits = reinterpret_cast<uint64_t>(handle);
  return {.kind = static_cast<uint8_t>(bits >> (kSlotBits + kGenerationBits)),
          .generation = static_cast<uint32_t>(bits >> kSlotBits),
          .slot = static_cast<uint32_t>(bits & (kMaxSlots - 1))};
}

std::string WhyNot(HandleKind expected, const void* handle) {
  const std::string_view wanted = kPhrases[static_cast<size_t>(expected)];
  const HandleWord word = DecodeHandle(handle);
  if (handle == nullptr) return fmt::format("must be {}, got null", wanted);
  if (word.kind == static_cast<uint8_t>(expected)) {
    return fmt::format("must be {} of this process, got one that was destroyed or never created",
                       wanted);
  }
  if (word.kind > 0 && word.kind < kPhrases.size()) {
    return fmt::format("must be {}, got {}", wanted, kPhrases[word.kind]);
  }
  return fmt::format("must be {}, got {}, which is no handle", wanted, handle);
}

}  // namespace opscv::capi
