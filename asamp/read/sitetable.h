/* SPDX-License-Identifier: MIT */
/*
** Table of totals per site. A site is a call tree node, a kind of block, and a tag, which
** represents Lua state, thread and labels (tags.h). Some tables store other numbers in 'node' and
** 'kind' (readersum.h).
**
**   L1  no two sites have the same node, kind and tag;
**   L2  samples >= survived + undecided and survived >= later, where 'later' counts the survivors
**       that died later; the same holds for bytes;
**   L3  at most SITETABLE_MAXSITES sites, and one more for each kind: a further sample counts at
**       the site of its kind with node 0 and tag 0.
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
  uint64_t samples;         /* number of sampling periods that the samples represent */
  uint64_t bytes;           /* bytes that the allocation samples represent */
  uint64_t ns;              /* time that the time samples represent, ns */
  /* 'ns' divided by the profile's first period of time samples. Set by readersum_finish. */
  double time;
  uint64_t survived;        /* number of sampling periods that the samples of survivors represent */
  uint64_t survivedbytes;   /* bytes that the samples of survivors represent */
  /* number of sampling periods that the samples of survivors that died later represent */
  uint64_t later;
  uint64_t laterbytes;      /* bytes that the samples of survivors that died later represent */
  /* number of sampling periods that the samples with unknown survival represent */
  uint64_t undecided;
  uint64_t undecidedbytes;  /* bytes that the samples with unknown survival represent */
  /* Estimated variances: 'timesquares' of the number of time samples, 'nssquares' of 'ns'. They
     give the error of a difference between two profiles. A time sample adds count^2 to
     'timesquares' and the square of its ns to 'nssquares'. */
  double timesquares, nssquares;
  /* Estimated variance of 'bytes'. An allocation sample adds count * period^2, because it has
     'count' independent sample points. */
  double bytesquares;
  double survivedsquares;   /* estimated variance of 'survivedbytes' */
  double latersquares;      /* estimated variance of 'laterbytes' */
  /* Estimated number of allocated blocks: each sample adds (bytes that it represents) / (size of
     its block). */
  double objects;
  double kept;              /* estimated number of blocks whose death the file does not record */
  /* Estimated sum of the lifetimes of all blocks whose death the file records, us. */
  double life;
  /* Sum of the times, us since the start, at which the blocks counted in 'kept' were allocated.
     kept * (end of the profile) - births is the sum of the ages of these blocks at the end. */
  double births;
} Site;

/* The table. If all bytes are 0, it is empty. */
typedef struct SiteTable {
  /* The sites that have samples. A site is a call tree node, a kind of block and a tag (a number
     for Lua state, thread and labels). */
  Site *sites;
  size_t nsites, sitesize;  /* number of sites, capacity */
  /* maps the node, kind and tag (Site.tag) of a site to its index in 'sites' */
  IdMap bykey;
  uint64_t left;            /* number of sampling periods that are counted at node 0 instead of the
                               sample's node, because the table is full */
} SiteTable;

/* Frees the memory of the table. The table is then empty. */
void sitetable_free (SiteTable *l);

/* Returns the index of the site with this node, kind (below 2^24) and tag 0; creates the site if
   needed, which may move the other sites in memory. If the table is full, adds 'count' (sampling
   periods) to 'left' and returns the site of node 0. Returns SITETABLE_NONE if out of memory. */
size_t sitetable_at (SiteTable *l, uint32_t node, uint32_t kind, uint64_t count);

#define SITETABLE_NONE	SIZE_MAX

/* Returns the index of the site with this node, kind and tag, like sitetable_at, which uses tag 0.
   'tag' represents a combination of Lua state, thread and labels (tags.h) and is below 2^17. */
size_t sitetable_tagged (SiteTable *l, uint32_t node, uint32_t kind, uint32_t tag, uint64_t count);

/* Adds 'count' sampling periods, which represent 'bytes' bytes, to a site with tag 0. Returns 0 if
   out of memory. */
int sitetable_add (SiteTable *l, uint32_t node, uint32_t kind, uint64_t count, uint64_t bytes);

#endif
