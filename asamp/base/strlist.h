/* SPDX-License-Identifier: MIT */
/*
** List of distinct strings, for file formats with a table of strings. Depends only on memory. A
** string's index is the number of strings added before it; 0 after memory ran out ('failed').
*/
#ifndef asamp_strlist_h
#define asamp_strlist_h

#include "strtab.h"

/* The list. */
typedef struct StrList {
  StrTab strings;
  IdMap index;         /* maps the number of a string (+ 1) to its index */
  uint32_t *numbers;   /* numbers of the strings, by index */
  uint32_t n;
  size_t size;
  int failed;
} StrList;

/*
** Initializes the list. Returns 0 if there is not enough memory. 'limit': bytes of all strings;
** strings beyond it become "".
*/
int strlist_init (StrList *l, uint32_t limit);
void strlist_free (StrList *l);

uint32_t strlist_put (StrList *l, const char *text, size_t n);
/* Returns the string with that index; valid until the next strlist_put. */
const char *strlist_get (const StrList *l, uint32_t index);

#endif
