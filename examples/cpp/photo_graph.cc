// SPDX-License-Identifier: Apache-2.0
// A training step's two resizes as one graph: a photograph is shrunk to 224 x 224, and the gradient
// of half the sum of the small one's squares is pulled back to its pixels. The gradient of that
// loss in the small photograph is the small photograph itself, so one result feeds the other node.
//
//   photo_graph examples/data/astronaut.npy
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "opscv/graph.h"

namespace {

int Fail(const std::string& message) {
  std::fprintf(stderr, "%s\n", message.c_str());
  return 1;
}

// The samples of a .npy file of bytes, as floats: they are what stands at its end.
std::vector<float> ReadSamples(const char* path, size_t count) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file || file.tellg() < static_cast<std::streamoff>(count)) return {};
  std::vector<char> bytes(count);
  file.seekg(-static_cast<std::streamoff>(count), std::ios::end);
  file.read(bytes.data(), static_cast<std::streamsize>(count));
  if (!file) return {};
  std::vector<float> samples;
  for (const char byte : bytes) samples.push_back(static_cast<unsigned char>(byte));
  return samples;
}

double Dot(const std::vector<float>& a, const std::vector<float>& b) {
  double sum = 0.0;
  for (size_t i = 0; i < a.size(); ++i) sum += static_cast<double>(a[i]) * b[i];
  return sum;
}

// photo -> shrink -> pull, for photographs of 512 x 512; both results are shown.
opscv::Status Describe(opscv::Graph& graph) {
  opscv::Status status;
  const auto add = [&](opscv::Status next) {
    if (status.ok()) status = std::move(next);
  };
  add(graph.AddInput("photo",
                     {.dtype = opscv::DType::kFloat32, .shape = opscv::Dims{1, 3, 512, 512}}));
  add(graph.AddNode("shrink", opscv::Spec("UpsampleBicubic2dAA").Set("output_size", {224, 224}),
                    "photo"));
  add(graph.AddNode("pull",
                    opscv::Spec("UpsampleBicubic2dAAGrad")
                        .Set("output_size", {224, 224})
                        .Set("input_size", {1, 3, 512, 512}),
                    "shrink.out"));
  add(graph.AddOutput("small", "shrink.out"));
  add(graph.AddOutput("grad", "pull.grad_input"));
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return Fail("usage: photo_graph PHOTO.npy");
  const std::vector<float> photo = ReadSamples(argv[1], 3 * 512 * 512);
  if (photo.empty()) return Fail("the photograph cannot be read");

  opscv::Graph graph;
  if (const opscv::Status status = Describe(graph); !status.ok()) return Fail(status.message());
  const opscv::Result<opscv::Session> session = opscv::MakeSession(graph);
  if (!session) return Fail(session.error().message());

  const auto large = opscv::Contiguous(opscv::DType::kFloat32, {1, 3, 512, 512});
  const auto little = opscv::Contiguous(opscv::DType::kFloat32, {1, 3, 224, 224});
  std::vector<float> small(3 * 224 * 224);
  std::vector<float> grad(photo.size());
  const opscv::Status done =
      session->Run({{large, photo.data()}}, {{little, small.data()}, {large, grad.data()}});
  if (!done.ok()) return Fail(done.message());

  std::fputs(graph.ToJson().c_str(), stdout);
  // The gradient of a linear map is its transpose: <photo, W'W photo> is |W photo|^2.
  std::printf("loss: %.6e\n", 0.5 * Dot(small, small));
  std::printf("half the product of photo and gradient: %.6e\n", 0.5 * Dot(photo, grad));
  return 0;
}
