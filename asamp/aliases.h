/* SPDX-License-Identifier: MIT */
/*
** Aliases: of numbers that stand for the same thing the one that is used for all.
** A program that loads a template a million times has a million functions of one
** name; the call tree shall have one. Knows nothing but memory.
**
** A vector in pages, for such numbers come one after the other: 4 bytes each.
**   AL1  an alias is not looked up again;
**   AL2  at most READER_MAXALIASES places, pages counted whole: what finds none
**        keeps its own number, and 'left' counts it.
*/
#ifndef asamp_aliases_h
#define asamp_aliases_h

#include <stddef.h>
#include <stdint.h>

#include "bounds.h"

#define ALIASES_PAGE	BOUND(4096u, 4)

/* All zero: none. */
typedef struct Aliases {
  uint32_t **pages;   /* NULL: nothing in it has one; 0 in a page likewise */
  size_t npages;      /* of the vector */
  size_t used;        /* pages that are there */
  uint64_t left;      /* AL2 */
} Aliases;

/* The one that stands for n: n itself when it has none. */
static inline uint32_t aliases_of (const Aliases *a, uint32_t n) {
  size_t page = n / ALIASES_PAGE;
  uint32_t alias = 0;
  if (page < a->npages && a->pages[page] != NULL)
    alias = a->pages[page][n % ALIASES_PAGE];
  return alias != 0 ? alias : n;
}

/* 'alias' > 0 stands for n from here on. 0 without memory. */
int aliases_set (Aliases *a, uint32_t n, uint32_t alias);
void aliases_free (Aliases *a);

#endif
