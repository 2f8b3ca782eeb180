/* SPDX-License-Identifier: MIT */
/*
** The file of a profile: writes bytes, with or without gzip.
**
** Owns the descriptor and the compressor. Independent of events and threads; used by one thread
** at a time. Rules:
**
**   W1  after livefile_flush, all bytes put before it can be read from the file, however the
**       process ends, unless the file has failed or is stalled;
**   W2  after the first failure ('error') nothing more is written. The file is then a prefix of
**       the intended content, except by W7;
**   W6  the file stalls instead of failing if a write fails, for example because the disk is full.
**       This applies to regular files of LIVE or PLAIN that can be truncated to their length at
**       the last flush. While it is stalled ('stalled'), all bytes put after that flush are kept
**       in memory. Each flush tries to end the gzip member at that length and to write the kept
**       bytes as another member. So at any time the file is a prefix of the bytes put, without a
**       gap when writing works again. The file fails if more than LIVEFILE_KEPT bytes would be
**       kept, or if there is no memory for them;
**   W3  a file has one writer, because its opener has locked it, if that is possible (PL4 of
**       place.h);
**   W4  it is a failure (ENOENT) if the file was removed; livefile_close reports it;
**   W5  no other file is written or closed. The program may have closed the descriptor, and may
**       have reused its number for a file of its own. Then there is a failure (EBADF). The
**       descriptor is checked before each write and before the close; a change between the check
**       and the system call is not noticed;
**   W7  it is a failure (ESTALE) if another program has truncated the file, because the bytes
**       after the cut would lack their head. It is detected before the next write and before the
**       close;
**   W8  while the profile goes on, a write waits without a limit for the reader of a full pipe. At
**       the end of the profile ('leaving'), it is a failure (ETIMEDOUT) if the pipe accepts nothing
**       for 5 s, because the program must not wait for ever.
*/
#ifndef asamp_livefile_h
#define asamp_livefile_h

#include <stdint.h>
#include <sys/types.h>

#include "bytes.h"
#include "compressor.h"

enum { LIVEFILE_PLAIN, LIVEFILE_SMALL, LIVEFILE_FAST, LIVEFILE_LIVE };  /* how the file is
									   compressed: not at all,
									   or by a method of
									   compressor.h */

#define LIVEFILE_KEPT	(64u << 20)	/* largest number of bytes kept while the file is
					   stalled */
#define LIVEFILE_PIECE	(1u << 20)    /* number of bytes after which a file that can stall is
					 flushed without a request, so that few bytes are kept in
					 memory for a stall (W6) */

typedef struct LiveFile {
  int fd;               /* descriptor of the file; -1: none */
  dev_t device;         /* device of the file, to recognize that the descriptor still belongs to it
			   (W5) */
  ino_t inode;          /* inode of the file, for the same purpose as 'device' */
  int packed;
  int error;            /* errno of the first failure, or 0 */
  uint64_t written;     /* number of bytes written to the file so far */
  int waiting;          /* 1: a system call that writes is running, and may block; atomic */
  int leaving;          /* 1: the profile is ending, so a write waits for a full pipe for at most 5
			   s (W8); atomic */
  Compressor compressor;
  /* The following fields are for a stall: a write has failed, and is tried again later (W6). */
  int patient;          /* 1: the file stalls if a write fails; 0: it fails */
  int stalled;          /* errno of the write that failed, while the file is in a stall; else 0 */
  uint64_t sure;        /* length of the file in bytes at the last flush */
  unsigned char ending[COMPRESSOR_ENDING];  /* bytes that would end the gzip member at the length
					       'sure' */
  size_t nending;
  Bytes kept;           /* bytes put since the last flush, kept to be written after a stall */
} LiveFile;

/*
** Opens *f for a descriptor of an empty regular file, or of a file of another kind, such as a pipe.
** Returns 0 or an errno. livefile_close must be called in either case.
*/
int livefile_open (LiveFile *f, int fd, int how);

/* Writes n bytes to the file, or keeps them in memory while the file is stalled. After a failure,
   livefile_put, livefile_text and livefile_flush do nothing. */
void livefile_put (LiveFile *f, const unsigned char *data, size_t n);
/* Declares the kind of the following bytes (compressor_text). */
void livefile_text (LiveFile *f, int text);
/* Flushes the file or, if it is stalled, tries to end the stall (W6). If 'last' is 1, no bytes may
   be put later. */
void livefile_flush (LiveFile *f, int last);

/* Makes the file fail with that errno, for a failure outside this module. */
void livefile_fail (LiveFile *f, int error);

/* Truncates a regular file to 0 bytes; it must be closed afterwards. */
void livefile_empty (LiveFile *f);

/* Closes the file and frees everything except *f itself. After that f->error does not change. */
void livefile_close (LiveFile *f);

/* Does the work of livefile_close in the child of a fork, but does not detect a removed file (W4)
   or a failed close. Does not free the kept bytes: in the parent, another thread may have been
   enlarging their buffer during the fork. */
void livefile_abandon (LiveFile *f);

#endif
