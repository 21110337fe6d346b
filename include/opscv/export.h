// SPDX-License-Identifier: Apache-2.0
// Marks what the shared library shows to its users.
#ifndef OPSCV_EXPORT_H_
#define OPSCV_EXPORT_H_

#define OPSCV_API __attribute__((visibility("default")))

#endif  // OPSCV_EXPORT_H_
