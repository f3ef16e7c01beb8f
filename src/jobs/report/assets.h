/* report/, compiled in. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_ASSETS_H
#define KDRI_ASSETS_H

#include <stddef.h>

extern const char kdri_page_script[], kdri_page_style[];
extern const size_t kdri_page_script_size, kdri_page_style_size;

#endif
