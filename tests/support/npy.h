// SPDX-License-Identifier: Apache-2.0
// Reads the .npy files that NumPy writes for tests: little-endian, C order.
#ifndef OPSCV_TESTS_SUPPORT_NPY_H_
#define OPSCV_TESTS_SUPPORT_NPY_H_

#include <cstdint>
#include <string>
#include <vector>

namespace opscv::testing {

struct Npy {
  std::string descr;  // "<f4", "<V2", ...
  std::vector<int64_t> shape;
  std::vector<char> bytes;
};

// Throws std::runtime_error naming the file when it is not such a file.
Npy ReadNpy(const std::string& path);

}  // namespace opscv::testing

#endif  // OPSCV_TESTS_SUPPORT_NPY_H_
