/* SPDX-License-Identifier: MIT */
/*
** Reads the records of a log under repair, one by one, checks each, and corrects or leaves out
** invalid data (rule X3 of repair.h). The struct Repair has the current record, and the facts from
** earlier records that are needed for later checks and for the end of the new file. These functions
** write nothing. Only repair.c calls them.
*/
#ifndef asamp_repairrecord_h
#define asamp_repairrecord_h

#include "idmap.h"
#include "repairruns.h"
#include "source.h"
#include "vmprof.h"

/* Number of the type "unknown": the type of added objects, and of objects with an invalid type. */
#define REPAIR_UNKNOWNTYPE	0xffffu
#define REPAIR_CENTURY_US	((uint64_t)1 << 52)  /* limit of valid times, us: 143 years */

/* A log under repair. All zero, except 'source': nothing has been read. */
typedef struct Repair {
  Source *source;
  Bytes record;          /* the bytes of the current record, including its marker */
  const char *fault;     /* the reason for REPAIR_DAMAGE */
  uint64_t offset;        /* offset of the current record in the unpacked log, bytes */
  /* From the header record. 'mode': bits of enum VmprofMode. 'header' 1: the header record has been
     read. */
  int version, mode, header;
  int own;               /* 1: the log was written by asamp (its interpreter is "lua") */
  int format;            /* format of the details, the texts with sizes and outcomes of samples
                            (details.h); 0: not known */
  uint64_t period;       /* period of time samples, us */
  uint64_t started;      /* start of the run, us since the epoch */
  uint64_t start;        /* start of the run, us of the monotonic clock */
  uint64_t known;        /* latest time in the details texts so far, us since the start */
  /* Times, in s, of the first record that has a time ('first') and of the last such record
     ('lead'). Before the first such record, 'first' is 0, and 'lead' is the value of the meta
     record start_time_offset, or 0. */
  double first, lead;
  uint64_t sampletime, eventtime;  /* times of the last sample and of the last event in the details
                                      texts, us since the start */
  /* 'stacks': number of stacks of allocation samples in the extended format, each of which needs an
     object. 'objects': number of objects. */
  uint64_t stacks, objects;
  uint64_t samples, timesamples;   /* numbers of stacks: of allocation samples, of time samples */
  /* numbers of allocation samples, and of survival outcomes, in the details texts so far */
  uint64_t allocations, fates;
  unsigned nstats;       /* number of statistics at the end of an objects record */
  int state;             /* gc_state of the last objects record */
  /* Two sets. 'keys': hashes of the keys of all meta records that were read. 'ids': ids of all
     names that were read, in a log of asamp only. */
  IdMap keys, ids;
  RepairRuns runs;       /* in a log of asamp: stacks of samples for which the details text, with
                            sizes and outcomes, was not read yet */
  int misfit;            /* 1: a details text (with sizes and outcomes of samples) does not match
                            the stacks before it, so it and all later ones are left out */
} Repair;

/*
** Result of the check of a record. KEEP: the record is to be written. MENDED: it was corrected, and
** is to be written. OMIT: it must be left out. END: it is the trailer. DAMAGE: it is damaged.
*/
typedef enum {
  REPAIR_KEEP, REPAIR_MENDED, REPAIR_OMIT, REPAIR_END, REPAIR_DAMAGE
} Verdict;

/*
** Reads the five words at the start of the log; must be called first. Returns 0 if the file is not
** a VMProf log or cannot be read.
*/
int repair_firstwords (Repair *p);

/*
** Reads the next record into p->record, and checks it. After REPAIR_DAMAGE, p->fault has the
** reason. Must not be called again after REPAIR_END or REPAIR_DAMAGE.
*/
Verdict repair_record (Repair *p);

/* Returns 1 if a meta record with this key was read and is in the new file. */
int repair_haskey (const Repair *p, const char *key);

#endif
