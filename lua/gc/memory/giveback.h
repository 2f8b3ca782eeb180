/* SPDX-License-Identifier: MIT */
/*
** Returns free memory inside malloc's heap to the system. malloc itself returns only the end of
** its heap, and one small live block there prevents that: a state that had dropped 190 of 200 MB
** of large strings, and a process that had closed 3,000 states of 25 KB, kept their size.
**
** So malloc_trim of the GNU C library is called when states of luaL_newstate have freed many bytes
** since the last call:
**   - by a full collection of luaC_fullgc that is not an emergency
**   - when the last state of the process is closed; at most once a second if another state was
**     closed within the second before
**   - after a major collection that has shrunk a heap of at most its share of LUAN_BIGHEAP
**     (major.c), at most once a second: for a program that drops such a heap repeatedly, the system
**     would clear the same pages again and again
**
** The call takes about 0.1 ms for each MiB that is returned and cannot be sliced; other OS threads
** that allocate have to wait. So major collections of a larger heap do not call malloc_trim.
*/
#ifndef luaN_giveback_h
#define luaN_giveback_h

#include <stddef.h>

/* Milliseconds without use after which freed memory that the process keeps is returned: the block
   at the end of malloc's heap (endblock.h), spare mappings (mapped.h), pages from which a heap has
   shrunk (major.c). Also the least time between two calls of malloc_trim without 'now'. With a
   lower number the system clears pages more often for a program that frees and allocates
   repeatedly. */
#define LUAN_UNUSED_MS	1000u

/* Adds to the bytes that states of this process have freed since malloc_trim was called.
   Thread-safe. */
LUAI_FUNC void luaN_countfreed (size_t bytes);

/* Calls malloc_trim (where the C library has it) if at least 16 MiB were freed since the last such
   call, and if 'now' is set or no such call without 'now' was in the second before 'ms'. Returns 1
   if both conditions hold, else 0. Thread-safe. */
LUAI_FUNC int luaN_giveback (unsigned ms, int now);

#endif
