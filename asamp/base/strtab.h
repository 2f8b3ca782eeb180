/* SPDX-License-Identifier: MIT */
/*
** Table of strings: equal strings have one copy and one number. Depends only on memory.
** Invariants:
**
**   ST1  a string's number is the offset of its bytes in 'text', followed by a NUL; "" has the
**        number 0;
**   ST2  equal strings have equal numbers, different strings different numbers;
**   ST3  'n' stays within the limit: a string beyond it has the number 0 and is counted in
**        'left'.
*/
#ifndef asamp_strtab_h
#define asamp_strtab_h

#include "idmap.h"

/* The table. */
typedef struct StrTab {
  char *text;        /* moves when a string is added: keep numbers, not pointers */
  uint32_t n, size;  /* bytes in use, allocated */
  uint32_t limit;
  uint64_t left;     /* strings beyond the limit (ST3) */
  IdMap byhash;
  int failed;        /* 1: memory ran out; later strings become "" */
} StrTab;

/* Initializes the table. Returns 0 if there is not enough memory. limit <= 2^30 bytes. */
int strtab_init (StrTab *t, uint32_t limit);
void strtab_free (StrTab *t);

/* Returns the number of that string, or IDMAP_NONE. */
uint32_t strtab_find (const StrTab *t, const char *s, size_t n);

/* Adds the n bytes at 's', truncated at their first NUL, and returns their number. */
uint32_t strtab_put (StrTab *t, const char *s, size_t n);

#endif
