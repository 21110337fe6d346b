// SPDX-License-Identifier: Apache-2.0
// Bytes that are read from and written to somewhere by position. Knows nothing of what they mean.
#ifndef OPSCV_CLI_BYTES_H_
#define OPSCV_CLI_BYTES_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace opscv::cli {

// Where the elements of a tensor come from. Every failure is a Failure that names the file.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // Fills `out` with the bytes from `offset` on.
  virtual void Read(int64_t offset, std::span<char> out) = 0;
  // A sequential source reads forward only, and keeps what it has read from the latest Keep on.
  [[nodiscard]] virtual bool sequential() const { return false; }
  // Nothing before `offset` will be asked for any more.
  virtual void Keep(int64_t /*offset*/) {}
  // Nothing more will be asked for at all: a source that is checked as a whole is checked now.
  virtual void Finish() {}
};

// Where the elements of a tensor go. Nothing appears under the output's name before Commit.
class ByteSink {
 public:
  virtual ~ByteSink() = default;
  virtual void Write(int64_t offset, std::span<const char> bytes) = 0;
  // Nothing more will be written: what can fail for want of space fails here. Outputs that should
  // appear together are all finished before the first is committed.
  void Finish() {
    if (!finished_) FinishBytes();
    finished_ = true;
  }
  // Finishes, and gives the output its name.
  void Commit() {
    Finish();
    GiveName();
  }

 private:
  virtual void FinishBytes() = 0;
  virtual void GiveName() = 0;

  bool finished_ = false;
};

// An open file descriptor.
class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(other.fd_) { other.fd_ = -1; }
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor();
  [[nodiscard]] int get() const { return fd_; }

 private:
  int fd_;
};

// A regular file, open for reading.
class InputFile {
 public:
  // Fails when there is no such file, when it may not be read, or when it is not a regular file.
  explicit InputFile(std::string path);

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] int64_t size() const { return size_; }
  [[nodiscard]] int descriptor() const { return fd_.get(); }
  // The whole file.
  [[nodiscard]] std::vector<char> ReadAll() const;
  // Fails when the file ends before `out` is full.
  void Read(int64_t offset, std::span<char> out) const;
  // The bytes [offset, offset + size), fewer where the file ends earlier.
  [[nodiscard]] std::vector<char> Peek(int64_t offset, int64_t size) const;

 private:
  std::string path_;
  Descriptor fd_;
  int64_t size_ = 0;
};

// The bytes of a file from `begin` on.
[[nodiscard]] std::unique_ptr<ByteSource> SourceFrom(InputFile file, int64_t begin);
// Bytes that are in memory already.
[[nodiscard]] std::unique_ptr<ByteSource> SourceFrom(std::vector<char> bytes);

}  // namespace opscv::cli

#endif  // OPSCV_CLI_BYTES_H_
