// SPDX-License-Identifier: Apache-2.0
// Drives the reference from other languages. Reads problems from stdin, whitespace-separated:
//   bicubic2d_aa BATCH IN_H IN_W OUT_H OUT_W ALIGN SCALE_H SCALE_W x...
//   bicubic2d_aa_grad (the same) grad_out...
//   nearest_exact3d RULE BATCH ID IH IW OD OH OW SD SH SW x...
//   nearest_exact3d_grad (the same) grad_out...
//   taps IN OUT ALIGN SCALE
//   sources RULE IN OUT SCALE FIRST COUNT
// RULE is ascend, torch_cpu or exact. An operator answers with a line of values and a line of
// magnitudes; taps with a line of triples o i weight; sources with a line of input indices.
#include <cstdio>
#include <exception>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

#include "reference/reference.h"

namespace {

using opscv::IndexRule;
using opscv::reference::Answer;
using opscv::reference::Bicubic2dAAProblem;
using opscv::reference::NearestExact3dProblem;
using opscv::reference::TapTable;

std::string ReadWord() {
  std::string word;
  if (!(std::cin >> word)) throw std::invalid_argument("input ends inside a problem");
  return word;
}

int64_t ReadInt() { return std::stoll(ReadWord()); }

// strtod, because it reads nan and inf, and subnormal numbers without complaint.
double ReadDouble() { return std::strtod(ReadWord().c_str(), nullptr); }

IndexRule ReadRule() {
  const std::string word = ReadWord();
  if (word == "ascend") return IndexRule::kAscend;
  if (word == "torch_cpu") return IndexRule::kTorchCpu;
  if (word == "exact") return IndexRule::kExact;
  throw std::invalid_argument("unknown index rule " + word);
}

std::vector<double> ReadData(int64_t count) {
  std::vector<double> data(count);
  for (double& v : data) v = ReadDouble();
  return data;
}

void PrintLine(const std::vector<double>& values) {
  for (double v : values) std::printf("%.17g ", v);
  std::printf("\n");
}

void Print(const Answer& answer) {
  PrintLine(answer.value);
  PrintLine(answer.magnitude);
}

void RunBicubic(bool grad) {
  Bicubic2dAAProblem p;
  for (int64_t* v : {&p.batch, &p.in_h, &p.in_w, &p.out_h, &p.out_w}) *v = ReadInt();
  p.align_corners = ReadInt() != 0;
  for (double* v : {&p.scales_h, &p.scales_w}) *v = ReadDouble();
  if (grad) {
    Print(UpsampleBicubic2dAAGrad(p, ReadData(p.batch * p.out_h * p.out_w)));
  } else {
    Print(UpsampleBicubic2dAA(p, ReadData(p.batch * p.in_h * p.in_w)));
  }
}

void RunNearest(bool grad) {
  NearestExact3dProblem p;
  p.rule = ReadRule();
  p.batch = ReadInt();
  for (int64_t& v : p.in) v = ReadInt();
  for (int64_t& v : p.out) v = ReadInt();
  for (double& v : p.scales) v = ReadDouble();
  if (grad) {
    Print(UpsampleNearestExact3dGrad(p, ReadData(p.batch * p.out[0] * p.out[1] * p.out[2])));
  } else {
    Print(UpsampleNearestExact3d(p, ReadData(p.batch * p.in[0] * p.in[1] * p.in[2])));
  }
}

void RunTaps() {
  const int64_t in = ReadInt();
  const int64_t out = ReadInt();
  const bool align_corners = ReadInt() != 0;
  const TapTable table = opscv::reference::CubicTaps(in, out, align_corners, ReadDouble());
  for (int64_t o = 0; o < out; ++o) {
    for (int64_t k = table.begin[o]; k < table.begin[o + 1]; ++k) {
      std::printf("%lld %lld %.17g ", static_cast<long long>(o),
                  static_cast<long long>(table.index[k]), table.weight[k]);
    }
  }
  std::printf("\n");
}

void RunSources() {
  const IndexRule rule = ReadRule();
  const int64_t in = ReadInt();
  const int64_t out = ReadInt();
  const double scale = ReadDouble();
  const int64_t first = ReadInt();
  const int64_t count = ReadInt();
  const std::vector<int64_t> sources = opscv::reference::NearestSources(in, out, scale, rule);
  for (int64_t o = first; o < first + count; ++o) {
    std::printf("%lld ", static_cast<long long>(sources.at(o)));
  }
  std::printf("\n");
}

void RunProblem(const std::string& name) {
  if (name == "bicubic2d_aa" || name == "bicubic2d_aa_grad") {
    RunBicubic(name.ends_with("_grad"));
  } else if (name == "nearest_exact3d" || name == "nearest_exact3d_grad") {
    RunNearest(name.ends_with("_grad"));
  } else if (name == "taps") {
    RunTaps();
  } else if (name == "sources") {
    RunSources();
  } else {
    throw std::invalid_argument("unknown problem " + name);
  }
}

}  // namespace

int main() {
  std::ios::sync_with_stdio(false);
  try {
    for (std::string name; std::cin >> name;) RunProblem(name);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "reference_tool: %s\n", error.what());
    return 1;
  }
  return 0;
}
