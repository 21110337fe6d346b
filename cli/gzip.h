// SPDX-License-Identifier: Apache-2.0
// Files compressed by gzip, read and written in one pass. Knows nothing of what is in them.
#ifndef OPSCV_CLI_GZIP_H_
#define OPSCV_CLI_GZIP_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "cli/bytes.h"
#include "cli/output_file.h"

namespace opscv::cli {

// The first `size` bytes of the decompressed file, fewer where it ends earlier.
[[nodiscard]] std::vector<char> PeekGzip(const InputFile& file, int64_t size);

// The decompressed bytes [begin, begin + size). Finish reads on to the end of the data and so
// checks them against gzip's own sum.
[[nodiscard]] std::unique_ptr<ByteSource> GzipSource(InputFile file, int64_t begin, int64_t size);

// Compresses `head`, then what is written, which must come in order.
[[nodiscard]] std::unique_ptr<ByteSink> GzipSink(OutputFile file, const std::vector<char>& head);

}  // namespace opscv::cli

#endif  // OPSCV_CLI_GZIP_H_
