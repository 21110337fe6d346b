// SPDX-License-Identifier: Apache-2.0
#include "tests/support/npy.h"

#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>

namespace opscv::testing {
namespace {

// What follows `'key': ` in the header, up to `end`.
std::string Field(const std::string& header, const std::string& key, const std::string& end) {
  const size_t found = header.find("'" + key + "': ");
  if (found == std::string::npos) throw std::runtime_error("no '" + key + "' in the .npy header");
  const size_t begin = found + key.size() + 4;
  return header.substr(begin, header.find(end, begin) - begin);
}

}  // namespace

Npy ReadNpy(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (text.size() < 10 || text.compare(0, 6, "\x93NUMPY") != 0 || text[6] != 1) {
    throw std::runtime_error(path + " is not a .npy file of version 1");
  }
  const size_t length = static_cast<unsigned char>(text[8]) +
                        256 * static_cast<size_t>(static_cast<unsigned char>(text[9]));
  const std::string header = text.substr(10, length);
  Npy npy;
  npy.descr = Field(header, "descr", ",");
  npy.descr = npy.descr.substr(1, npy.descr.size() - 2);
  if (Field(header, "fortran_order", ",") != "False") {
    throw std::runtime_error(path + " is in Fortran order");
  }
  std::istringstream shape(Field(header, "shape", ")").substr(1));
  for (std::string extent; std::getline(shape, extent, ',');) {
    if (extent.find_first_not_of(' ') != std::string::npos) npy.shape.push_back(std::stoll(extent));
  }
  npy.bytes.assign(text.begin() + static_cast<std::ptrdiff_t>(10 + length), text.end());
  return npy;
}

}  // namespace opscv::testing
