// SPDX-License-Identifier: Apache-2.0
#include "cli/gzip.h"

#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "base/dcheck.h"
#include "cli/failure.h"

namespace opscv::cli {
namespace {

constexpr unsigned kBufferBytes = 1 << 17;
constexpr int64_t kReadBytes = 1 << 24;
constexpr int kGzipWindow = MAX_WBITS + 16;  // zlib's way to ask for gzip's header and trailer
constexpr int kLevel = 3;  // volumes shrink little more at 6 but take three times as long

// Decompresses from the file's beginning on.
class Inflater {
 public:
  explicit Inflater(const InputFile& file) : path_(file.path()) {
    const int fd = dup(file.descriptor());
    if (fd < 0 || lseek(fd, 0, SEEK_SET) != 0) {
      throw InputFailure("{}: cannot be read: {}", path_, std::strerror(errno));
    }
    file_ = gzdopen(fd, "rb");
    if (file_ == nullptr) {
      close(fd);
      throw WriteFailure("memory could not be allocated");
    }
    gzbuffer(file_, kBufferBytes);
  }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  ~Inflater() { gzclose_r(file_); }

  // Bytes read: fewer than asked for only at the end.
  size_t Read(char* out, size_t size) {
    size_t done = 0;
    while (done < size) {
      const auto part = static_cast<unsigned>(std::min<size_t>(size - done, 1 << 26));
      const int got = gzread(file_, out + done, part);
      int code = Z_OK;
      const char* text = gzerror(file_, &code);
      if (got < 0 || (code != Z_OK && code != Z_BUF_ERROR)) {
        throw InputFailure("{}: cannot be decompressed: {}", path_,
                           code == Z_ERRNO ? std::strerror(errno) : text);
      }
      if (got == 0) break;
      done += static_cast<size_t>(got);
    }
    return done;
  }

  // Whether the file ended in the middle of its compressed data.
  [[nodiscard]] bool torn() {
    int code = Z_OK;
    gzerror(file_, &code);
    return code == Z_BUF_ERROR;
  }

 private:
  std::string path_;
  gzFile file_;
};

class Source final : public ByteSource {
 public:
  Source(InputFile file, int64_t begin, int64_t size)
      : path_(file.path()), size_(size), inflater_(file) {
    Skip(begin);  // the header
  }

  [[nodiscard]] bool sequential() const override { return true; }

  void Read(int64_t offset, std::span<char> out) override {
    const int64_t end = offset + static_cast<int64_t>(out.size());
    OPSCV_DCHECK(offset >= kept_begin_);
    while (position_ < end) {
      // Memory grows as data come: a header may promise what the file does not hold.
      const auto part = static_cast<size_t>(std::min<int64_t>(end - position_, kReadBytes));
      kept_.resize(kept_.size() + part);
      Fill(kept_.data() + kept_.size() - part, part);
    }
    std::copy_n(kept_.begin() + (offset - kept_begin_), out.size(), out.begin());
  }

  void Keep(int64_t offset) override {
    const int64_t stored = std::min(offset, position_) - kept_begin_;
    kept_.erase(kept_.begin(), kept_.begin() + stored);
    kept_begin_ += stored;
    if (offset > position_) {
      Skip(offset - position_);
      position_ = offset;
      kept_begin_ = offset;
    }
  }

  void Finish() override {
    Keep(size_);
    std::array<char, 1> beyond{};
    inflater_.Read(beyond.data(), beyond.size());
    if (inflater_.torn()) throw InputFailure("{}: its compressed data end early", path_);
  }

 private:
  void Fill(char* out, size_t size) {
    const size_t got = inflater_.Read(out, size);
    position_ += static_cast<int64_t>(got);
    if (got < size) {
      throw InputFailure("{}: holds {} bytes of data; expected {}", path_, position_, size_);
    }
  }

  void Skip(int64_t bytes) {
    std::vector<char> waste(kBufferBytes);
    while (bytes > 0) {
      const auto part = static_cast<size_t>(std::min<int64_t>(bytes, kBufferBytes));
      if (inflater_.Read(waste.data(), part) < part) {
        throw InputFailure("{}: ends early: its header tells of {} bytes of data", path_, size_);
      }
      bytes -= static_cast<int64_t>(part);
    }
  }

  std::string path_;
  int64_t size_;
  Inflater inflater_;
  int64_t position_ = 0;  // of the next byte that is decompressed, counted from the first data byte
  std::vector<char> kept_;
  int64_t kept_begin_ = 0;
};

class Sink final : public ByteSink {
 public:
  Sink(OutputFile file, const std::vector<char>& head)
      : file_(std::move(file)), out_(kBufferBytes) {
    if (deflateInit2(&stream_, kLevel, Z_DEFLATED, kGzipWindow, MAX_MEM_LEVEL - 1,
                     Z_DEFAULT_STRATEGY) != Z_OK) {
      throw WriteFailure("memory could not be allocated");
    }
    Deflate(head, Z_NO_FLUSH);
  }
  Sink(const Sink&) = delete;
  Sink& operator=(const Sink&) = delete;
  ~Sink() override { deflateEnd(&stream_); }

  void Write(int64_t /*offset*/, std::span<const char> bytes) override {
    constexpr size_t kPart = 1 << 22;  // zlib counts in 32 bits
    for (size_t at = 0; at < bytes.size(); at += kPart) {
      Deflate(bytes.subspan(at, std::min(kPart, bytes.size() - at)), Z_NO_FLUSH);
    }
  }

 private:
  void FinishBytes() override {
    Deflate({}, Z_FINISH);
    file_.Finish();
  }
  void GiveName() override { file_.Commit(); }

  void Deflate(std::span<const char> bytes, int flush) {
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream_.avail_in = static_cast<unsigned>(bytes.size());
    int state = Z_OK;
    do {
      stream_.next_out = reinterpret_cast<Bytef*>(out_.data());
      stream_.avail_out = kBufferBytes;
      state = deflate(&stream_, flush);
      const size_t made = kBufferBytes - stream_.avail_out;
      file_.Write(written_, {out_.data(), made});
      written_ += static_cast<int64_t>(made);
    } while (stream_.avail_out == 0 || (flush == Z_FINISH && state == Z_OK));
  }

  OutputFile file_;
  std::vector<char> out_;
  z_stream stream_{};
  int64_t written_ = 0;
};

}  // namespace

std::vector<char> PeekGzip(const InputFile& file, int64_t size) {
  std::vector<char> bytes(static_cast<size_t>(size));
  bytes.resize(Inflater(file).Read(bytes.data(), bytes.size()));
  return bytes;
}

std::unique_ptr<ByteSource> GzipSource(InputFile file, int64_t begin, int64_t size) {
  return std::make_unique<Source>(std::move(file), begin, size);
}

std::unique_ptr<ByteSink> GzipSink(OutputFile file, const std::vector<char>& head) {
  return std::make_unique<Sink>(std::move(file), head);
}

}  // namespace opscv::cli
