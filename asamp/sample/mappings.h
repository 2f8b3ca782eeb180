/* SPDX-License-Identifier: MIT */
/*
** Reads the resident memory of the process, mapping by mapping, from the system, and the totals
** of malloc. Linux only. Independent of Lua and of profiles.
**
** A mapping belongs to a file, to [heap] (the sbrk area of malloc), to a stack, to the system, or
** is anonymous. A thread's stack is the mapping that contains its stack pointer. The system does
** not report the stack pointer of another running thread, whose stack counts as anonymous. The
** mappings of malloc count as anonymous, too; malloc reports their total size (mappings_malloc).
**
**   SM1  the sum of all parts is 'rss'. Except for SM2, 'rss' is the sum over the mappings, because
**        the process's own counter lags by some pages per thread;
**   SM2  mappings of more than 1 GiB are not read, because programs (and sanitizers) reserve
**        terabytes: if there are such mappings, and the process's own counter exceeds the sum,
**        'rss' is the counter, and the difference is added to 'anonymous'.
*/
#ifndef asamp_mappings_h
#define asamp_mappings_h

#include <stddef.h>
#include <stdint.h>

#define MAPPINGS_FILES	24	/* Entries of 'files'; if there are more files, the last entry is
				   for all others. */
#define MAPPINGS_NAME	96	/* Size of a name in bytes, with its NUL. Of a longer name, only the
				   end is stored. */

typedef struct MappingsFile {
  char name[MAPPINGS_NAME];
  uint64_t bytes;
} MappingsFile;

/* Resident bytes of the process, by the kind of mapping. */
typedef struct Mappings {
  uint64_t rss;
  uint64_t heap, heapsize;	/* The [heap] mapping: resident bytes, and all bytes. */
  uint64_t stacks;
  uint64_t anonymous;		/* All other anonymous mappings. */
  uint64_t system;		/* Mappings of the system ([vdso] and the like). */
  MappingsFile files[MAPPINGS_FILES];
  size_t nfiles;
} Mappings;

/*
** Totals of glibc's malloc in bytes. 'inuse': in use, including 'mapped'; 'unused': free;
** 'arenas': of arenas and sbrk; 'mapped': mapped for single blocks. All 0: another malloc, or a
** glibc before 2.33.
*/
typedef struct MappingsMalloc {
  uint64_t inuse, unused, arenas, mapped;
} MappingsMalloc;

/*
** Reads the mappings, in about 200 us; many mappings take longer. Does not read /proc/self/smaps,
** which takes 100 ns for each resident page; mincore takes 3 ns. May allocate. Returns 0, with all
** fields 0, if there is not enough memory or the system does not report the mappings (no /proc).
*/
int mappings_read (Mappings *s);

/* Returns the resident bytes of all pages that overlap the range of anonymous memory. */
uint64_t mappings_resident (const void *from, size_t bytes);

void mappings_malloc (MappingsMalloc *m);

/* Returns the resident bytes of the process, by the process's own counter; 0 if unknown. */
uint64_t mappings_rss (void);

/*
** Returns a result of mappings_rss that is at most 'age' ns older than 'now' (clock_now). A call of
** mappings_rss costs about as much as all other records of a state that lives for one request.
** Thread-safe.
*/
uint64_t mappings_recentrss (uint64_t now, uint64_t age);
/* Returns 'now' of the last mappings_recentrss that called mappings_rss; 0: none. Thread-safe. */
uint64_t mappings_rsstime (void);

#endif
