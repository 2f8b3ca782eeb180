/* SPDX-License-Identifier: MIT */
/*
** Repairs profiles: saves the intact part of a log that was cut or damaged, or whose writer was
** killed, as a complete, compressed log. The reader finds the damage.
**
**   X1  the log is copied unchanged up to the first record that the reader cannot read;
**   X2  the new file is complete: it has the trailer and the required meta records. In the extended
**       format, it also has an object for each stack of an allocation sample. An object that the
**       log lacks is added as a dead object of type "unknown";
**   X3  the new file has its name only when it is complete (output.h);
**   X4  a file that is still being written is not repaired in place: its writer would continue to
**       write the replaced file, which has no name any more.
*/
#ifndef asamp_repair_h
#define asamp_repair_h

#include <stddef.h>
#include <stdint.h>

/* Facts about the log and the new file; set by repair_file. */
typedef struct RepairResult {
  int whole;             /* 1: the log is complete; no new file was written */
  uint64_t samples;      /* number of allocation samples before the damage */
  uint64_t timesamples;  /* number of time samples before the damage */
  uint64_t kept;         /* bytes of the unpacked log before the damage */
  uint64_t cut;          /* bytes of the unpacked log after the damage, up to the position at which
                            unpacking fails */
  uint64_t size;         /* bytes of the new file, unless 'whole' is 1 */
  int live;              /* 1: the old file was still being written */
  char message[256];     /* the damage: "cannot be read after byte N of the log: PROBLEM" */
} RepairResult;

/* Return values of repair_file. REPAIR_SAME: 'path' and 'out' are one file, but 'inplace' is 0.
   REPAIR_LIVE: 'inplace' is 1, but the file is still being written. */
enum {
  REPAIR_DONE, REPAIR_UNREADABLE, REPAIR_UNWRITABLE, REPAIR_SAME, REPAIR_LIVE
};

/* Repairs the log 'path' and writes the result to 'out', which may exist. Writes no file if the log
   is complete. 'inplace' 1: both paths are one file. For REPAIR_UNREADABLE and REPAIR_UNWRITABLE,
   'err' has the reason. Call it on one thread only. */
int repair_file (const char *path, const char *out, int inplace,
                 RepairResult *r, char *err, size_t errsize);

#endif
