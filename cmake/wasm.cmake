# Included after project() in builds with emscripten (tools/wasm.sh). SPDX-License-Identifier: BSD-3-Clause
#
# Shared libraries are not built here; without this line CMake would make static ones of the same name.
set_property(GLOBAL PROPERTY TARGET_SUPPORTS_SHARED_LIBS TRUE)
