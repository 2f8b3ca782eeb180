/* SPDX-License-Identifier: MIT */
/*
** Reads the resident memory of the process, mapping by mapping, and the totals of malloc. Linux
** only.
**
** A mapping counts as a file, as [heap] (the sbrk area of malloc), as a stack, as a mapping of the
** kernel, or as anonymous. An anonymous mapping is a stack if a thread's stack pointer is in it.
** The kernel does not report the stack pointers of running threads, so their stacks count as
** anonymous. Only the stacks of the main thread and of the calling thread always count as stacks.
**
**   SM1  Mappings.rss is the sum of the resident bytes of all mappings, not the kernel's counter,
**        because the counter lags by some pages for each thread;
**   SM2  mappings above 1 GiB are not read, because sanitizers reserve terabytes. If there are any
**        and the kernel's counter is above the sum, 'rss' is the counter, and the difference counts
**        as anonymous.
*/
#ifndef asamp_mappings_h
#define asamp_mappings_h

#include <stddef.h>
#include <stdint.h>

#define MAPPINGS_FILES	24	/* Capacity of Mappings.files. If there are more files, the last
                                   element is for all files that no other element names. */
#define MAPPINGS_NAME	96	/* Size of MappingsFile.name in bytes, with the NUL. Of a longer
                                   name, only the end is stored. */

/* A mapped file: its name, and the resident bytes of its mappings. */
typedef struct MappingsFile {
  char name[MAPPINGS_NAME];
  uint64_t bytes;
} MappingsFile;

/* Resident bytes of the process by kind of mapping. */
typedef struct Mappings {
  uint64_t rss;
  uint64_t heap, heapsize;	/* heap: resident bytes of the mapping [heap]. heapsize: size of
                                   this mapping, bytes. */
  uint64_t stacks;
  uint64_t anonymous;		/* Resident bytes of anonymous mappings other than [heap] and
                                   stacks. */
  uint64_t system;		/* Resident bytes of mappings of the kernel ([vdso] and the
                                   like). */
  MappingsFile files[MAPPINGS_FILES];
  size_t nfiles;
} Mappings;

/* Totals of glibc's malloc in bytes; all 0 with another malloc, or before glibc 2.33.
   inuse   blocks in use
   unused  free blocks
   arenas  size of the arenas
   mapped  blocks with a mapping of their own, which are also counted in 'inuse' */
typedef struct MappingsMalloc {
  uint64_t inuse, unused, arenas, mapped;
} MappingsMalloc;

/* Reads the mappings in about 200 us. Returns 0, with all fields 0, if out of memory or if /proc
   cannot be read. */
int mappings_read (Mappings *s);

/* Returns the resident bytes of the pages that contain the 'bytes' bytes at 'from', a range of
   anonymous memory. */
uint64_t mappings_resident (const void *from, size_t bytes);

void mappings_malloc (MappingsMalloc *m);

/* Returns the process's resident bytes, from the kernel's counter; 0 if unknown. */
uint64_t mappings_rss (void);

/* Returns the process's resident bytes, like mappings_rss. If the last reading was made less than
   'age' ns before 'now' (clock_now), returns the value of that reading. Thread-safe. */
uint64_t mappings_recentrss (uint64_t now, uint64_t age);
/* Returns the time of the last reading by mappings_recentrss in ns; 0: none. Thread-safe. */
uint64_t mappings_rsstime (void);

#endif
