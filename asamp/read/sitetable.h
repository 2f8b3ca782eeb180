/* SPDX-License-Identifier: MIT */
/*
** The site table: totals per site. A site is a node of the call tree and a kind
** of object.
**
** Owns the sites. Knows neither files nor names: nodes and kinds are numbers
** to it.
** Invariants:
**   L1  no two sites have the same node, kind and tag;
**   L2  samples >= survived + undecided in every site, survived >= later, in
**       each unit;
**   L3  there are at most SITETABLE_MAXSITES sites and one for each kind: what
**       would need another is counted at node 0.
*/
#ifndef asamp_sitetable_h
#define asamp_sitetable_h

#include <stddef.h>
#include <stdint.h>

#include "idmap.h"
#include "bounds.h"

typedef struct Site {
  uint32_t node;
  uint32_t kind;
  uint32_t tag;             /* by which sites are told apart besides; 0: by none */
  uint64_t samples;         /* counts added up */
  uint64_t bytes;           /* counts times period; 0 of samples of time */
  uint64_t ns;              /* likewise, of samples of time */
  double time;              /* at the end: these in periods of the first length */
  uint64_t survived;        /* of the samples */
  uint64_t survivedbytes;
  uint64_t later;           /* of those that survived, died later */
  uint64_t laterbytes;
  uint64_t undecided;       /* of the samples */
  uint64_t undecidedbytes;
  /*
  ** Variances, for the error of a difference. Of time the sums of count * count
  ** and of ns * ns: a stack that stands for several periods is one observation. Of bytes the
  ** sum of count * period * period: the points in a block of any size are
  ** independent of each other (interval.h), but periods may differ.
  */
  double timesquares, nssquares;
  double bytesquares;
  double survivedsquares;
  double latersquares;
  double objects;           /* estimate: bytes by the size of each block */
  double kept;              /* of these, not known to have died */
  double life;              /* of objects: the us from their birth to the collection that
                               found them dead, added up; ... */
  double births;            /* ... of those that are kept, when they were born */
} Site;

typedef struct SiteTable {
  Site *sites;
  size_t nsites, sitesize;
  IdMap bykey;              /* node and kind -> index of the site */
  uint64_t left;            /* samples for which L3 was the answer */
} SiteTable;

void sitetable_free (SiteTable *l);

/*
** The index of the site, made when there was none. kind < 2^24.
** SITETABLE_NONE without memory. 'count': what is counted where L3 is the answer.
*/
size_t sitetable_at (SiteTable *l, uint32_t node, uint32_t kind, uint64_t count);

#define SITETABLE_NONE	SIZE_MAX

/* The same, of a tag, below 2^17. */
size_t sitetable_tagged (SiteTable *l, uint32_t node, uint32_t kind, uint32_t tag,
                         uint64_t count);

/* A sample more at the site, of that many bytes. 0 without memory. */
int sitetable_add (SiteTable *l, uint32_t node, uint32_t kind, uint64_t count, uint64_t bytes);

#endif
