/* SPDX-License-Identifier: MIT */
/*
** What the system says of the process's resident memory, mapping by mapping, and what
** malloc says of its own. Linux; knows no Lua and no profile.
**
** A mapping is a file's, [heap] (what malloc has of sbrk), a stack, or anonymous. A
** thread's stack is the one in which its stack pointer lies; of one that runs just now
** the system does not tell it. malloc's mappings are no others than anonymous ones, but it
** says how large they are: what is left of these is somebody else's.
**
**   SM1 the sum of all parts is 'rss', which is the sum of what the system says of each
**       mapping (the process's own count lags behind by some pages a thread).
*/
#ifndef asamp_smaps_h
#define asamp_smaps_h

#include <stddef.h>
#include <stdint.h>

#define SMAPS_FILES	24	/* that are told by name; the last one stands for the rest */
#define SMAPS_NAME	96	/* bytes of a name, which loses its begin */

typedef struct SmapsFile {
  char name[SMAPS_NAME];
  uint64_t bytes;
} SmapsFile;

typedef struct Smaps {
  uint64_t rss;
  uint64_t heap, heapsize;	/* [heap]: resident, and of any sort */
  uint64_t stacks;
  uint64_t anonymous;		/* the other anonymous mappings */
  uint64_t system;		/* what the system has put there */
  SmapsFile files[SMAPS_FILES];
  size_t nfiles;
} Smaps;

/* What malloc (of glibc) has in use, has free, has got from the system by sbrk and in
   arenas, and mapped for single blocks. All 0: it is another malloc, or does not tell. */
typedef struct SmapsMalloc {
  uint64_t inuse, unused, arenas, mapped;
} SmapsMalloc;

/* Reads it; some 100 us, more with many mappings. May allocate. 0: the system does not
   tell (no /proc), and all is 0. */
int smaps_read (Smaps *s);
void smaps_malloc (SmapsMalloc *m);

#endif
