/* SPDX-License-Identifier: MIT */
/* List of distinct strings, for formats with a table of strings: a string's index is the number
   of strings before it. */
#ifndef asamp_strlist_h
#define asamp_strlist_h

#include "strtab.h"

/* A list of distinct strings. */
typedef struct StrList {
  StrTab strings;
  IdMap index;         /* maps 1 + a string's number in 'strings' to its index in the list */
  uint32_t *numbers;   /* for each index in the list: the string's number in 'strings' */
  uint32_t n;          /* number of strings */
  size_t size;         /* capacity of 'numbers' */
  int failed;          /* 1: there was not enough memory for a string */
} StrList;

/* Initializes the list. If a new string would give the list more than 'limit' bytes, it becomes "".
   Returns 0 if out of memory; strlist_free may be called in either case. */
int strlist_init (StrList *l, uint32_t limit);
void strlist_free (StrList *l);

/* Returns the index of a string of n bytes, cut at a NUL; adds it if needed. Returns 0 if out of
   memory. */
uint32_t strlist_put (StrList *l, const char *text, size_t n);
/* Returns the string at an index, valid until the next strlist_put. */
const char *strlist_get (const StrList *l, uint32_t index);

#endif
