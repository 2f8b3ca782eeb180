/* SPDX-License-Identifier: MIT */
/* Writes and reads decimal fractions with a point in every locale. */
#ifndef asamp_decimal_h
#define asamp_decimal_h

#include <stddef.h>

/* Like snprintf with one double. The rest of the format has no commas and points. At most 399
   bytes. */
__attribute__((format(printf, 3, 0)))
int decimal_print (char *to, size_t size, const char *format, double number);

/* Replaces the locale's decimal point in a number's text by a point. */
void decimal_point (char *number);

/* Like strtod, with "." as the decimal point in every locale. In another locale reads at most
   63 bytes. */
double decimal_read (const char *text, char **end);

#endif
