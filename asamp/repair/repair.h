/* SPDX-License-Identifier: MIT */
/*
** Repair of profiles: saves the intact part of a log that was cut or damaged, or whose writer
** was killed, as a complete, compressed log of the same version.
**
** The log is copied record by record, in one pass, up to the end or the first damage. Memory:
** one record, and the ids of names and the keys of metas so far. The module checks the layout
** of records and what readers require of each (doc/profile-format.md), but not sums over
** several records. Rules:
**   X1  everything before the damage is copied unchanged; the new file never has a sample that
**       the old one does not have;
**   X2  the new file is complete: it contains objects for the stacks that have none (written as
**       dead, of type "unknown"), the metas that readers need, "asamp.undecided", and the
**       trailer;
**   X3  in an intact record of asamp's own, words that would make a reader refuse the file are
**       replaced: a frame by [no function], a line number, a time. Names and metas with such an
**       error are left out; so are details that do not match their stacks, and all later
**       details. All are counted;
**   X4  the new file appears under its name only when it is complete;
**   X5  a file that is still being written is never replaced: the writer would continue in a
**       file without a name. The file's lock shows this (place.h).
*/
#ifndef asamp_repair_h
#define asamp_repair_h

#include <stddef.h>
#include <stdint.h>

typedef struct RepairResult {
  int whole;             /* 1: the log is complete; nothing was written */
  uint64_t samples;      /* number of stacks of allocation samples saved */
  uint64_t timesamples;  /* number of time samples saved */
  uint64_t kept;         /* bytes of the unpacked log before the damage */
  uint64_t cut;          /* bytes after the damage that could still be unpacked */
  uint64_t mended;       /* number of records changed or left out (X3) */
  uint64_t size;         /* bytes of the new file */
  int live;              /* 1: the old file was still being written; the new one has its
			    contents so far */
  char message[256];     /* description of the damage, unless the log is complete: "<problem>
			    at byte N of the log" */
} RepairResult;

enum {
  REPAIR_DONE, REPAIR_UNREADABLE, REPAIR_UNWRITABLE, REPAIR_SAME, REPAIR_LIVE
};

/*
** Repairs the file 'path' and writes the result to 'out', which is replaced. 'inplace' is 1 if
** both are the same file on purpose. REPAIR_SAME: both are the same file, but 'inplace' is 0.
** REPAIR_LIVE: 'inplace' is 1, but the file is being written. After any other failure, 'err' (a
** buffer of 'errsize' bytes) has the reason in one line. A file without a sample before the
** damage is REPAIR_UNREADABLE.
*/
int repair_file (const char *path, const char *out, int inplace,
                 RepairResult *r, char *err, size_t errsize);

#endif
