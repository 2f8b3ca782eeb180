/* SPDX-License-Identifier: MIT */
/*
** The process keeps one freed block at the end of malloc's heap, and returns free memory inside
** this heap to the system.
**
** The kept block. malloc returns the end of its heap to the system as soon as more than 128 KiB are
** free there, and the system clears the memory again for the next request. A state of luaL_newstate
** has only its large blocks in malloc's heap, and each sweep frees some of them. Without the kept
** block, programs that make and drop large strings took up to six times as long.
**
** All states of the process share the kept block: the freed block with the highest address.
** luaN_freeend (host.h) frees it in luaC_fullgc, and in other collections if no block was offered
** for a second.
**
** Memory inside the heap. malloc returns only the end of its heap, and one small live block there
** prevents that: a state that had dropped 190 of 200 MB of large strings kept its size. So
** malloc_trim of the GNU C library is called if many bytes were freed
** - in luaC_fullgc, except in an emergency
** - when the last state of the process is closed
** - after a major collection that has found the heap shrunk (major.c), if the heap is not big; at
**   most once a second
**
** malloc_trim takes about 0.1 ms for each MiB, cannot be sliced, and blocks other OS threads that
** allocate.
*/
#pragma once

#include <stddef.h>

/*
** Time without use, in milliseconds, after which kept memory is returned to the system: the block
** at the end of malloc's heap, mappings of closed states, pages of heaps that have shrunk. Unless
** its argument 'now' is 1, luaN_giveback calls malloc_trim at most once in this time. A lower value
** makes the system clear pages more often.
*/
#define LUAN_UNUSED_MS	1000u

/* Takes a flag that protects memory shared by the states of the process, and returns 1. Returns 0
   if another OS thread has the flag. */
#define luaN_hold(flag)  (!__atomic_exchange_n(flag, 1, __ATOMIC_ACQUIRE))

/* Releases a flag taken by luaN_hold. */
#define luaN_letgo(flag)  __atomic_store_n(flag, 0, __ATOMIC_RELEASE)

/* True if luaN_keepend may keep a freed block of n bytes: n is from 8 KiB to 16 MiB. */
#define luaN_mayend(n)	((n) - (size_t)8 * 1024 <= (size_t)16376 * 1024)

/* Offers the block at p, which the caller is about to free, as the one kept block. Keeps it if its
   address is below the program break (the end of malloc's heap) and above the address of the block
   kept so far. Returns the block that the caller must free instead: p if p is not kept; otherwise
   the block kept so far, or NULL if no block was kept. ms: the present time in milliseconds.
   Thread-safe. */
LUAI_FUNC void *luaN_keepend (void *p, unsigned ms);

/* Takes the block that luaN_keepend keeps, and returns it. The caller must pass the block to
   lua_Alloc to free it. From then on, no block is kept. Returns NULL
   - if no block is kept
   - if another OS thread uses the kept block
   - if luaN_keepend has received a block less than a second ago, and 'now' is 0
   ms: the present time in milliseconds. Thread-safe. */
LUAI_FUNC void *luaN_takeend (unsigned ms, int now);

/* Adds 'bytes', which a state has freed by lua_Alloc, to the count of the process that
   luaN_giveback reads. Thread-safe. */
LUAI_FUNC void luaN_countfreed (size_t bytes);

/* Calls malloc_trim if the states of the process have freed at least 16 MiB since its last call. If
   'now' is 0, does so at most once in LUAN_UNUSED_MS milliseconds. Returns 1 if it has called
   malloc_trim, else 0. ms: the present time in milliseconds; not used if 'now' is 1.
   Thread-safe. */
LUAI_FUNC int luaN_giveback (unsigned ms, int now);
