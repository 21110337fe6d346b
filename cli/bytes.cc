// SPDX-License-Identifier: Apache-2.0
#include "cli/bytes.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "cli/failure.h"

namespace opscv::cli {
namespace {

// Bytes read into `out`: fewer than it holds only at the end of the file.
size_t ReadFully(const InputFile& file, int64_t offset, std::span<char> out) {
  size_t done = 0;
  while (done < out.size()) {
    const ssize_t got = pread(file.descriptor(), out.data() + done, out.size() - done,
                              offset + static_cast<int64_t>(done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw InputFailure("{}: cannot be read: {}", file.path(), std::strerror(errno));
    if (got == 0) break;
    done += static_cast<size_t>(got);
  }
  return done;
}

class FileSource final : public ByteSource {
 public:
  FileSource(InputFile file, int64_t begin) : file_(std::move(file)), begin_(begin) {}
  void Read(int64_t offset, std::span<char> out) override { file_.Read(begin_ + offset, out); }

 private:
  InputFile file_;
  int64_t begin_;
};

class MemorySource final : public ByteSource {
 public:
  explicit MemorySource(std::vector<char> bytes) : bytes_(std::move(bytes)) {}
  void Read(int64_t offset, std::span<char> out) override {
    std::copy_n(bytes_.begin() + offset, out.size(), out.begin());
  }

 private:
  std::vector<char> bytes_;
};

}  // namespace

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

Descriptor::~Descriptor() {
  if (fd_ >= 0) close(fd_);
}

InputFile::InputFile(std::string path) : path_(std::move(path)) {
  // A FIFO that nobody writes would otherwise stop the command here.
  fd_ = Descriptor(open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (fd_.get() < 0) throw InputFailure("{}: cannot be opened: {}", path_, std::strerror(errno));
  struct stat info {};
  if (fstat(fd_.get(), &info) != 0 || !S_ISREG(info.st_mode)) {
    throw InputFailure("{}: must be a regular file, got {}", path_,
                       S_ISDIR(info.st_mode) ? "a directory" : "something else");
  }
  size_ = info.st_size;
}

void InputFile::Read(int64_t offset, std::span<char> out) const {
  const size_t got = ReadFully(*this, offset, out);
  if (got < out.size()) {
    throw InputFailure("{}: ends after {} bytes, expected {} or more", path_,
                       offset + static_cast<int64_t>(got),
                       offset + static_cast<int64_t>(out.size()));
  }
}

std::vector<char> InputFile::Peek(int64_t offset, int64_t size) const {
  std::vector<char> bytes(static_cast<size_t>(std::clamp<int64_t>(size_ - offset, 0, size)));
  bytes.resize(ReadFully(*this, offset, bytes));
  return bytes;
}

std::vector<char> InputFile::ReadAll() const {
  std::vector<char> bytes(static_cast<size_t>(size_));
  Read(0, bytes);
  return bytes;
}

std::unique_ptr<ByteSource> SourceFrom(InputFile file, int64_t begin) {
  return std::make_unique<FileSource>(std::move(file), begin);
}

std::unique_ptr<ByteSource> SourceFrom(std::vector<char> bytes) {
  return std::make_unique<MemorySource>(std::move(bytes));
}

}  // namespace opscv::cli
