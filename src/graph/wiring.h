// SPDX-License-Identifier: Apache-2.0
// How the parts of a graph hang together: names resolved, order of running. Knows no shapes.
#ifndef OPSCV_GRAPH_WIRING_H_
#define OPSCV_GRAPH_WIRING_H_

#include <string>
#include <vector>

#include "base/status.h"
#include "ops/op_info.h"
#include "opscv/graph.h"

namespace opscv::graph {

// An input of the graph, or the result of a node.
struct Source {
  bool is_input = true;
  int index = 0;
};

struct Wiring {
  std::vector<Source> sources;  // of each node's input
  std::vector<int> outputs;     // the node of each output
  std::vector<int> output_of;   // the output that each node fills, or -1
  std::vector<int> order;       // of all nodes that can run the one added first
};

// The operator of a node; AddNode has made sure that there is one.
[[nodiscard]] const ops::OpInfo& InfoOf(const GraphNode& node);

// "node 'back': ", what messages about a node begin with.
[[nodiscard]] std::string Prefix(const GraphNode& node);
// The same status with that in front of its sentence.
[[nodiscard]] Status In(const GraphNode& node, const Status& status);

// kInvalidArgument for a source that does not exist, a node that depends on itself, parts that lead
// to no output, an output that is no node's or has been named by another.
[[nodiscard]] Result<Wiring> Wire(const Graph& graph);

}  // namespace opscv::graph

#endif  // OPSCV_GRAPH_WIRING_H_
