/* SPDX-License-Identifier: MIT */
/*
** Table of strings: equal strings have one copy and one number. Invariants:
**
**   ST1  a string's number is the offset in 'text' of its bytes, which a NUL follows; "" has the
**        number 0;
**   ST2  equal strings have equal numbers, different strings different numbers. Exceptions are
**        strings beyond the limit (ST3) and those added after 'failed' is set;
**   ST3  'n' stays within the limit: a string that would exceed it has the number 0 and is counted
**        in 'left'.
*/
#ifndef asamp_strtab_h
#define asamp_strtab_h

#include "idmap.h"

/* A table of distinct strings. */
typedef struct StrTab {
  char *text;        /* moves when a string is added: keep numbers, not pointers */
  uint32_t n, size;  /* bytes of 'text' in use, and allocated */
  uint32_t limit;    /* largest number of bytes of 'text' in use */
  uint64_t left;     /* number of calls of strtab_put with a new string that would exceed 'limit'
                        (ST3) */
  IdMap byhash;      /* from the hash of a string to its number */
  int failed;        /* 1: memory ran out; later strings have the number 0 */
} StrTab;

/*
** Initializes the table; 'limit' is at most 2^30 bytes. Returns 0 if there is not enough memory;
** strtab_free may be called in either case.
*/
int strtab_init (StrTab *t, uint32_t limit);
void strtab_free (StrTab *t);

/* Returns the number of a string in the table, without adding it; IDMAP_NONE if it is not there. */
uint32_t strtab_find (const StrTab *t, const char *s, size_t n);

/*
** Returns the number of the n bytes at 's', cut at their first NUL, and adds them if they are new.
** Returns 0 for a string beyond the limit, or if there is not enough memory ('failed').
*/
uint32_t strtab_put (StrTab *t, const char *s, size_t n);

#endif
