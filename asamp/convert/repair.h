/* SPDX-License-Identifier: MIT */
/*
** Repairs profiles: saves the intact part of a log that was cut or damaged, or whose writer was
** killed, as a complete, compressed log of the same version. The reader finds the damage; it is the
** only parser. Rules:
**
**   X1  the log is copied unchanged up to the first record that the reader cannot read, so that the
**       new file has the samples that asamp report shows for the old one;
**   X2  the new file is complete. It has the trailer and the meta records (pairs of key and value)
**       that readers need. In the extended format, each stack of an allocation sample has an
**       object: missing objects are added as dead objects of the type "unknown";
**   X3  the new file appears under its name only when it is complete (output.h);
**   X4  a file that is still being written is not repaired in place, because its writer would
**       continue in a file without a name.
*/
#ifndef asamp_repair_h
#define asamp_repair_h

#include <stddef.h>
#include <stdint.h>

/* Result of repair_file. */
typedef struct RepairResult {
  int whole;             /* 1: the log is complete; no file was written */
  uint64_t samples;      /* number of allocation samples before the damage */
  uint64_t timesamples;  /* number of time samples before the damage */
  uint64_t kept;         /* bytes of the unpacked log before the damage */
  uint64_t cut;          /* bytes of the unpacked log from the damage on, as far as the file could
			    be unpacked */
  uint64_t size;         /* bytes of the new file; undefined if 'whole' is 1 */
  int live;              /* 1: the old file was still being written; the new one has its
			    contents so far */
  char message[256];     /* description of the damage, "cannot be read after byte N of the log:
			    PROBLEM" */
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
