/* SPDX-License-Identifier: MIT */
/*
** A table of strings: equal strings have one copy and one number. Knows
** nothing but memory.
** Invariants:
**   ST1  a string's number is the offset of its bytes in 'text', where a NUL
**        follows it; "" has the number 0;
**   ST2  equal strings have equal numbers, different ones different numbers;
**   ST3  'n' stays within the limit given: what would go beyond has the
**        number 0, and 'left' counts it.
*/
#ifndef asamp_strtab_h
#define asamp_strtab_h

#include "idmap.h"

typedef struct StrTab {
  char *text;        /* moves when a string is added: keep numbers */
  uint32_t n, size;  /* bytes in use, allocated */
  uint32_t limit;
  uint64_t left;     /* strings left out, see ST3 */
  IdMap byhash;
  int failed;        /* 1: memory ran out; later strings are "" */
} StrTab;

/* 0 without memory. limit <= 2^30 bytes. */
int strtab_init (StrTab *t, uint32_t limit);
void strtab_free (StrTab *t);

/* The number of that string, or IDMAP_NONE. */
uint32_t strtab_find (const StrTab *t, const char *s, size_t n);

/* The number of the n bytes at 's', which are cut at their first NUL. */
uint32_t strtab_put (StrTab *t, const char *s, size_t n);

#endif
