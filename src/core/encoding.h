/* Bytes to valid UTF-8: utf8.c. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_ENCODING_H
#define KDRI_ENCODING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

bool kdri_utf8_valid(const char *text, size_t length);
/* Writes the UTF-8 of `text` read as Windows-1252 (a superset of the printable part of Latin-1);
 * `out` needs 3 x length bytes. Returns how many were written. */
size_t kdri_decode_1252(const char *text, size_t length, char *out);
/* The character Windows-1252 has at a byte from 0x80 to 0x9f. */
uint32_t kdri_1252(unsigned char byte);
/* Writes 1 to 4 bytes; what is no character becomes U+FFFD. */
size_t kdri_utf8_put(uint32_t character, char *out);

#endif
