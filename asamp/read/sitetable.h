/* SPDX-License-Identifier: MIT */
/*
** Table of totals per site. A site is a node of the call tree, a kind and a tag. Some tables store
** other numbers in 'node' and 'kind' (readersum.h).
**
** Owns the sites. Independent of files and names. Invariants:
**
**   L1  no two sites have the same node, kind and tag;
**   L2  samples >= survived + undecided in every site, survived >= later, and so with bytes;
**   L3  there are at most SITETABLE_MAXSITES sites plus those of node 0: samples beyond the limit
**       count at node 0 and tag 0 of their kind.
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
  uint32_t tag;             /* number of a tag (tags.h); 0: none */
  uint64_t samples;         /* samples, in periods */
  uint64_t bytes;           /* bytes that the samples represent; 0 for time samples */
  uint64_t ns;              /* ns that time samples represent */
  double time;              /* time samples in periods, converted to the first period if the period
			       changed; set by readersum_finish */
  uint64_t survived;        /* samples that survived, in periods */
  uint64_t survivedbytes;   /* bytes that these samples represent */
  uint64_t later;           /* survivors that died later, in periods */
  uint64_t laterbytes;      /* bytes that these survivors represent */
  uint64_t undecided;       /* undecided samples, in periods */
  uint64_t undecidedbytes;  /* bytes that these samples represent */
  /*
  ** Estimated variances, for the error of a difference between two profiles. 'timesquares' and
  ** 'nssquares' are of 'samples' and 'ns' of time samples: the sums of count * count and ns * ns,
  ** because a stack that represents several periods is one observation. The others are of 'bytes',
  ** 'survivedbytes' and 'laterbytes': the sums of count * period * period, because the sample
  ** points in a block are independent (interval.h), but periods may differ.
  */
  double timesquares, nssquares;
  double bytesquares;
  double survivedsquares;
  double latersquares;
  double objects;           /* estimated number of allocated blocks: the sum over the samples of the
			       bytes that they represent divided by the size of the block */
  double kept;              /* estimated number of blocks that are not known to have died */
  double life;              /* sum of the lives, in us, of the estimated blocks that died: the times
			       from the allocation to the collection that found the block dead */
  double births;            /* sum of the allocation times, in us, of the blocks in 'kept' */
} Site;

/* The table. All zero: empty. */
typedef struct SiteTable {
  Site *sites;
  size_t nsites, sitesize;  /* number of sites, capacity */
  IdMap bykey;              /* maps node, kind and tag to the index of the site */
  uint64_t left;            /* samples counted at node 0 because of the limit (L3), in periods */
} SiteTable;

/* Frees the sites; the table is then empty. */
void sitetable_free (SiteTable *l);

/*
** Returns the index of the site with that node, kind (below 2^24) and tag 0, and makes it if
** needed. Returns SITETABLE_NONE if there is not enough memory. Beyond the limit adds 'count' to
** 'left' and returns a site of node 0 (L3). The address of a site may change when the next site is
** made.
*/
size_t sitetable_at (SiteTable *l, uint32_t node, uint32_t kind, uint64_t count);

#define SITETABLE_NONE	SIZE_MAX

/* As sitetable_at, with a tag below 2^17. */
size_t sitetable_tagged (SiteTable *l, uint32_t node, uint32_t kind, uint32_t tag,
                         uint64_t count);

/*
** Adds 'count' samples and 'bytes' bytes to the site with that node, kind and tag 0. Returns 0 if
** there is not enough memory.
*/
int sitetable_add (SiteTable *l, uint32_t node, uint32_t kind, uint64_t count, uint64_t bytes);

#endif
