/* SPDX-License-Identifier: MIT */
/*
** The file that a profile goes into: bytes in, gzip (or the bytes as they are)
** out.
**
** Owns the descriptor and the compressor. Knows neither events nor threads; used
** by one thread at a time. Rules:
**   W1  whatever was put before livefile_flush can be read from the file after
**       it, whenever the process ends;
**   W2  after the first failure nothing is written any more: the file is a
**       prefix of what was meant. 'error' tells;
**   W6  a regular file of LIVE or PLAIN that takes no more, as there is no room,
**       stalls instead ('stalled' tells why): it is cut back to its length at the last
**       flush, where a member of the gzip file ends, what came since is kept in memory,
**       and each flush tries to write that, as another member. So the file is a prefix of
**       what was put at any time, and misses nothing when it goes on. When more than
**       LIVEFILE_KEPT bytes would have to be kept, it has failed;
**   W3  a file has one writer: who opens it has locked it (place.h);
**   W4  a file that was removed meanwhile is a failure (ENOENT), told by
**       livefile_close;
**   W5  no other file is touched: where the program has closed the descriptor,
**       and may have its number for a file of its own, that is neither written
**       nor closed, and it is a failure (EBADF). Checked before each write and
**       before it is closed, for a moment later the number is not guarded;
**   W7  a file that another program has truncated is a failure (ESTALE), found before the
**       next write and before it is closed: bytes after the cut would have no head.
*/
#ifndef asamp_livefile_h
#define asamp_livefile_h

#include <stdint.h>
#include <sys/types.h>

#include "bytes.h"
#include "compressor.h"

enum { LIVEFILE_PLAIN, LIVEFILE_SMALL, LIVEFILE_FAST, LIVEFILE_LIVE };  /* as compressor.h */

#define LIVEFILE_KEPT	(64u << 20)
#define LIVEFILE_PIECE	(1u << 20)    /* bytes between two flushes, about */

typedef struct LiveFile {
  int fd;               /* -1: none */
  dev_t device;         /* what file it is (W5): where it is, ... */
  ino_t inode;          /* ... and which one there */
  int packed;
  int error;            /* errno of the first failure, or 0 */
  uint64_t written;     /* bytes in the file */
  int waiting;          /* it waits for the system to take some; atomic */
  Compressor compressor;
  /* W6 */
  int patient;          /* it may stall */
  int stalled;          /* errno of why it takes no more, or 0 */
  uint64_t sure;        /* bytes of the file at the last flush, ... */
  unsigned char ending[COMPRESSOR_ENDING];  /* ... what would end them, ... */
  size_t nending;
  Bytes kept;           /* ... and what was put since */
} LiveFile;

/*
** Takes the descriptor of an empty file, or of what is no regular file. Returns 0
** or an errno; livefile_close is due in either case.
*/
int livefile_open (LiveFile *f, int fd, int how);

/* None of these does anything after a failure. */
void livefile_put (LiveFile *f, const unsigned char *data, size_t n);
/* As compressor_text. */
void livefile_text (LiveFile *f, int text);
/* 'last': ends the compressed data, after which nothing can be put. */
void livefile_flush (LiveFile *f, int last);

/* Notes a failure that is not the file's own. */
void livefile_fail (LiveFile *f, int error);

/* Takes all out of a regular file again; it is to be closed then. */
void livefile_empty (LiveFile *f);

/* Closes the file and frees all but 'f' itself; f->error is final. */
void livefile_close (LiveFile *f);

/*
** In the child of a fork: as livefile_close, without a look at the file. What was kept
** stays allocated, for the fork may have caught the writer while it grew.
*/
void livefile_abandon (LiveFile *f);

#endif
