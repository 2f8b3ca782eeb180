/* SPDX-License-Identifier: MIT */
/*
** Table of totals per site. A site is a node of the call tree, a kind of block, and a tag: the
** number of a combination of Lua state, thread and labels (tags.h). Some tables store other numbers
** in 'node' and 'kind' (readersum.h). Numbers of samples are sums of ReadSample.count: a sample
** that represents n sampling periods counts n times.
**
** Owns the sites. Independent of files and names. Invariants:
**
**   L1  no two sites have the same node, kind and tag;
**   L2  in every site, samples >= survived + undecided and survived >= later; the same is true of
**       the fields with the bytes of these samples;
**   L3  there are at most SITETABLE_MAXSITES sites, except that sites of node 0 may be added beyond
**       the limit. A sample that would need another site counts at the site of node 0, tag 0 and
**       its kind.
*/
#ifndef asamp_sitetable_h
#define asamp_sitetable_h

#include <stddef.h>
#include <stdint.h>

#include "idmap.h"
#include "bounds.h"

/* Totals over the samples of a site: those with one node of the call tree, kind of block and
   tag. */
typedef struct Site {
  uint32_t node;
  uint32_t kind;
  uint32_t tag;             /* number of the samples' combination of Lua state, thread and labels
                               (tags.h); 0: none */
  uint64_t samples;         /* sum of ReadSample.count over all samples with this node,
                               kind and tag */
  uint64_t bytes;           /* bytes that the samples represent; 0 for time samples */
  uint64_t ns;              /* ns of run time that the time samples with this node
                               represent */
  /* Number of sampling periods that the time samples represent. If this period has changed, as a
     multiple of the first period. Set by readersum_finish. */
  double time;
  uint64_t survived;        /* sum of ReadSample.count over the survivors */
  uint64_t survivedbytes;   /* bytes that the survivors represent */
  uint64_t later;           /* sum of ReadSample.count over the survivors that died later */
  uint64_t laterbytes;      /* bytes that the survivors which died later represent */
  uint64_t undecided;       /* sum of ReadSample.count over the samples whose survival no collection
                               has decided */
  uint64_t undecidedbytes;  /* bytes that the samples of 'undecided' represent */
  /*
  ** Estimated variances of other fields, for the error of a difference between two profiles.
  **
  ** For time samples, 'timesquares' is the variance of 'samples', the sum of count * count, and
  ** 'nssquares' is the variance of 'ns', the sum of ns * ns. A sample that represents several
  ** periods is one observation, so its whole value is squared.
  **
  ** For allocation samples, the three other fields are the variances of 'bytes', 'survivedbytes'
  ** and 'laterbytes', the sums of count * period * period. The sample points in a block are
  ** independent observations (interval.h), and the period may change.
  */
  double timesquares, nssquares;
  double bytesquares;
  double survivedsquares;
  double latersquares;
  /* Estimated number of allocated blocks: the sum, over the samples, of the bytes that the sample
     represents divided by the size of its block. */
  double objects;
  double kept;              /* estimated number of blocks that are not known to have died */
  /* Sum of the lives, in us, of the estimated blocks that died. A life is the time from the
     allocation to the collection that found the block dead. */
  double life;
  double births;            /* sum of the allocation times, in us, of the blocks in 'kept' */
} Site;

/* The table of totals. All zero: empty. */
typedef struct SiteTable {
  Site *sites;              /* one for each combination of node, kind and tag that has samples */
  size_t nsites, sitesize;  /* number of elements of 'sites', capacity */
  IdMap bykey;              /* maps node, kind and tag to an index in 'sites' */
  uint64_t left;            /* sum of ReadSample.count over the samples that count at node 0,
                               because another site would exceed SITETABLE_MAXSITES (L3) */
} SiteTable;

/* Frees the totals; the table is then empty. */
void sitetable_free (SiteTable *l);

/*
** Returns the index of the site with that node, kind (below 2^24) and tag 0 (not distinguished by
** state, thread and labels), and creates the site if needed. Returns SITETABLE_NONE if there is not
** enough memory. If there are SITETABLE_MAXSITES sites (L3), adds 'count' to 'left' and returns the
** index of a site of node 0. The address of a site may change when the next site is created.
*/
size_t sitetable_at (SiteTable *l, uint32_t node, uint32_t kind, uint64_t count);

#define SITETABLE_NONE	SIZE_MAX

/* As sitetable_at, for the site with that tag (tags.h), which must be below 2^17. */
size_t sitetable_tagged (SiteTable *l, uint32_t node, uint32_t kind, uint32_t tag,
                         uint64_t count);

/*
** Adds 'count' samples and 'bytes' bytes to the site with that node, kind and tag 0. Returns 0 if
** there is not enough memory.
*/
int sitetable_add (SiteTable *l, uint32_t node, uint32_t kind, uint64_t count, uint64_t bytes);

#endif
