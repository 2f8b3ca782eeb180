/* SPDX-License-Identifier: MIT */
/*
** The records of a log under repair: reads the next record, checks it, and corrects it where
** rule X3 of repair.h allows this. Repair contains the current record and the properties of
** earlier records that later checks need. Nothing is written here. Only repair.c uses these
** functions.
*/
#ifndef asamp_repairrecord_h
#define asamp_repairrecord_h

#include "idmap.h"
#include "repairruns.h"
#include "source.h"
#include "vmprof.h"

#define REPAIR_UNKNOWNTYPE	0xffffu    /* type of added objects, and of objects with an
					      invalid type */
#define REPAIR_CENTURY_US	((uint64_t)1 << 52)

typedef struct Repair {
  Source *source;
  Bytes record;          /* the bytes of the current record, including its marker */
  const char *fault;     /* the reason for REPAIR_DAMAGE */
  uint64_t offset;        /* offset of the current record in the unpacked log, bytes */
  int version, mode, header;
  int own;               /* 1: the log was written by asamp (its interpreter is "lua") */
  int format;            /* version of the details' format; 0: not known */
  uint64_t period;       /* period of time samples, us */
  uint64_t started;      /* start of the run, us since the epoch */
  uint64_t start;        /* start of the run, us of the monotonic clock */
  uint64_t known;        /* latest time in the details, us since the start */
  double first, lead;    /* times of the first and of the last record that has a time, s */
  uint64_t sampletime, eventtime;  /* time of the last sample and of the last event in the
				      details, us */
  uint64_t stacks, objects;        /* number of stacks that need an object, and number of objects */
  uint64_t samples, timesamples;   /* numbers of allocation stacks and of time stacks */
  uint64_t allocations, fates;     /* numbers of allocations and of their survival outcomes in the
				      details */
  unsigned nstats;
  int state;             /* gc_state of the last objects record */
  IdMap keys, ids;       /* keys of metas and ids of names so far */
  RepairRuns runs;       /* stacks without details so far, in a log of asamp */
  int misfit;            /* 1: some details do not match their stacks */
} Repair;

/*
** The result of a record's check: keep it, keep it corrected, leave it out, end of the log, or
** damage.
*/
typedef enum {
  REPAIR_KEEP, REPAIR_MENDED, REPAIR_OMIT, REPAIR_END, REPAIR_DAMAGE
} Verdict;

/* Reads the five words at the start. Returns 0 if the file is no log. */
int repair_firstwords (Repair *p);

/* Reads and checks the next record. For REPAIR_DAMAGE, 'fault' has the reason. */
Verdict repair_record (Repair *p);

/* Returns 1 if a meta with this key was read. */
int repair_haskey (const Repair *p, const char *key);

#endif
