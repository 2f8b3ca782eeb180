/* SPDX-License-Identifier: MIT */
/*
** Table of totals per site. A site is a node of the call tree and a kind of object.
**
** Owns the sites. Independent of files and names: nodes and kinds are numbers. Invariants:
**
**   L1  no two sites have the same node, kind and tag;
**   L2  samples >= survived + undecided in every site, survived >= later, in each unit;
**   L3  there are at most SITETABLE_MAXSITES sites plus one for each kind: samples beyond the
**       limit count at node 0.
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
  uint32_t tag;             /* additional distinction of sites; 0: none */
  uint64_t samples;         /* in periods */
  uint64_t bytes;           /* periods times their length; 0 for time samples */
  uint64_t ns;              /* periods times their length, for time samples */
  double time;              /* at the end: the same in periods of the first length */
  uint64_t survived;        /* of the samples */
  uint64_t survivedbytes;
  uint64_t later;           /* of the survivors: died later */
  uint64_t laterbytes;
  uint64_t undecided;       /* of the samples */
  uint64_t undecidedbytes;
  /*
  ** Variances, for the error of a difference. Of time: the sums of count * count and of ns *
  ** ns, because a stack that represents several periods is one observation. Of bytes: the sum
  ** of count * period * period, because the sample points in a block are independent
  ** (interval.h), but periods may differ.
  */
  double timesquares, nssquares;
  double bytesquares;
  double survivedsquares;
  double latersquares;
  double objects;           /* estimated number of allocated blocks: the sum over samples of their
			       bytes divided by the size of the block */
  double kept;              /* the same for the samples that are not known to have died */
  double life;              /* sum over dead objects of the us from their allocation to the
			       collection that found them dead */
  double births;            /* sum over the kept objects of their allocation times */
} Site;

typedef struct SiteTable {
  Site *sites;
  size_t nsites, sitesize;
  IdMap bykey;              /* maps node and kind to the index of the site */
  uint64_t left;            /* samples counted at node 0 (L3) */
} SiteTable;

void sitetable_free (SiteTable *l);

/*
** Returns the index of the site, made if needed; kind < 2^24. Returns SITETABLE_NONE if there is
** not enough memory. 'count': samples to count in 'left' beyond the limit (L3).
*/
size_t sitetable_at (SiteTable *l, uint32_t node, uint32_t kind, uint64_t count);

#define SITETABLE_NONE	SIZE_MAX

/* The same with a tag below 2^17. */
size_t sitetable_tagged (SiteTable *l, uint32_t node, uint32_t kind, uint32_t tag,
                         uint64_t count);

/* Adds a sample of 'bytes' bytes to the site. Returns 0 if there is not enough memory. */
int sitetable_add (SiteTable *l, uint32_t node, uint32_t kind, uint64_t count, uint64_t bytes);

#endif
