// SPDX-License-Identifier: Apache-2.0
// Types and shapes of a graph's values, as far as its inputs' are known. Knows operators by what
// their prototypes, checks and attributes say.
#ifndef OPSCV_GRAPH_INFER_H_
#define OPSCV_GRAPH_INFER_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "graph/wiring.h"
#include "opscv/graph.h"

namespace opscv::graph {

// "float32 (1, 3, -1, -1), channels_last", as messages write a hint.
[[nodiscard]] std::string HintText(const TensorHint& hint);
[[nodiscard]] std::string ShapeText(const Dims& shape);

// The name of an order of dimensions in the JSON form and in messages.
[[nodiscard]] std::string_view NameOf(Layout layout);

// Everything that is known of a tensor that is there.
[[nodiscard]] TensorHint HintOf(const TensorDesc& tensor);

// What both say together; kInvalidArgument beginning with `subject` where `given` contradicts
// `declared`.
[[nodiscard]] Result<TensorHint> Merge(std::string_view subject, const TensorHint& declared,
                                       const TensorHint& given);

// The result of every node, by number. Each node's call is judged as far as it is known by its
// operator's own checks.
[[nodiscard]] Result<std::vector<TensorHint>> Infer(const Graph& graph, const Wiring& wiring,
                                                    std::span<const TensorHint> inputs);

}  // namespace opscv::graph

#endif  // OPSCV_GRAPH_INFER_H_
