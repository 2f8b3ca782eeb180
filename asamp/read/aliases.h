/* SPDX-License-Identifier: MIT */
/*
** Aliases: of numbers that stand for the same thing the one that is used for all.
** A program that loads a template a million times has a million functions of one
** name; the call tree shall have one. Knows nothing but memory.
**
** Pages, for such numbers come one after the other: 4 bytes each. A number that is
** far from all others, of a damaged file, costs one page and no more.
**   AL1  an alias is not looked up again;
**   AL2  at most READER_MAXALIASES places, pages counted whole: what finds none
**        keeps its own number, and 'left' counts it.
*/
#ifndef asamp_aliases_h
#define asamp_aliases_h

#include <stddef.h>
#include <stdint.h>

#include "bounds.h"
#include "idmap.h"

#define ALIASES_PAGE	BOUND(4096u, 4)

/* All zero: none. */
typedef struct Aliases {
  IdMap bypage;       /* number of a page (+ 1) -> where it is in 'pages' */
  uint32_t **pages;   /* 0 in a page: that one has none */
  size_t n, size;     /* pages */
  uint64_t left;      /* AL2 */
} Aliases;

/* The one that stands for n: n itself when it has none. */
static inline uint32_t aliases_of (const Aliases *a, uint32_t n) {
  uint32_t page, alias;
  if (a->n == 0)
    return n;
  page = idmap_get(&a->bypage, (uint64_t)(n / ALIASES_PAGE) + 1);
  if (page == IDMAP_NONE)
    return n;
  alias = a->pages[page][n % ALIASES_PAGE];
  return alias != 0 ? alias : n;
}

/* 'alias' > 0 stands for n from here on. 0 without memory. */
int aliases_set (Aliases *a, uint32_t n, uint32_t alias);
void aliases_free (Aliases *a);

#endif
