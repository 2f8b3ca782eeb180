/* SPDX-License-Identifier: MIT */
/*
** Reads how much memory of the process is resident, mapping by mapping, and the totals of malloc.
** Linux only. Independent of Lua and of profiles.
**
** Each mapping is counted for a file, for [heap] (the sbrk area of malloc), for stacks, for the
** system, or as anonymous. A mapping counts as a thread's stack if it contains the thread's stack
** pointer. The system does not report the stack pointer of another thread that is running, so its
** stack counts as anonymous. Other mappings of malloc are anonymous, too; mappings_malloc reports
** their total size.
**
**   SM1  'rss' is the sum of all parts. It is computed from the mappings, except for SM2, because
**        the process's own counter lags by some pages per thread;
**   SM2  mappings of more than 1 GiB are not read, because programs and sanitizers reserve
**        terabytes. If there are such mappings, and the process's own counter exceeds the sum over
**        the others, 'rss' is that counter, and the difference is added to 'anonymous'.
*/
#ifndef asamp_mappings_h
#define asamp_mappings_h

#include <stddef.h>
#include <stdint.h>

#define MAPPINGS_FILES	24	/* Entries of 'files'; if there are more files, the last entry is
				   for all others. */
#define MAPPINGS_NAME	96	/* Size of a name in bytes, including its NUL. A longer name loses
				   its start. */

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
** Totals of glibc's malloc in bytes. 'inuse': blocks in use, including 'mapped'. 'unused': free
** blocks. 'arenas': size of the arenas and of the sbrk area. 'mapped': blocks that have a mapping
** of their own. All are 0 with another malloc or with a glibc before 2.33.
*/
typedef struct MappingsMalloc {
  uint64_t inuse, unused, arenas, mapped;
} MappingsMalloc;

/*
** Reads the mappings. Takes about 200 us, and longer if there are many. Reads the pages by mincore:
** 3 ns per resident page, while /proc/self/smaps would take 100 ns. May allocate. Returns 0, with
** all fields 0, if there is not enough memory or the system does not report the mappings (no
** /proc).
*/
int mappings_read (Mappings *s);

/* Returns the resident bytes of all pages that overlap the range of anonymous memory. */
uint64_t mappings_resident (const void *from, size_t bytes);

void mappings_malloc (MappingsMalloc *m);

/* Returns the resident bytes of the process, by the process's own counter; 0 if unknown. */
uint64_t mappings_rss (void);

/* Like mappings_rss, but may return an earlier reading that is less than 'age' ns older than 'now'
   (clock_now): for a state that lives for one request, a reading costs about as much as all records
   of the state. Thread-safe. */
uint64_t mappings_recentrss (uint64_t now, uint64_t age);
/* Returns the time of the last reading of the resident bytes by mappings_recentrss, which is the
   argument 'now' of that call. Returns 0 if there was none. Thread-safe. */
uint64_t mappings_rsstime (void);

#endif
