/* SPDX-License-Identifier: MIT */
/* Writes and reads decimal fractions with a point in every locale. */
#ifndef asamp_decimal_h
#define asamp_decimal_h

#include <stddef.h>

/* Like snprintf with one double, but with "." as the decimal point in every locale. The text around
   the number must have no comma and no point (decimal_point). The result is cut after 399 bytes. */
__attribute__((format(printf, 3, 0)))
int decimal_print (char *to, size_t size, const char *format, double number);

/* Replaces the first decimal point of the locale in a text by ".". */
void decimal_point (char *number);

/* Like strtod, but with "." as the decimal point in every locale. In a locale with a decimal point
   other than ".", reads at most 63 bytes of the number. */
double decimal_read (const char *text, char **end);

#endif
