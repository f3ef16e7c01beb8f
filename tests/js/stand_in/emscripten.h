/* Of emscripten's header, what js/engine.c needs to be compiled by any compiler (js.engine). SPDX-License-Identifier: BSD-3-Clause */
#define EM_JS(type, name, parameters, ...) type name parameters
