/* SPDX-License-Identifier: MIT */
/*
** Aliases: a map from the numbers of functions with the same name to the number of the first one. A
** program that loads a template a million times has a million functions with one name; the call
** tree has only one function for them. Independent of the rest of the reader.
**
** The map is an array in pages, 4 bytes for each number, because the numbers of a file are
** consecutive. A number far from all others, in a damaged file, costs only one page. Invariants:
**
**   AL1  aliases_of replaces a number once: it ignores an alias of the alias;
**   AL2  the pages have at most READER_MAXALIASES entries. A number on a further page has no alias,
**        and is counted in 'left'.
*/
#ifndef asamp_aliases_h
#define asamp_aliases_h

#include <stddef.h>
#include <stdint.h>

#include "bounds.h"
#include "idmap.h"

#define ALIASES_PAGE	BOUND(4096u, 4)  /* function numbers per page */

/* The aliases of a file. All zero: none. */
typedef struct Aliases {
  IdMap bypage;       /* maps the numbers of pages (+ 1) to their indexes in 'pages' */
  uint32_t **pages;   /* the pages; each has the alias of ALIASES_PAGE function numbers, or 0 for a
                         number without an alias */
  size_t n, size;     /* number of pages, capacity of 'pages' */
  uint64_t left;      /* number of calls of aliases_set that stored no alias, because the function
                         number is on a further page and the pages have reached READER_MAXALIASES
                         entries (AL2) */
} Aliases;

/* Returns the alias of function number n; n itself if it has no alias. */
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

/*
** Makes 'alias', which must not be 0, the alias of function number n. Does not store it, but counts
** it in 'left', if a further page would exceed the limit (AL2). Returns 0 if there is not enough
** memory.
*/
int aliases_set (Aliases *a, uint32_t n, uint32_t alias);
/* Frees all pages; there are then no aliases. */
void aliases_free (Aliases *a);

#endif
