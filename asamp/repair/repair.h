/* SPDX-License-Identifier: MIT */
/*
** Repairs profiles: saves the intact part of a log that was cut or damaged, or whose writer was
** killed, as a complete, compressed log of the same version.
**
** The log is copied record by record, in one pass, up to its end or the first damage. repair.c
** writes the new file. repairrecord.h reads each record, and checks its layout and the requirements
** of readers (doc/profile-format.md). In a log of asamp, the stacks of samples are records, and the
** sizes and outcomes of samples are in later texts, the details, one for each batch of samples
** (details.h). Memory: one record, the keys of meta records and ids of names so far, and the stacks
** whose details text was not read yet (repairruns.h). Rules:
**
**   X1  everything before the damage is copied unchanged, except as X3 says; the new file never
**       has a sample that the old one does not have;
**   X2  the new file is complete. It has the trailer and the meta records that readers need. A log
**       of asamp also has the meta record "asamp.undecided". In the extended format, each stack of
**       an allocation sample has an object: missing objects are added as dead objects of the type
**       "unknown";
**   X3  invalid data, which would make a reader refuse the file, are replaced or left out. In every
**       log, the invalid time of a VMPROF_TIME is replaced. In a log of asamp, invalid frames are
**       replaced (by [no function]), and so are invalid line numbers, times, types of objects and
**       values of gc_state. Invalid names and meta records are left out, and in a log of asamp also
**       objects without a stack. If a details text does not match the stacks of its samples, this
**       text and all later ones are left out. 'mended' counts the records that were changed or
**       left out;
**   X4  the new file appears under its name only when it is complete;
**   X5  a file that is still being written is not repaired in place, because its writer would
**       continue in a file without a name. The file's lock shows whether it is being written
**       (place.h).
*/
#ifndef asamp_repair_h
#define asamp_repair_h

#include <stddef.h>
#include <stdint.h>

/* Result of repair_file. */
typedef struct RepairResult {
  int whole;             /* 1: the log is complete and without errors; no file was written */
  uint64_t samples;      /* number of stacks of allocation samples before the damage */
  uint64_t timesamples;  /* number of stacks of time samples before the damage */
  uint64_t kept;         /* bytes of the unpacked log before the damage */
  uint64_t cut;          /* bytes of the unpacked log from the damage on, as far as the file could
			    be unpacked; 0: no damage */
  uint64_t mended;       /* number of records that were changed or left out because they were
                            invalid (X3) */
  uint64_t size;         /* bytes of the new file; undefined if 'whole' is 1 */
  int live;              /* 1: the old file was still being written; the new one has its
			    contents so far */
  char message[256];     /* description of the damage, "cannot be read after byte N of the log:
			    PROBLEM"; empty if the log is not damaged */
} RepairResult;

/* Results of repair_file; REPAIR_DONE is success. */
enum {
  REPAIR_DONE, REPAIR_UNREADABLE, REPAIR_UNWRITABLE, REPAIR_SAME, REPAIR_LIVE
};

/*
** Repairs the file 'path' and writes the result to 'out', replacing an existing file. If the log is
** whole, writes nothing. 'inplace' is 1 if 'path' and 'out' are to be the same file. Returns
** REPAIR_DONE, or the reason of the failure:
**
**   REPAIR_SAME        'path' and 'out' are the same file, but 'inplace' is 0
**   REPAIR_LIVE        'inplace' is 1, but the file is being written
**   REPAIR_UNREADABLE  'path' cannot be read, or has no sample before the damage
**   REPAIR_UNWRITABLE  'out' cannot be written
**
** For the last two, 'err' (a buffer of 'errsize' bytes) has the reason in one line. After a failure
** 'out' is unchanged. To be called on one thread only, like temporary.h.
*/
int repair_file (const char *path, const char *out, int inplace,
                 RepairResult *r, char *err, size_t errsize);

#endif
