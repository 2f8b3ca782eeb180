/* SPDX-License-Identifier: MIT */
/*
** Table of strings: equal strings have one copy and one number.
**
**   ST1  a string's number is the offset of its bytes in 'text'. A NUL follows the bytes. The
**        number of "" is 0;
**   ST2  equal strings have equal numbers, different ones different numbers, except beyond the
**        limit or after 'failed';
**   ST3  a string that would exceed the limit has the number 0 and is counted in 'left'.
*/
#ifndef asamp_strtab_h
#define asamp_strtab_h

#include "idmap.h"

/* A table of distinct strings. */
typedef struct StrTab {
  char *text;        /* the strings, NUL-terminated; the buffer may move when one is added */
  uint32_t n, size;  /* n: used bytes of 'text'. size: capacity of 'text', bytes. */
  uint32_t limit;    /* largest number of bytes of 'text' */
  uint64_t left;     /* number of strings not stored because of the limit */
  IdMap byhash;      /* maps hashes of strings to their numbers */
  int failed;        /* 1: memory has run out; strtab_put always returns 0 */
} StrTab;

/* Initializes the table; 'limit' <= 2^30 bytes. Returns 0 if out of memory; strtab_free may be
   called in either case. */
int strtab_init (StrTab *t, uint32_t limit);
void strtab_free (StrTab *t);

/* Returns the number of a string of n bytes, cut at a NUL; IDMAP_NONE: the table does not have
   it. */
uint32_t strtab_find (const StrTab *t, const char *s, size_t n);

/* Returns the number of a string of n bytes, cut at a NUL; adds it if needed. Returns 0 beyond the
   limit or if out of memory. */
uint32_t strtab_put (StrTab *t, const char *s, size_t n);

#endif
