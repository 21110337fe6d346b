// SPDX-License-Identifier: Apache-2.0
// What memory alone can do: reading, writing past the caches, copying. Plain and streaming
// instructions that every processor of the architecture has.
#include <omp.h>
#include <sys/mman.h>

#include <cstdlib>

#include "bench/c_door.h"
#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace opscv::bench {
namespace {

constexpr int64_t kLine = 64;
constexpr int64_t kPage = 4096;
constexpr int64_t kHugePage = int64_t{2} << 20;

// Calls work(begin, end) with whole cache lines of [0, bytes), a part on each thread.
template <typename Work>
void Share(int64_t bytes, int threads, const Work& work) {
  const int64_t lines = bytes / kLine;
  if (threads == 1) return work(int64_t{0}, lines * kLine);
#pragma omp parallel num_threads(threads)
  {
    const int64_t part = omp_get_thread_num();
    work(lines * part / threads * kLine, lines * (part + 1) / threads * kLine);
  }
}

#ifdef __SSE2__

int64_t ReadLines(const char* begin, const char* end) {
  __m128i sums[4] = {};
  for (const char* line = begin; line < end; line += kLine) {
    for (int i = 0; i < 4; ++i) {
      const auto* from = reinterpret_cast<const __m128i*>(line) + i;
      sums[i] = _mm_xor_si128(sums[i], _mm_loadu_si128(from));
    }
  }
  const __m128i all =
      _mm_xor_si128(_mm_xor_si128(sums[0], sums[1]), _mm_xor_si128(sums[2], sums[3]));
  return _mm_cvtsi128_si64(all);
}

void WriteLines(char* begin, char* end) {
  const __m128i value = _mm_set1_epi32(0x3f800000);
  for (char* line = begin; line < end; line += kLine) {
    for (int i = 0; i < 4; ++i) _mm_stream_si128(reinterpret_cast<__m128i*>(line) + i, value);
  }
  _mm_sfence();
}

#else

int64_t ReadLines(const char* begin, const char* end) {
  int64_t sums[8] = {};
  for (const char* line = begin; line < end; line += kLine) {
    int64_t words[8];
    std::memcpy(words, line, kLine);
    for (int i = 0; i < 8; ++i) sums[i] ^= words[i];
  }
  int64_t all = 0;
  for (const int64_t sum : sums) all ^= sum;
  return all;
}

void WriteLines(char* begin, char* end) { std::memset(begin, 1, static_cast<size_t>(end - begin)); }

#endif

// What a read found goes here, so that no compiler leaves it out.
volatile int64_t g_sink = 0;

}  // namespace
}  // namespace opscv::bench

OPSCV_BENCH_API double opscv_bench_read(const char* data, int64_t bytes, int threads,
                                        int64_t repeat) {
  namespace bench = opscv::bench;
  return bench::SecondsPerCall(repeat, [&] {
    bench::Share(bytes, threads, [&](int64_t begin, int64_t end) {
      bench::g_sink = bench::ReadLines(data + begin, data + end);
    });
    return true;
  });
}

// `data` is aligned to 16 bytes.
OPSCV_BENCH_API double opscv_bench_write(char* data, int64_t bytes, int threads, int64_t repeat) {
  namespace bench = opscv::bench;
  return bench::SecondsPerCall(repeat, [&] {
    bench::Share(bytes, threads,
                 [&](int64_t begin, int64_t end) { bench::WriteLines(data + begin, data + end); });
    return true;
  });
}

OPSCV_BENCH_API double opscv_bench_copy(const char* from, char* to, int64_t bytes, int threads,
                                        int64_t repeat) {
  namespace bench = opscv::bench;
  return bench::SecondsPerCall(repeat, [&] {
    bench::Share(bytes, threads, [&](int64_t begin, int64_t end) {
      std::memcpy(to + begin, from + begin, static_cast<size_t>(end - begin));
    });
    return true;
  });
}

// Allocates, writes to each page once, frees. Memory of two huge pages and more asks for those.
OPSCV_BENCH_API double opscv_bench_fresh(int64_t bytes, int threads, int64_t repeat) {
  namespace bench = opscv::bench;
  return bench::SecondsPerCall(repeat, [&] {
    auto* const memory = static_cast<char*>(std::malloc(static_cast<size_t>(bytes)));
    if (memory == nullptr) return false;
    const auto address = reinterpret_cast<uintptr_t>(memory);
    const auto skip = static_cast<int64_t>((bench::kPage - address % bench::kPage) % bench::kPage);
    if (bytes >= 2 * bench::kHugePage) {
      madvise(memory + skip, static_cast<size_t>(bytes - skip), MADV_HUGEPAGE);
    }
    bench::Share(bytes, threads, [&](int64_t begin, int64_t end) {
      for (int64_t at = begin; at < end; at += bench::kPage) {
        *static_cast<volatile char*>(memory + at) = 1;
      }
    });
    std::free(memory);
    return true;
  });
}
