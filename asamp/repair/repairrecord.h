/* SPDX-License-Identifier: MIT */
/*
** The records of a log that is being repaired: reads the next one whole, judges
** it, mends what rule X3 of repair.h allows. Owns the current record and what
** of the records before it the judgement of the next ones needs; writes
** nothing. Used by repair.c alone.
*/
#ifndef asamp_repairrecord_h
#define asamp_repairrecord_h

#include "idmap.h"
#include "repairruns.h"
#include "source.h"
#include "vmprof.h"

#define REPAIR_UNKNOWNTYPE	0xffffu    /* type of objects made up or bad */
#define REPAIR_CENTURY_US	((uint64_t)1 << 52)

typedef struct Repair {
  Source *source;
  Bytes record;          /* the current one, from its marker */
  const char *fault;     /* why the record is damage */
  uint64_t begin;        /* where it begins */
  int version, mode, header;
  int own;               /* written by us: the interpreter is "lua" */
  int format;            /* of the details; 0: not told */
  uint64_t period;       /* of time samples, us */
  uint64_t started;      /* epoch, us */
  uint64_t start;        /* monotonic us at the start */
  uint64_t known;        /* us since the start, the latest that is told */
  double first, lead;    /* time of the first and of the last record that have
                            one, s */
  uint64_t sampletime, eventtime;  /* as the details count */
  uint64_t stacks, objects;        /* those that need each other */
  uint64_t samples, timesamples;   /* stacks of allocations, and of time */
  uint64_t allocations, fates;     /* as the details tell */
  unsigned nstats;
  int state;             /* gc_state of the last object record */
  IdMap keys, ids;       /* metas and names so far */
  RepairRuns runs;       /* stacks without details, of a log of ours */
  int misfit;            /* some details do not fit theirs */
} Repair;

/* What becomes of a record. */
typedef enum {
  REPAIR_KEEP, REPAIR_MENDED, REPAIR_OMIT, REPAIR_END, REPAIR_DAMAGE
} Verdict;

/* The five words; 0 when the file is no log. */
int repair_firstwords (Repair *p);

/* The next record; for REPAIR_DAMAGE 'fault' says why. */
Verdict repair_record (Repair *p);

/* Was there a meta of that key? */
int repair_haskey (const Repair *p, const char *key);

#endif
