/* SPDX-License-Identifier: MIT */
/*
** A list of strings, each in it once: what file formats with a table of
** strings want. Knows nothing but memory. A string's index is the number of
** strings that were put before it; once memory is out ('failed'), it is 0.
*/
#ifndef asamp_strlist_h
#define asamp_strlist_h

#include "strtab.h"

typedef struct StrList {
  StrTab strings;
  IdMap index;         /* number of a string (+ 1) -> its index */
  uint32_t *numbers;   /* of the strings, by index */
  uint32_t n;
  size_t size;
  int failed;
} StrList;

/* 0 without memory. 'limit': bytes of all strings; beyond it they are "". */
int strlist_init (StrList *l, uint32_t limit);
void strlist_free (StrList *l);

uint32_t strlist_put (StrList *l, const char *text, size_t n);
/* The string at the index; holds until the next put. */
const char *strlist_get (const StrList *l, uint32_t index);

#endif
