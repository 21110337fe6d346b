# SPDX-License-Identifier: Apache-2.0
# Cross build for 64-bit Arm with Debian's cross compiler; tests run under QEMU's user emulation.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
# Without -L: loader and libraries are those of libc6:arm64. The cross compiler's own are an earlier
# build, and one's loader with the other's library hangs where the first thread begins.
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64)
