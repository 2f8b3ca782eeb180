/* SPDX-License-Identifier: MIT */
/*
** Table of totals per site. A site is a call tree node, a kind of block, and a tag for Lua state,
** thread and labels (tags.h). Some tables store other numbers in 'node' and 'kind' (readersum.h).
**
**   L1  no two sites have the same node, kind and tag;
**   L2  samples >= survived + undecided and survived >= later, also in bytes;
**   L3  at most SITETABLE_MAXSITES sites; further samples count at the site of node 0, tag 0 and
**       their kind.
*/
#ifndef asamp_sitetable_h
#define asamp_sitetable_h

#include <stddef.h>
#include <stdint.h>

#include "idmap.h"
#include "bounds.h"

/* Totals of the samples of a site. */
typedef struct Site {
  uint32_t node;
  uint32_t kind;
  uint32_t tag;             /* number that represents Lua state, thread and labels (tags.h) */
  uint64_t samples;         /* number of sampling periods of the samples */
  uint64_t bytes;           /* bytes of allocation samples */
  uint64_t ns;              /* ns of time samples */
  /* 'ns' in units of the profile's first period of time samples. Set by readersum_finish. */
  double time;
  uint64_t survived;        /* number of sampling periods of the survivors */
  uint64_t survivedbytes;   /* bytes of survivors */
  uint64_t later;           /* number of sampling periods of the survivors that died later */
  uint64_t laterbytes;      /* bytes of survivors that died later */
  uint64_t undecided;       /* number of sampling periods of the samples whose survival was never
                               decided */
  uint64_t undecidedbytes;  /* bytes of samples whose survival was never decided */
  /*
  ** Estimated variances, for the error of a difference between two profiles: 'timesquares' of the
  ** number of time samples, 'nssquares' of 'ns', 'bytesquares' of 'bytes', 'survivedsquares' of
  ** 'survivedbytes', 'latersquares' of 'laterbytes'.
  **
  ** A time sample adds count^2 to the first and ns^2 to the second. An allocation sample adds count
  ** * period^2, because it has 'count' independent sample points.
  */
  double timesquares, nssquares;
  double bytesquares;
  double survivedsquares;
  double latersquares;
  /* Estimated number of allocated blocks: each sample adds (bytes that it represents) / (size of
     its block). */
  double objects;
  double kept;              /* estimated number of blocks whose death is not recorded */
  /* Estimated sum of the lifetimes of all blocks whose death is recorded, us. */
  double life;
  double births;            /* sum of the times at which the blocks of 'kept' were allocated, us */
} Site;

/* The table. If all bytes are 0, it is empty. */
typedef struct SiteTable {
  Site *sites;              /* all sites that have samples */
  size_t nsites, sitesize;  /* number of sites, capacity */
  IdMap bykey;              /* maps node, kind and tag of a site to its index in 'sites' */
  uint64_t left;            /* number of sampling periods of the samples that are counted at node 0
                               instead of their own node, because the table is full */
} SiteTable;

/* Frees the memory of the table. The table is then empty. */
void sitetable_free (SiteTable *l);

/* Returns the index of the site of a node and a kind (below 2^24), with tag 0; creates it if
   needed. If the table is full, adds 'count' to 'left' and returns the site of node 0. Returns
   SITETABLE_NONE if out of memory. A new site may move the others. */
size_t sitetable_at (SiteTable *l, uint32_t node, uint32_t kind, uint64_t count);

#define SITETABLE_NONE	SIZE_MAX

/* Like sitetable_at, for the site with the given tag, which is below 2^17. */
size_t sitetable_tagged (SiteTable *l, uint32_t node, uint32_t kind, uint32_t tag,
                         uint64_t count);

/* Adds 'count' samples of 'bytes' bytes to a site with tag 0. Returns 0 if out of memory. */
int sitetable_add (SiteTable *l, uint32_t node, uint32_t kind, uint64_t count, uint64_t bytes);

#endif
