// SPDX-License-Identifier: Apache-2.0
#include "cli/output_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "cli/failure.h"
#include "cli/interrupt.h"

namespace opscv::cli {
namespace {

namespace fs = std::filesystem;

class FileSink final : public ByteSink {
 public:
  FileSink(OutputFile file, int64_t begin) : file_(std::move(file)), begin_(begin) {}
  void Write(int64_t offset, std::span<const char> bytes) override {
    file_.Write(begin_ + offset, bytes);
  }

 private:
  void FinishBytes() override { file_.Finish(); }
  void GiveName() override { file_.Commit(); }

  OutputFile file_;
  int64_t begin_;
};

Failure CannotWrite(const std::string& path) {
  return WriteFailure("{}: cannot be written: {}", path, std::strerror(errno));
}

// A name beside `target` that says what it is; `number` tells attempts apart.
std::string NameBeside(const std::string& target, int number) {
  return fmt::format("{}.{}-{}.part", target, getpid(), number);
}

constexpr int kAttempts = 100;
constexpr int kMostLinks = 40;  // as many as Linux follows
// What open() gives a new file before the umask takes its share.
constexpr mode_t kMode = 0666;

// Where links lead, the last of them to a name that nothing has yet perhaps.
fs::path EndOfLinks(const std::string& path) {
  fs::path end = path;
  std::error_code error;
  for (int i = 0; i < kMostLinks; ++i) {
    if (!fs::is_symlink(fs::symlink_status(end, error))) return end;
    end = end.parent_path() / fs::read_symlink(end, error);
  }
  throw WriteFailure("{}: must be a regular file or a new name, got links without end", path);
}

}  // namespace

std::string OutputTarget(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    throw WriteFailure("{}: must be a regular file or a new name, got {}", path,
                       fs::is_directory(status) ? "a directory" : "something else");
  }
  const fs::path end = EndOfLinks(path);
  // An absolute path: two names of a file that is not there yet would not look the same otherwise.
  const fs::path target = fs::weakly_canonical(fs::absolute(end), error);
  return error ? end.string() : target.string();
}

OutputFile::OutputFile(std::string path) : path_(std::move(path)), target_(OutputTarget(path_)) {
  const std::string folder = fs::path(target_).parent_path().string();
  if (!OpenNameless(folder.empty() ? "." : folder)) OpenBeside();
}

bool OutputFile::OpenNameless(const std::string& folder) {
  if (access("/proc/self/fd", X_OK) != 0) return false;  // it is named through there
  fd_ = Descriptor(open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, kMode));
  return fd_.get() >= 0;
}

void OutputFile::OpenBeside() {
  const Uninterrupted until_named;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const std::string name = NameBeside(target_, attempt);
    fd_ = Descriptor(open(name.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, kMode));
    if (fd_.get() >= 0) {
      temporary_ = name;
      RemoveOnSignal(name);
      return;
    }
    if (errno != EEXIST) break;
  }
  throw CannotWrite(path_);
}

OutputFile::~OutputFile() {
  if (fd_.get() < 0 || temporary_.empty()) return;
  const Uninterrupted until_gone;
  unlink(temporary_.c_str());
  KeepOnSignal(temporary_);
}

void OutputFile::Write(int64_t offset, std::span<const char> bytes) {
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t put = pwrite(fd_.get(), bytes.data() + done, bytes.size() - done,
                               offset + static_cast<int64_t>(done));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) throw CannotWrite(path_);
    done += static_cast<size_t>(put);
  }
}

// A link cannot replace a file but a rename can: the nameless file first gets a name beside.
void OutputFile::NameIt() {
  const std::string self = fmt::format("/proc/self/fd/{}", fd_.get());
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const std::string name = NameBeside(target_, attempt);
    if (linkat(AT_FDCWD, self.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0) {
      temporary_ = name;
      RemoveOnSignal(name);
      return;
    }
    if (errno != EEXIST) break;
  }
  throw CannotWrite(path_);
}

void OutputFile::Finish() {
  // Some file systems tell only here that the disk is full.
  if (fsync(fd_.get()) != 0 && errno != EINVAL && errno != EROFS) throw CannotWrite(path_);
}

void OutputFile::Commit() {
  const Uninterrupted until_renamed;
  if (temporary_.empty()) NameIt();
  if (rename(temporary_.c_str(), target_.c_str()) != 0) throw CannotWrite(path_);
  KeepOnSignal(temporary_);
  NoteOutputWritten();
  fd_ = Descriptor();
  temporary_.clear();
}

std::unique_ptr<ByteSink> SinkTo(OutputFile file, int64_t begin) {
  return std::make_unique<FileSink>(std::move(file), begin);
}

}  // namespace opscv::cli
