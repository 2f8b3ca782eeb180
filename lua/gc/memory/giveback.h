/* SPDX-License-Identifier: MIT */
/*
** Returns free memory inside malloc's heap to the system. malloc itself returns only the end of its
** heap, and a single small live block near the end prevents that. For example, a state that had
** dropped 190 of 200 MB of large strings, and a process that had closed 3,000 states of 25 KB, kept
** their size.
**
** So malloc_trim of the GNU C library is called if states of luaL_newstate have freed many bytes
** since the last call, at these times:
**   - in luaC_fullgc, except in an emergency collection
**   - when the last state of the process is closed; at most once a second if another state was
**     closed within the second before
**   - after a major collection that has found the heap shrunk (major.c), if the heap is within the
**     state's share of LUAN_BIGHEAP; at most once a second, because the system would clear the same
**     pages again and again for a program that drops such a heap repeatedly
**
** malloc_trim takes about 0.1 ms for each MiB that it returns, cannot be sliced, and makes other OS
** threads wait when they allocate. For this reason major collections of a larger heap do not call
** it.
*/
#ifndef luaN_giveback_h
#define luaN_giveback_h

#include <stddef.h>

/*
** Freed memory that the process keeps is returned to the system after this number of milliseconds
** without use: the block at the end of malloc's heap (endblock.h), spare mappings (mapped.h), pages
** of heaps that have shrunk (major.c). Also the least time between two calls of malloc_trim without
** 'now'. A lower number makes the system clear pages more often for a program that frees and
** allocates repeatedly.
*/
#define LUAN_UNUSED_MS	1000u

/* The flag that protects a cache of free memory that all states of the process share (endblock.c,
   mapped.c). luaN_hold takes the flag and returns 1, or returns 0 if another OS thread has it.
   luaN_letgo releases it. */
#define luaN_hold(flag)  (!__atomic_exchange_n(flag, 1, __ATOMIC_ACQUIRE))
#define luaN_letgo(flag)  __atomic_store_n(flag, 0, __ATOMIC_RELEASE)

/* Adds 'bytes', which states of this process have freed, to the number of bytes that were freed
   since malloc_trim was last called. Thread-safe. */
LUAI_FUNC void luaN_countfreed (size_t bytes);

/* Calls malloc_trim, if the C library has it, and returns 1. Returns 0 without the call if less
   than 16 MiB were freed since the last call. If 'now' is 0, also returns 0 if the last call with
   'now' 0 was less than LUAN_UNUSED_MS before 'ms', the present time in milliseconds.
   Thread-safe. */
LUAI_FUNC int luaN_giveback (unsigned ms, int now);

#endif
