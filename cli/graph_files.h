// SPDX-License-Identifier: Apache-2.0
// A graph with files or shapes for its tensors: what is read into memory, and what is written
// together or not at all. Knows nothing of the command line.
#ifndef OPSCV_CLI_GRAPH_FILES_H_
#define OPSCV_CLI_GRAPH_FILES_H_

#include <memory>
#include <string>
#include <vector>

#include "cli/tensor_file.h"
#include "opscv/graph.h"

namespace opscv::cli {

// The graph that a file holds; InputFailure beginning with the path where it is none, or where it
// is refused.
[[nodiscard]] Session ReadGraph(const std::string& path);

// The parts of NAME=VALUE.
struct Binding {
  std::string name;
  std::string value;
};
// UsageFailure where a word has no name, where a name is not one of `names`, or is there twice.
[[nodiscard]] std::vector<Binding> ReadBindings(std::string_view option,
                                                const std::vector<std::string>& words,
                                                const std::vector<std::string>& names);

// A tensor of the graph and the file that it comes from.
struct GraphTensor {
  std::string name;
  TensorInput file;
  TensorDesc desc;  // as it lies in memory once it is read
};

// Opens a file for input number `index` of the graph and settles its type and shape; reads no
// element.
[[nodiscard]] GraphTensor OpenGraphInput(const Graph& graph, size_t index, const std::string& path);

// Elements, not touched before they are written: a header may promise too much.
using Elements = std::unique_ptr<char[]>;
[[nodiscard]] Elements AllocateFor(const TensorDesc& tensor);

// All elements of the file, by the strides of its `desc`.
[[nodiscard]] Elements ReadElements(GraphTensor& tensor);

// An output that is being written.
struct GraphResult {
  std::string name;
  TensorOutput file;
  TensorDesc desc;  // how the file wants it in memory
};

// Begins the files of all outputs, in order; `facts` are those of a run on `inputs`.
[[nodiscard]] std::vector<GraphResult> CreateGraphOutputs(const Graph& graph,
                                                          const std::vector<GraphTensor>& inputs,
                                                          const SessionFacts& facts,
                                                          const std::vector<std::string>& paths);

// Writes all of them; each appears under its name only after all have been written.
void WriteTogether(std::vector<GraphResult>& results, const std::vector<Elements>& elements);

}  // namespace opscv::cli

#endif  // OPSCV_CLI_GRAPH_FILES_H_
