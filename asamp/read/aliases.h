/* SPDX-License-Identifier: MIT */
/*
** Maps function numbers to the number of the first function with the same name. A program may load
** the same code a million times; in the call tree it is one function. The map is an array in pages,
** so that a huge number in a damaged file costs only one page.
**
**   AL1  if each function of the file has one name, an alias has no alias itself, so one lookup in
**        aliases_of is enough;
**   AL2  the pages have at most READER_MAXALIASES entries; further numbers are counted in 'left'.
*/
#ifndef asamp_aliases_h
#define asamp_aliases_h

#include <stddef.h>
#include <stdint.h>

#include "bounds.h"
#include "idmap.h"

#define ALIASES_PAGE	BOUND(4096u, 4)  /* function numbers per array in Aliases.pages */

/* The map. If all bytes are 0, it is empty. */
typedef struct Aliases {
  IdMap bypage;       /* maps page numbers (function number / ALIASES_PAGE) + 1 to indexes in
                         'pages' */
  uint32_t **pages;   /* arrays of ALIASES_PAGE elements. Element n % ALIASES_PAGE of an array is
                         the alias of function number n; 0: none. */
  size_t n, size;     /* number of pages, capacity of 'pages' */
  uint64_t left;      /* number of aliases not stored, because the arrays had READER_MAXALIASES
                         elements (AL2) */
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

/* Makes 'alias' (not 0), the number of an earlier function with the same name, represent function
   number n. If n needs a new page, but the pages have READER_MAXALIASES entries, only counts the
   function in 'left'. Returns 0 if out of memory. */
int aliases_set (Aliases *a, uint32_t n, uint32_t alias);
/* Frees the memory of the map. The map is then empty. */
void aliases_free (Aliases *a);

#endif
