# Toolchain file: cross compilation for Linux on arm64. SPDX-License-Identifier: BSD-3-Clause
# Debian: gcc-aarch64-linux-gnu; to run what is built: qemu-user-static. KINDRED_SYSROOT is a folder with libraries for arm64, as
# tools/package/sysroot.sh makes.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(KINDRED_SYSROOT "" CACHE PATH "Libraries for arm64")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES KINDRED_SYSROOT)
set(CMAKE_FIND_ROOT_PATH /usr/aarch64-linux-gnu ${KINDRED_SYSROOT})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
find_program(KINDRED_QEMU qemu-aarch64-static)
if(KINDRED_QEMU)
  set(CMAKE_CROSSCOMPILING_EMULATOR ${KINDRED_QEMU})
endif()
