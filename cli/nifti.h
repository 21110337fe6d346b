// SPDX-License-Identifier: Apache-2.0
// NIfTI-1 and NIfTI-2 in one file, .nii or .nii.gz, their headers read and written by nifticlib.
// W is x, H is y, D is z.
#ifndef OPSCV_CLI_NIFTI_H_
#define OPSCV_CLI_NIFTI_H_

#include <memory>
#include <string>

#include "cli/tensor_file.h"

namespace opscv::cli {

// A volume's header; what it holds is nifti.cc's own matter.
class NiftiHeader;

// Millimetres, or whatever the file counts in, from voxel to voxel along x, y, z.
[[nodiscard]] Spatial SpacingOf(const NiftiHeader& header);

// Opens a file for an operator on tensors of that rank: 5 gives (u, t, z, y, x), 4 gives
// (u * t, z, y, x), every slice being an image.
[[nodiscard]] TensorInput OpenNifti(InputFile file, bool gzipped, int rank);

// A file for a tensor of the request, its geometry that of the request's source resampled.
[[nodiscard]] TensorOutput CreateNifti(const OutputRequest& request, bool gzipped);

}  // namespace opscv::cli

#endif  // OPSCV_CLI_NIFTI_H_
