/* SPDX-License-Identifier: MIT */
/*
** The ledger: samples in, totals per site out. A site is a node of the call
** tree and a kind of object.
**
** Owns the sites and the queue of samples whose fate is open. Knows neither
** files nor names: nodes and kinds are numbers to it.
** Invariants:
**   L1  every sample is counted in one site, once: when its fate is told,
**       when it leaves the queue without one, or when the queue is closed;
**   L2  samples >= survived + undecided in every site, in each unit;
**   L3  the queue holds at most LEDGER_MAXOPEN samples; the oldest leave it
**       undecided, and their fates, when they come, are passed over;
**   L4  there are at most LEDGER_MAXSITES sites and one for each kind: what
**       would need another is counted at node 0.
** Functions that allocate set 'failed' when memory is out and go on.
*/
#ifndef asamp_ledger_h
#define asamp_ledger_h

#include <stddef.h>
#include <stdint.h>

#include "idmap.h"

#define LEDGER_MAXOPEN	(2u << 20)
#define LEDGER_MAXSITES	(2u << 20)

typedef struct Site {
  uint32_t node;
  uint32_t kind;
  uint64_t samples;         /* counts added up */
  uint64_t bytes;           /* counts times period */
  uint64_t survived;        /* of the samples */
  uint64_t survivedbytes;
  uint64_t undecided;       /* of the samples */
} Site;

struct OpenSample;

typedef struct Ledger {
  Site *sites;
  size_t nsites, sitesize;
  IdMap bykey;              /* node and kind -> index of the site */
  struct OpenSample *open;  /* the queue is open[head .. tail - 1] */
  size_t head, tail, opensize;
  uint64_t passed;          /* fates to pass over, see L3 */
  int failed;
} Ledger;

void ledger_free (Ledger *l);

/* A sample whose fate is to come. kind < 65536. */
void ledger_open (Ledger *l, uint32_t node, uint32_t kind, uint64_t count,
                  uint64_t period);

/*
** The fate of the oldest open sample; 'kind' >= 0 replaces its kind. Returns
** the sample's count, 0 when none is open or this one had been passed over.
*/
uint64_t ledger_decide (Ledger *l, int kind, int survived);

/* A sample that has no fate. */
void ledger_add (Ledger *l, uint32_t node, uint32_t kind, uint64_t count,
                 uint64_t period);

/* What is still open stays undecided. */
void ledger_settle (Ledger *l);

#endif
