/* SPDX-License-Identifier: MIT */
/*
** Repair: what a killed, cut or damaged log still has, as a whole log of the
** same version, compressed.
**
** Copies record by record, in one pass, until the bytes end or make no sense
** (memory: one record, the ids of names and the keys of metas so far). Knows the
** layout of records and what the readers demand of them
** (doc/profile-format.md), not what they add up to. Rules:
**   X1  what precedes the damage is copied as it is; the new file never has a
**       sample that the old one has not;
**   X2  the new file has an end: objects for the stacks that have none
**       (written as dead, of type "unknown"), the metas that readers need,
**       "asamp.undecided", the trailer;
**   X3  within a record of our own that is whole, words that would make a
**       reader refuse the file are replaced: a frame by [no function], a line,
**       a time. Names and metas with such a fault are left out, and details that do
**       not fit their stacks, with all behind them. All are counted;
**   X5  a file that is being written is never replaced: the writer would go on
**       in what has no name any more (its lock tells: place.h);
**   X4  the new file appears under its name when it is whole, or not at all.
*/
#ifndef asamp_repair_h
#define asamp_repair_h

#include <stddef.h>
#include <stdint.h>

typedef struct RepairResult {
  int whole;             /* 1: nothing to repair, nothing was written */
  uint64_t samples;      /* stacks of allocation that were got back */
  uint64_t timesamples;  /* of time */
  uint64_t kept;         /* bytes of the log, unpacked, up to the damage */
  uint64_t cut;          /* bytes behind them that could still be unpacked */
  uint64_t mended;       /* records altered or left out (X3) */
  uint64_t size;         /* bytes of the new file */
  int live;              /* the old file was being written: what it had so far */
  char message[256];     /* the damage, if not whole: "... at byte N" */
} RepairResult;

enum {
  REPAIR_DONE, REPAIR_UNREADABLE, REPAIR_UNWRITABLE, REPAIR_SAME, REPAIR_LIVE
};

/*
** Repairs 'path' into 'out', which is replaced. REPAIR_SAME: both are one file, and
** 'inplace' is 0. REPAIR_LIVE: it is 1, and the file is being written. Other failures leave
** one line in 'err'; a file without any sample before the damage is unreadable.
*/
int repair_file (const char *path, const char *out, int inplace,
                 RepairResult *r, char *err, size_t errsize);

#endif
