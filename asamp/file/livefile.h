/* SPDX-License-Identifier: MIT */
/*
** The file of a profile: writes bytes, with or without gzip.
**
** Owns the descriptor and the compressor. Independent of events and threads; used by one thread
** at a time. Rules:
**
**   W1  all bytes put before livefile_flush can be read from the file after it, whenever the
**       process ends, unless the file has failed or is stalled;
**   W2  after the first failure ('error') nothing more is written: the file is a prefix of the
**       intended content, except W7;
**   W6  a regular file of LIVE or PLAIN for which a write fails, as on a full disk, stalls instead
**       ('stalled'), if it can be truncated to its length at the last flush. All bytes put after
**       that flush are kept in memory, and each flush tries to end the gzip member there and to
**       write the kept bytes as another member. So at any time the file is a prefix of the bytes
**       put, with no gap when writing works again. The file fails if more than LIVEFILE_KEPT bytes
**       would be kept, or there is no memory for them;
**   W3  a file has one writer: its opener has locked it, if that is possible (PL4 of place.h);
**   W4  a file that was removed meanwhile is a failure (ENOENT), reported by livefile_close;
**   W5  no other file is touched: if the program has closed the descriptor, and may have reused
**       the number for a file of its own, that file is neither written nor closed, and there is a
**       failure (EBADF). The descriptor is checked before each write and before the close; a
**       change between the check and the system call is not noticed;
**   W7  a file that another program has truncated is a failure (ESTALE), detected before the
**       next write and before the close: bytes after the cut would lack their head.
*/
#ifndef asamp_livefile_h
#define asamp_livefile_h

#include <stdint.h>
#include <sys/types.h>

#include "bytes.h"
#include "compressor.h"

enum { LIVEFILE_PLAIN, LIVEFILE_SMALL, LIVEFILE_FAST, LIVEFILE_LIVE };  /* as in compressor.h */

#define LIVEFILE_KEPT	(64u << 20)	/* most bytes kept while the file is stalled */
#define LIVEFILE_PIECE	(1u << 20)    /* bytes put after which a file of W6 flushes by itself */

typedef struct LiveFile {
  int fd;               /* -1: none */
  dev_t device;         /* device of the file (W5) */
  ino_t inode;          /* inode of the file */
  int packed;
  int error;            /* errno of the first failure, or 0 */
  uint64_t written;     /* bytes in the file */
  int waiting;          /* 1: writes, and may wait for the system; atomic */
  Compressor compressor;
  /* for W6 */
  int patient;          /* 1: it may stall */
  int stalled;          /* errno of the present stall, or 0 */
  uint64_t sure;        /* bytes of the file at the last flush */
  unsigned char ending[COMPRESSOR_ENDING];  /* bytes that would end the gzip member at 'sure' */
  size_t nending;
  Bytes kept;           /* bytes put since the last flush */
} LiveFile;

/*
** Takes the descriptor of an empty regular file, or of a file of another kind. Returns 0 or an
** errno; livefile_close must be called in either case.
*/
int livefile_open (LiveFile *f, int fd, int how);

/* Puts n bytes. Like the next two functions, does nothing after a failure. */
void livefile_put (LiveFile *f, const unsigned char *data, size_t n);
/* Declares the kind of the following bytes, as compressor_text. */
void livefile_text (LiveFile *f, int text);
/* Flushes the file, or tries to end its stall (W6). 'last': no bytes may be put later. */
void livefile_flush (LiveFile *f, int last);

/* Sets a failure from outside the file. */
void livefile_fail (LiveFile *f, int error);

/* Truncates a regular file to 0 bytes; it must be closed afterwards. */
void livefile_empty (LiveFile *f);

/* Closes the file and frees everything except 'f' itself; f->error is final. */
void livefile_close (LiveFile *f);

/*
** Like livefile_close, for the child of a fork: does not detect a removed file (W4) or a failed
** close, and does not free the kept bytes, which the fork may have caught while the writer
** enlarged them.
*/
void livefile_abandon (LiveFile *f);

#endif
