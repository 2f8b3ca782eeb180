/* SPDX-License-Identifier: MIT */
/*
** Repair of profiles: saves the intact part of a log that was cut or damaged, or whose writer
** was killed, as a complete, compressed log of the same version.
**
** The log is copied record by record, in one pass, up to its end or the first damage. repair.c
** writes the new file; repairrecord.h reads and checks each record: its layout, and the
** requirements of readers (doc/profile-format.md). Memory: one record, the keys of metas and ids of
** names so far, and the stacks whose details have not been read (repairruns.h). Rules:
**
**   X1  everything before the damage is copied unchanged, except as X3 says; the new file never
**       has a sample that the old one does not have;
**   X2  the new file is complete: it has an object for each stack of the extended format (an added
**       one is dead, of the type "unknown"), the metas that readers need, in a log of asamp the
**       meta "asamp.undecided", and the trailer;
**   X3  words that would make a reader refuse the file are replaced: the time of a VMPROF_TIME and,
**       in a log of asamp, frames (by [no function]), line numbers, times, types of objects and
**       gc_state. Names and metas with an error, and objects without a stack, are left out; so are
**       details that do not match their stacks, and all details after these. 'mended' counts the
**       records concerned;
**   X4  the new file appears under its name only when it is complete;
**   X5  a file that is still being written is not repaired in place: its writer would continue in
**       a file without a name. The file's lock shows whether it is being written (place.h).
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
  uint64_t cut;          /* bytes from the damage on that could be unpacked; 0: no damage */
  uint64_t mended;       /* number of records changed or left out (X3) */
  uint64_t size;         /* bytes of the new file; without meaning if 'whole' is 1 */
  int live;              /* 1: the old file was still being written; the new one has its
			    contents so far */
  char message[256];     /* description of the damage, "<problem> at byte N of the log"; empty if
			    there is none */
} RepairResult;

/* Results of repair_file; REPAIR_DONE is success. */
enum {
  REPAIR_DONE, REPAIR_UNREADABLE, REPAIR_UNWRITABLE, REPAIR_SAME, REPAIR_LIVE
};

/*
** Repairs the file 'path' and writes the result to 'out', which it replaces, unless the log is
** whole. 'inplace' is 1 if 'path' and 'out' are to be the same file. REPAIR_SAME: they are the same
** file, but 'inplace' is 0. REPAIR_LIVE: 'inplace' is 1, but the file is being written. For
** REPAIR_UNREADABLE (also a log without a sample before the damage) and REPAIR_UNWRITABLE, 'err' (a
** buffer of 'errsize' bytes) has the reason in one line. If it fails, 'out' is unchanged. To be
** called on one thread only (temporary.h).
*/
int repair_file (const char *path, const char *out, int inplace,
                 RepairResult *r, char *err, size_t errsize);

#endif
