// SPDX-License-Identifier: Apache-2.0
// The accuracy the library promises, as one definition for tests and the `check` command.
// Knows nothing of operators beyond the taps and magnitude that a reference answer carries.
#ifndef OPSCV_REFERENCE_BOUND_H_
#define OPSCV_REFERENCE_BOUND_H_

#include <cstdint>

#include "opscv/view.h"
#include "reference/reference.h"

namespace opscv::reference {

// Integers, which are only copied, count as float64.

// Largest |error| allowed of an element whose true value is `value`, with magnitude
// S = sum |w*x|. E is the sum over passes of 3 + min(taps, 32); taps is the product over passes.
//   float32         E * 2^-24 * S + taps * 2^-149
//   float16, bfloat16   that, plus half a unit in the last place of |value| plus that
//   float64         (E + largest extent) * 2^-52 * S + taps * 2^-1074
// 0 where no pass ran: a copy is exact. Infinite (no promise) once S, or what the first pass holds
// on the way (PassTaps::peak), reaches the largest number of the type it is summed in: float, for
// float64 double.
double BoundFor(DType type, double value, double magnitude, const PassTaps& taps);

// |actual - value| as a fraction of the bound: at most 1 where the promise is kept, infinity where
// it is broken beyond measure, 0 where nothing is promised. A non-finite `value` asks for a
// non-finite `actual` (which of NaN and infinity wins is not promised). A finite one admits an
// infinite `actual` of its sign only if a value within the bound rounds to it in the type.
double ErrorFraction(DType type, double actual, double value, double magnitude,
                     const PassTaps& taps);

// Half the distance between neighbouring numbers of the type at |value|; subnormal spacing below
// the smallest normal number, that of the largest numbers beyond the range.
double HalfUnitInLastPlace(DType type, double value);

}  // namespace opscv::reference

#endif  // OPSCV_REFERENCE_BOUND_H_
