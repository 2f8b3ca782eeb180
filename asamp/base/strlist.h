/* SPDX-License-Identifier: MIT */
/*
** List of distinct strings, for file formats with a table of strings. The index of a string is the
** number of different strings that were added before it.
*/
#ifndef asamp_strlist_h
#define asamp_strlist_h

#include "strtab.h"

/* A list of distinct strings. */
typedef struct StrList {
  StrTab strings;
  IdMap index;         /* maps the number of a string in 'strings', plus 1, to its index */
  uint32_t *numbers;   /* numbers of the strings in 'strings', by index */
  uint32_t n;          /* number of strings */
  size_t size;         /* capacity of 'numbers' */
  int failed;          /* 1: memory ran out; the indexes of later strings are 0 */
} StrList;

/*
** Initializes the list. 'limit' is the largest number of bytes of all strings: a string beyond it
** becomes "". Returns 0 if there is not enough memory; strlist_free may be called in either case.
*/
int strlist_init (StrList *l, uint32_t limit);
void strlist_free (StrList *l);

/*
** Returns the index of the string of n bytes at 'text', cut at its first NUL, and adds it if it is
** new. Returns 0 if there is not enough memory ('failed').
*/
uint32_t strlist_put (StrList *l, const char *text, size_t n);
/* Returns the string with an index that strlist_put returned; valid until the next strlist_put. */
const char *strlist_get (const StrList *l, uint32_t index);

#endif
