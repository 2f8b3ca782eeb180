/* SPDX-License-Identifier: MIT */
/*
** Writes the file of a profile, with or without gzip. Used by one thread at a time.
**
**   W1  after livefile_flush, all bytes passed to livefile_put before can be read from the file,
**       however the process ends, unless the file has failed or is stalled (W6);
**   W2  after the first failure nothing more is written. The file is a prefix of the content,
**       unless another program truncates it (W7);
**   W3  a file has one writer: its opener has locked it, if possible (PL4 of place.h);
**   W4  a removed file is a failure (ENOENT), reported by livefile_close;
**   W5  no other file is written or closed by mistake: the program may have closed the descriptor
**       and reused its number, as daemons do. The profile's file is then opened again by its path.
**       If the path leads to another file, for example after chroot, that is a failure (EBADF);
**   W6  if a write fails (disk full), a regular file that was opened with 'patient' 1, and can be
**       truncated to its last flush, stalls: later bytes are kept in memory, up to LIVEFILE_KEPT,
**       and each flush tries again;
**   W7  a file truncated by another program is a failure (ESTALE);
**   W8  a write waits for the reader of a full pipe; at the end of the profile only for 5 s
**       (ETIMEDOUT).
*/
#ifndef asamp_livefile_h
#define asamp_livefile_h

#include <stdint.h>
#include <sys/types.h>

#include "bytes.h"
#include "compressor.h"

/* Largest number of bytes that a stalled file keeps in memory. With more bytes, the file fails. */
#define LIVEFILE_KEPT	(64u << 20)
/* A file that can stall keeps the bytes since its last flush in memory, to write them again after a
   failed write (disk full). To limit this memory, livefile_put flushes the file after this number
   of bytes. */
#define LIVEFILE_PIECE	(1u << 20)

typedef struct LiveFile {
  int fd;               /* -1: none */
  dev_t device;         /* device of the file, to notice that 'fd' refers to another file because
                           the program has reused the number */
  ino_t inode;          /* inode of the file; 'device' and 'inode' identify the file */
  char *path;           /* absolute path, to open the file again; NULL: not known */
  int folder;           /* descriptor of the folder of 'path', to open the file again; 0: none */
  int packed;           /* 1: the file is compressed with gzip */
  int error;            /* errno of the first failure, or 0 */
  uint64_t written;     /* bytes written to the file so far */
  int waiting;          /* 1: a write is running and may block; atomic */
  int leaving;          /* 1: the profile is ending, so a write waits at most 5 s for the reader
                           of a full pipe; atomic */
  Compressor compressor;
  /* The following members are for stalls, in which writes fail and are tried again (W6). */
  int patient;          /* 1: the file can stall */
  int stalled;          /* errno of the failed write during a stall, else 0 */
  uint64_t sure;        /* length of the file at the last flush, bytes */
  unsigned char ending[COMPRESSOR_ENDING];  /* bytes that complete the gzip member of the first
                                               'sure' bytes */
  size_t nending;       /* number of bytes in 'ending' */
  Bytes kept;           /* bytes passed to livefile_put since the last flush */
} LiveFile;

/* Opens *f for the descriptor 'fd' of an empty regular file, or of another kind of file such as a
   pipe. 'packed' 1: compresses with gzip. 'patient' 1: a regular file stalls after a failed write
   (W6); 0: it fails. Returns 0 or an errno; call livefile_close in either case. */
int livefile_open (LiveFile *f, int fd, int packed, int patient);

/* Sets the path of the open file, so that it can be opened again if the program closes its
   descriptor. 'folder': descriptor of its folder; 0: none. */
void livefile_at (LiveFile *f, const char *path, int folder);

/* Writes n bytes, or keeps them while the file is stalled: writes fail now and are tried again.
   Does nothing after a failure. */
void livefile_put (LiveFile *f, const unsigned char *data, size_t n);
/* Flushes the file. During a stall, tries to write the kept bytes instead. 'last' 1: no bytes
   follow. */
void livefile_flush (LiveFile *f, int last);

/* Makes the file fail with the errno 'error'. Later calls of livefile_put write nothing. */
void livefile_fail (LiveFile *f, int error);

/* Truncates a regular file to 0 bytes. After that, only livefile_close may be called. */
void livefile_empty (LiveFile *f);

/* Closes the file and frees all but *f. */
void livefile_close (LiveFile *f);

/* Closes the file in the child of a fork, without detecting failures. Does not free the kept bytes,
   which may be inconsistent. */
void livefile_abandon (LiveFile *f);

#endif
