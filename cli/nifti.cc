// SPDX-License-Identifier: Apache-2.0
#include "cli/nifti.h"

#include <nifti2_io.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/checked_math.h"
#include "cli/failure.h"
#include "cli/gzip.h"
#include "cli/output_file.h"

namespace opscv::cli {

class NiftiHeader {
 public:
  NiftiHeader(nifti_image* image, int version) : image_(image), version_(version) {}
  [[nodiscard]] const nifti_image& image() const { return *image_; }
  [[nodiscard]] int version() const { return version_; }  // 1 or 2

 private:
  struct Free {
    void operator()(nifti_image* image) const { nifti_image_free(image); }
  };
  std::unique_ptr<nifti_image, Free> image_;
  int version_;
};

namespace {

struct TypeCode {
  int code;
  DType dtype;
};
constexpr std::array<TypeCode, 10> kTypes = {{{NIFTI_TYPE_FLOAT64, DType::kFloat64},
                                              {NIFTI_TYPE_FLOAT32, DType::kFloat32},
                                              {NIFTI_TYPE_INT8, DType::kInt8},
                                              {NIFTI_TYPE_UINT8, DType::kUInt8},
                                              {NIFTI_TYPE_INT16, DType::kInt16},
                                              {NIFTI_TYPE_UINT16, DType::kUInt16},
                                              {NIFTI_TYPE_INT32, DType::kInt32},
                                              {NIFTI_TYPE_UINT32, DType::kUInt32},
                                              {NIFTI_TYPE_INT64, DType::kInt64},
                                              {NIFTI_TYPE_UINT64, DType::kUInt64}}};

DType TypeOf(const std::string& path, int code) {
  for (const TypeCode& type : kTypes) {
    if (type.code == code) return type.dtype;
  }
  throw InputFailure(
      "{}: holds voxels of type {} ({}); expected integers or floats of 8 to 64 bits", path,
      nifti_datatype_to_string(code), code);
}

int CodeOf(DType dtype) {
  for (const TypeCode& type : kTypes) {
    if (type.dtype == dtype) return type.code;
  }
  return NIFTI_TYPE_FLOAT32;
}

// A header in this machine's byte order.
template <typename Header>
struct Native {
  Header header;
  bool swapped;  // in the file it has the other order
};

template <typename Header>
Native<Header> ReadNative(const std::vector<char>& bytes, int version) {
  Native<Header> native{};
  std::memcpy(&native.header, bytes.data(), sizeof native.header);
  native.swapped = native.header.sizeof_hdr != static_cast<int>(sizeof native.header);
  if (native.swapped) swap_nifti_header(&native.header, version);
  return native;
}

template <typename Header>
void CheckExtents(const std::string& path, const Header& header) {
  const int64_t rank = header.dim[0];
  if (rank < 1 || rank > 7) {
    throw InputFailure("{}: the NIfTI header has dim[0] = {}; expected 1 to 7", path, rank);
  }
  for (int i = 1; i <= rank; ++i) {
    const int64_t extent = header.dim[i];
    if (extent < 1) {
      throw InputFailure("{}: the NIfTI header has dim[{}] = {}; expected 1 or more", path, i,
                         extent);
    }
    if (i > 5 && extent > 1) {
      throw InputFailure("{}: has {} extents along dimension {}; expected at most 5 dimensions",
                         path, extent, i);
    }
  }
}

template <typename Header>
void CheckGeometry(const std::string& path, const Header& header) {
  for (int i = 1; i <= std::min<int64_t>(header.dim[0], 3); ++i) {
    const double spacing = header.pixdim[i];
    if (!std::isfinite(spacing) || spacing < 0.0) {
      throw InputFailure(
          "{}: the NIfTI header has pixdim[{}] = {}; expected a spacing of 0 or more", path, i,
          spacing);
    }
  }
  const auto all_finite = [](const auto* values, int count) {
    return std::all_of(values, values + count, [](double value) { return std::isfinite(value); });
  };
  if (header.sform_code > 0 && !(all_finite(header.srow_x, 4) && all_finite(header.srow_y, 4) &&
                                 all_finite(header.srow_z, 4))) {
    throw InputFailure("{}: the NIfTI header has an sform that is not finite", path);
  }
  const std::array<double, 6> qform = {header.quatern_b, header.quatern_c, header.quatern_d,
                                       header.qoffset_x, header.qoffset_y, header.qoffset_z};
  if (header.qform_code > 0 && !all_finite(qform.data(), 6)) {
    throw InputFailure("{}: the NIfTI header has a qform that is not finite", path);
  }
}

template <typename Header>
void CheckScaling(const std::string& path, const Header& header) {
  const double slope = header.scl_slope;
  const bool scaled = slope != 0.0 && !std::isnan(slope);
  if (scaled && !(std::isfinite(slope) && std::isfinite(static_cast<double>(header.scl_inter)))) {
    throw InputFailure("{}: the NIfTI header has slope {} and intercept {}; expected finite ones",
                       path, slope, static_cast<double>(header.scl_inter));
  }
}

// Where the voxels begin. 0 stands for the smallest place there can be.
template <typename Header>
int64_t DataBegin(const std::string& path, const Header& header) {
  const auto begin = static_cast<double>(header.vox_offset);
  constexpr auto kSmallest = static_cast<double>(sizeof(Header) + 4);
  if (begin == 0.0) return static_cast<int64_t>(kSmallest);
  if (!(begin >= kSmallest - 4.0 && begin <= 0x1p40) || begin != std::floor(begin)) {
    throw InputFailure(
        "{}: the NIfTI header has vox_offset = {}; expected a whole number from {} to 2^40", path,
        begin, kSmallest);
  }
  return static_cast<int64_t>(begin);
}

// What a header says that a reader of voxels needs.
struct Parsed {
  std::shared_ptr<const NiftiHeader> header;
  int64_t begin = 0;
  bool swapped = false;
};

template <typename Header>
Parsed Parse(const std::string& path, const std::vector<char>& bytes) {
  constexpr bool kFirst = std::is_same_v<Header, nifti_1_header>;
  if (bytes.size() < sizeof(Header)) {
    throw InputFailure("{}: ends after {} bytes, within its NIfTI header", path, bytes.size());
  }
  const auto [header, swapped] = ReadNative<Header>(bytes, kFirst ? 1 : 2);
  if (std::memcmp(header.magic, kFirst ? "n+1" : "n+2", 4) != 0) {
    throw InputFailure("{}: is half of a NIfTI pair; expected header and voxels in one file", path);
  }
  CheckExtents(path, header);
  CheckGeometry(path, header);
  CheckScaling(path, header);
  TypeOf(path, header.datatype);
  const int64_t begin = DataBegin(path, header);
  nifti_image* image = nullptr;
  if constexpr (kFirst) {
    image = nifti_convert_n1hdr2nim(header, nullptr);
  } else {
    image = nifti_convert_n2hdr2nim(header, nullptr);
  }
  if (image == nullptr) throw InputFailure("{}: has a NIfTI header that is malformed", path);
  return {std::make_shared<const NiftiHeader>(image, kFirst ? 1 : 2), begin, swapped};
}

Parsed ParseHeader(const std::string& path, const std::vector<char>& bytes) {
  nifti_set_debug_level(0);  // the library would print what is told here by messages
  switch (nifti_header_version(bytes.data(), bytes.size())) {
    case 1:
      return Parse<nifti_1_header>(path, bytes);
    case 2:
      return Parse<nifti_2_header>(path, bytes);
    case 0:
      throw InputFailure("{}: is an ANALYZE 7.5 file; expected NIfTI", path);
    default:
      throw InputFailure("{}: is no NIfTI file: it does not begin as one", path);
  }
}

Encoding EncodingOf(const std::string& path, const Parsed& parsed) {
  const nifti_image& image = parsed.header->image();
  Encoding encoding{.dtype = TypeOf(path, image.datatype), .swapped = parsed.swapped};
  encoding.swapped = parsed.swapped && SizeOf(encoding.dtype) > 1;
  if (image.scl_slope != 0.0 && !std::isnan(image.scl_slope)) {
    encoding.slope = image.scl_slope;
    encoding.intercept = image.scl_inter;
  }
  return encoding;
}

// N,C,spatial of a volume for an operator of that rank.
Dims ShapeOf(const nifti_image& image, int rank) {
  if (rank == 4) return {image.nt * image.nu, image.nz, image.ny, image.nx};
  return {image.nu, image.nt, image.nz, image.ny, image.nx};
}

int64_t BytesOf(const std::string& path, const Storage& storage) {
  const std::optional<int64_t> count = CheckedProduct(storage.shape.values());
  const std::optional<int64_t> bytes =
      count ? CheckedMul(*count, SizeOf(storage.encoding.dtype)) : std::nullopt;
  if (!bytes) throw InputFailure("{}: tells of 2^63 bytes of voxels or more", path);
  return *bytes;
}

// Which grid a resampled image has: scaled by `step`, its centres moved by the half-voxel rule.
nifti_dmat44 Resampled(const nifti_dmat44& from, const Spatial& step) {
  nifti_dmat44 to = from;
  for (int row = 0; row < 3; ++row) {
    for (int axis = 0; axis < 3; ++axis) {
      to.m[row][axis] = from.m[row][axis] * step[static_cast<size_t>(axis)];
      to.m[row][3] += from.m[row][axis] * (0.5 * step[static_cast<size_t>(axis)] - 0.5);
    }
  }
  return to;
}

void UpdateGeometry(nifti_image& image, const Spatial& step) {
  image.sto_xyz = Resampled(image.sto_xyz, step);
  image.qto_xyz = Resampled(image.qto_xyz, step);
  image.qoffset_x = image.qto_xyz.m[0][3];
  image.qoffset_y = image.qto_xyz.m[1][3];
  image.qoffset_z = image.qto_xyz.m[2][3];
  double* spacings[] = {&image.dx, &image.dy, &image.dz};
  for (size_t axis = 0; axis < step.size(); ++axis) {
    *spacings[axis] *= step[axis];
    image.pixdim[axis + 1] = *spacings[axis];
  }
  if (step[2] != 1.0) {  // times of slices that are no more
    image.slice_code = 0;
    image.slice_start = 0;
    image.slice_end = 0;
    image.slice_duration = 0.0;
  }
}

void SetExtents(nifti_image& image, const Dims& shape) {
  const bool volume = shape.rank() == 5;
  const bool has_times =
      volume ? image.nt == shape[1] && image.nu == shape[0] : image.nt * image.nu == shape[0];
  image.nx = shape[shape.rank() - 1];
  image.ny = shape[shape.rank() - 2];
  image.nz = volume ? shape[2] : shape[1];
  if (!has_times) {
    image.nt = volume ? shape[1] : shape[0];
    image.nu = volume ? shape[0] : 1;
  }
  image.nv = 1;
  image.nw = 1;
  const std::array<int64_t, 7> extents = {image.nx, image.ny, image.nz, image.nt, image.nu, 1, 1};
  image.ndim = 3;
  for (size_t i = 0; i < extents.size(); ++i) {
    image.dim[i + 1] = extents[i];
    if (i >= 3 && extents[i] > 1) image.ndim = static_cast<int64_t>(i) + 1;
  }
  image.dim[0] = image.ndim;
}

// The header of a file without geometry: spacing 1, no orientation.
nifti_image BlankImage() {
  nifti_image image{};
  image.nt = 1;
  image.nu = 1;
  image.qfac = 1.0;
  for (double* spacing :
       {&image.dx, &image.dy, &image.dz, &image.dt, &image.du, &image.dv, &image.dw}) {
    *spacing = 1.0;
  }
  std::fill_n(image.pixdim, 8, 1.0);
  for (int i = 0; i < 4; ++i) image.sto_xyz.m[i][i] = image.qto_xyz.m[i][i] = 1.0;
  return image;
}

template <typename Header>
std::vector<char> HeaderBytes(nifti_image& image, const std::string& path) {
  constexpr bool kFirst = std::is_same_v<Header, nifti_1_header>;
  image.nifti_type = kFirst ? NIFTI_FTYPE_NIFTI1_1 : NIFTI_FTYPE_NIFTI2_1;
  image.iname_offset = sizeof(Header) + 4;
  Header header{};
  int failed = 0;
  if constexpr (kFirst) {
    failed = nifti_convert_nim2n1hdr(&image, &header);
  } else {
    failed = nifti_convert_nim2n2hdr(&image, &header);
  }
  if (failed != 0) throw WriteFailure("{}: its NIfTI header cannot be made", path);
  std::vector<char> bytes(sizeof header + 4, '\0');  // the last four say: no extension follows
  std::memcpy(bytes.data(), &header, sizeof header);
  return bytes;
}

std::vector<char> MakeHeader(const OutputRequest& request, const Storage& storage) {
  const NiftiHeader* source = request.source == nullptr ? nullptr : request.source->nifti.get();
  nifti_image image = source == nullptr ? BlankImage() : source->image();
  image.num_ext = 0;
  image.ext_list = nullptr;
  SetExtents(image, ToChannelsFirst(storage.shape, request.layout));
  UpdateGeometry(image, request.step);
  image.datatype = CodeOf(storage.encoding.dtype);
  image.nbyper = static_cast<int>(SizeOf(storage.encoding.dtype));
  image.nvox = *CheckedProduct(storage.shape.values());
  if (!request.keep_scaling) {
    image.scl_slope = 1.0;
    image.scl_inter = 0.0;
  }
  constexpr int64_t kLongest = 32767;  // NIfTI-1 keeps extents in 16 bits
  const bool first = (source == nullptr || source->version() == 1) &&
                     std::all_of(image.dim, image.dim + 8, [](int64_t n) { return n <= kLongest; });
  return first ? HeaderBytes<nifti_1_header>(image, request.path)
               : HeaderBytes<nifti_2_header>(image, request.path);
}

}  // namespace

Spatial SpacingOf(const NiftiHeader& header) {
  const nifti_image& image = header.image();
  return {image.dx, image.dy, image.dz};
}

TensorInput OpenNifti(InputFile file, bool gzipped, int rank) {
  const std::string path = file.path();
  constexpr auto kLongestHeader = static_cast<int64_t>(sizeof(nifti_2_header));
  const Parsed parsed =
      ParseHeader(path, gzipped ? PeekGzip(file, kLongestHeader) : file.Peek(0, kLongestHeader));
  TensorInput input;
  input.path = path;
  input.format = gzipped ? Format::kNiftiGzip : Format::kNifti;
  input.nifti = parsed.header;
  input.storage.encoding = EncodingOf(path, parsed);
  input.storage.shape = ShapeOf(parsed.header->image(), rank);
  input.storage.strides = ContiguousStrides(input.storage.shape);
  const int64_t bytes = BytesOf(path, input.storage);
  if (!gzipped && file.size() - parsed.begin < bytes) {
    throw InputFailure("{}: holds {} bytes of voxels; expected {}", path,
                       std::max<int64_t>(file.size() - parsed.begin, 0), bytes);
  }
  input.bytes = gzipped ? GzipSource(std::move(file), parsed.begin, bytes)
                        : SourceFrom(std::move(file), parsed.begin);
  return input;
}

TensorOutput CreateNifti(const OutputRequest& request, bool gzipped) {
  TensorOutput output;
  output.path = request.path;
  output.storage = request.storage;
  const DType dtype = request.storage.encoding.dtype;
  if (dtype == DType::kBool) {
    output.storage.encoding = {.dtype = DType::kUInt8};
  } else if (dtype == DType::kFloat16 || dtype == DType::kBFloat16) {
    output.storage.encoding = {.dtype = DType::kFloat32};
  }
  const Dims shape = ToChannelsFirst(request.storage.shape, request.layout);
  for (const int64_t extent : shape.values()) {
    if (extent < 1) throw InputFailure("{}: a NIfTI file cannot be empty", request.path);
  }
  output.storage.strides = ToLayout(ContiguousStrides(shape), request.layout);
  const std::vector<char> header = MakeHeader(request, output.storage);
  OutputFile file(request.path);
  if (gzipped) {
    output.bytes = GzipSink(std::move(file), header);
    return output;
  }
  file.Write(0, header);
  output.bytes = SinkTo(std::move(file), static_cast<int64_t>(header.size()));
  return output;
}

}  // namespace opscv::cli
