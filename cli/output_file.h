// SPDX-License-Identifier: Apache-2.0
// A file that appears under its name only when it is complete. Knows nothing of what is in it.
#ifndef OPSCV_CLI_OUTPUT_FILE_H_
#define OPSCV_CLI_OUTPUT_FILE_H_

#include <cstdint>
#include <span>
#include <string>

#include "cli/bytes.h"

namespace opscv::cli {

// The file that an output of that name is to replace or to become: where a link leads, not the
// link. WriteFailure where something else than a regular file is there.
[[nodiscard]] std::string OutputTarget(const std::string& path);

// Written without a name where the file system can do that, else beside the output under a name of
// its own; Finish says that it is complete, Commit then gives it its name, in place of what had
// that name. Left without Commit, by a signal too, nothing remains. Every failure is a Failure that
// names the output.
class OutputFile {
 public:
  explicit OutputFile(std::string path);
  OutputFile(OutputFile&& other) noexcept = default;
  OutputFile& operator=(OutputFile&&) = delete;
  ~OutputFile();

  [[nodiscard]] const std::string& path() const { return path_; }
  void Write(int64_t offset, std::span<const char> bytes);
  void Finish();
  void Commit();

 private:
  [[nodiscard]] bool OpenNameless(const std::string& folder);
  void OpenBeside();
  void NameIt();

  std::string path_;       // as given
  std::string target_;     // OutputTarget of it
  std::string temporary_;  // "" while the file has no name
  Descriptor fd_;
};

// The bytes of a file from `begin` on.
[[nodiscard]] std::unique_ptr<ByteSink> SinkTo(OutputFile file, int64_t begin);

}  // namespace opscv::cli

#endif  // OPSCV_CLI_OUTPUT_FILE_H_
