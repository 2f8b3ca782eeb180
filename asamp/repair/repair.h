/* SPDX-License-Identifier: MIT */
/*
** Repairs a profile that was cut or damaged, or whose writer was killed: copies the intact part,
** record by record, to a complete log. repairrecord.h checks the records.
**
**   X1  everything before the damage is copied unchanged, except by X3; no samples are added;
**   X2  the new file is complete: it has the trailer and the meta records that readers need. In
**       the extended format missing objects are added, dead and of type "unknown";
**   X3  invalid data that readers would refuse are replaced or left out, and their records counted
**       in 'mended'. If a text with details (details.h) does not match its stacks, it and all
**       later ones are left out;
**   X4  the new file appears under its name only when it is complete;
**   X5  a file that is being written is not repaired in place.
*/
#ifndef asamp_repair_h
#define asamp_repair_h

#include <stddef.h>
#include <stdint.h>

/* Result of repair_file. */
typedef struct RepairResult {
  int whole;             /* 1: complete and without errors; nothing was written */
  uint64_t samples;      /* allocation samples before the damage */
  uint64_t timesamples;  /* time samples before the damage */
  uint64_t kept;         /* bytes of the unpacked log before the damage */
  uint64_t cut;          /* bytes after that, as far as they can be unpacked; 0: no damage */
  uint64_t mended;       /* records changed or left out (X3) */
  uint64_t size;         /* bytes of the new file */
  int live;              /* 1: the old file was being written */
  char message[256];     /* "cannot be read after byte N of the log: PROBLEM", or "" */
} RepairResult;

/* Results of repair_file; REPAIR_DONE is success. */
enum {
  REPAIR_DONE, REPAIR_UNREADABLE, REPAIR_UNWRITABLE, REPAIR_SAME, REPAIR_LIVE
};

/* Repairs 'path' into 'out', which may exist; a whole log writes nothing. 'inplace' 1: both are
   one file. Returns DONE, SAME (one file without 'inplace'), LIVE (being written), UNREADABLE
   or UNWRITABLE, the last two with the reason in 'err'. Use one thread only. */
int repair_file (const char *path, const char *out, int inplace,
                 RepairResult *r, char *err, size_t errsize);

#endif
