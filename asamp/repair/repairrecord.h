/* SPDX-License-Identifier: MIT */
/* Reads the records of a damaged log one by one, checks them, and corrects or omits invalid
   data (X3 of repair.h). Writes nothing. Used only by repair.c. */
#ifndef asamp_repairrecord_h
#define asamp_repairrecord_h

#include "idmap.h"
#include "repairruns.h"
#include "source.h"
#include "vmprof.h"

/* Type "unknown", of added objects and of those with an invalid type. */
#define REPAIR_UNKNOWNTYPE	0xffffu
#define REPAIR_CENTURY_US	((uint64_t)1 << 52)  /* limit of valid times, us (143 years) */

/* A log under repair. All zero but 'source': nothing read. */
typedef struct Repair {
  Source *source;
  Bytes record;          /* the current record, with its marker */
  const char *fault;     /* reason of REPAIR_DAMAGE */
  uint64_t offset;        /* of the record in the unpacked log */
  /* From the header; 'header' 1: it was read. */
  int version, mode, header;
  int own;               /* 1: asamp's log */
  int format;            /* format of the details (details.h); 0: unknown */
  uint64_t period;       /* of time samples, us */
  uint64_t started;      /* us since the epoch */
  uint64_t start;        /* us of the monotonic clock */
  uint64_t known;        /* latest time in the details, us since the start */
  /* Times of the first and last record with a time, s; before, 0 and start_time_offset or 0. */
  double first, lead;
  uint64_t sampletime, eventtime;  /* of the last sample and event in the details, us since the
                                      start */
  /* Extended format: stacks of allocation samples, and their objects. */
  uint64_t stacks, objects;
  uint64_t samples, timesamples;   /* stacks of allocation samples; of time samples */
  /* allocation samples and outcomes in the details */
  uint64_t allocations, fates;
  unsigned nstats;       /* statistics of an object record */
  int state;             /* gc_state of the last object record */
  /* Keys (hashes) of the meta records read; ids of the names read, in asamp's logs. */
  IdMap keys, ids;
  RepairRuns runs;       /* stacks whose samples have no details yet */
  int misfit;            /* 1: details do not match the stacks; all later ones are omitted */
} Repair;

/* Check of a record: write it; write it corrected; omit it; it is the trailer; it is damaged. */
typedef enum {
  REPAIR_KEEP, REPAIR_MENDED, REPAIR_OMIT, REPAIR_END, REPAIR_DAMAGE
} Verdict;

/* Reads the first five words, before all else. Returns 0 if the file is no VMProf log or
   unreadable. */
int repair_firstwords (Repair *p);

/* Reads and checks the next record (p->record, p->fault). Must not be called after END or
   DAMAGE. */
Verdict repair_record (Repair *p);

/* Returns 1 if the new file has a meta record with this key. */
int repair_haskey (const Repair *p, const char *key);

#endif
