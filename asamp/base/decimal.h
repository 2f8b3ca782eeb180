/* SPDX-License-Identifier: MIT */
/*
** Writes and reads decimal fractions with a point in every locale, because files and messages must
** not depend on the locale (LC_NUMERIC) of the program that writes or reads them.
*/
#ifndef asamp_decimal_h
#define asamp_decimal_h

#include <stddef.h>

/*
** Like snprintf with a format for one double. The other characters of the format must be neither
** commas nor points. The text has at most 399 bytes.
*/
__attribute__((format(printf, 3, 0)))
int decimal_print (char *to, size_t size, const char *format, double number);

/* Replaces the locale's decimal point in the text of one number by a point. */
void decimal_point (char *number);

/* Like strtod, but accepts "." as the decimal point in every locale. If the locale has another
   decimal point, reads at most 63 bytes of 'text'. */
double decimal_read (const char *text, char **end);

#endif
