/* SPDX-License-Identifier: MIT */
/* Decimal fractions as text (decimal.h). */
#include "decimal.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Returns the locale's decimal point; NULL if it is "." or empty. */
static const char *foreign (void) {
  const char *point = localeconv()->decimal_point;
  return point[0] == '\0' || strcmp(point, ".") == 0 ? NULL : point;
}

void decimal_point (char *number) {
  const char *point = foreign();
  char *at = point != NULL ? strstr(number, point) : NULL;
  if (at == NULL)
    return;
  *at = '.';
  memmove(at + 1, at + strlen(point), strlen(at + strlen(point)) + 1);
}

int decimal_print (char *to, size_t size, const char *format, double number) {
  char text[400];  /* the largest double has 309 digits before the point */
  snprintf(text, sizeof(text), format, number);
  decimal_point(text);
  return snprintf(to, size, "%s", text);
}

double decimal_read (const char *text, char **end) {
  const char *point = foreign(), *start = text;
  size_t n = strspn(text, " \f\n\r\t\v"), before;
  char copy[64 + 16], *stop;
  double number;
  if (point == NULL)
    return strtod(text, end);
  text += n;
  /* the point of 'text' is '.', so the number ends before the locale's point, such as ',' */
  n = strcspn(text, point);
  if (n > 63)
    n = 63;
  before = strcspn(text, ".");
  if (before >= n || strlen(point) > 15)
    snprintf(copy, sizeof(copy), "%.*s", (int)n, text);
  else
    snprintf(copy, sizeof(copy), "%.*s%s%.*s", (int)before, text, point, (int)(n - before - 1),
             text + before + 1);
  number = strtod(copy, &stop);
  n = (size_t)(stop - copy);
  if (before < n)  /* the number contains the point: strlen(point) bytes in 'copy', 1 in 'text' */
    n -= strlen(point) - 1;
  if (end != NULL)
    *end = (char *)(stop != copy ? text + n : start);
  return number;
}
