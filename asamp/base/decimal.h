/* SPDX-License-Identifier: MIT */
/*
** Decimal fractions as text with a point in every locale: files and messages must not depend on
** the locale of the program that writes or reads them (LC_NUMERIC).
*/
#ifndef asamp_decimal_h
#define asamp_decimal_h

#include <stddef.h>

/*
** Like snprintf with a format for one double, whose other characters are neither commas nor points.
** The text has at most 399 bytes.
*/
__attribute__((format(printf, 3, 0)))
int decimal_print (char *to, size_t size, const char *format, double number);

/* Replaces the locale's decimal point in the text of one number by a point. */
void decimal_point (char *number);

/*
** Like strtod, except that with another decimal point than "." at most 63 bytes are read, and that
** *end is after leading spaces if there is no number.
*/
double decimal_read (const char *text, char **end);

#endif
