/* SPDX-License-Identifier: MIT */
/*
** Decimal fractions as text, which have a point in every locale: files and messages must not
** depend on the locale of the program that writes or reads them (LC_NUMERIC).
*/
#ifndef asamp_decimal_h
#define asamp_decimal_h

#include <stddef.h>

/* As snprintf with a format for one double, which has no other commas or points. */
__attribute__((format(printf, 3, 0)))
int decimal_print (char *to, size_t size, const char *format, double number);

/* Replaces the decimal point of the locale in the text of one number. */
void decimal_point (char *number);

/* As strtod. The text of a number has at most 63 bytes. */
double decimal_read (const char *text, char **end);

#endif
