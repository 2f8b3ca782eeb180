/* SPDX-License-Identifier: MIT */
/*
** Buffers ticks between a signal handler and the program. A tick is a signal of the sampling timer.
** The handler records the tick's data in a buffer, and the program's thread completes the sample
** later. There are two buffers: one is filled while the other is emptied.
**
**   M1  moments_add allocates nothing, takes no lock, and is never interrupted by another
**       moments_add of the same Moments;
**   M2  moments_take is not called in a signal handler. A tick that is added during a call of
**       moments_take is taken by this call or the next;
**   M3  each sampling period is counted: added = taken + lost + buffered. If the buffer is more
**       than half full, a new tick is combined with a buffered tick that has the same frames, kind
**       of collection and label. If a tick does not fit, it is combined with the last buffered tick
**       that has the same innermost Lua frame, kind of collection and label; without one, the tick
**       is lost.
*/
#ifndef asamp_moments_h
#define asamp_moments_h

#include <stddef.h>
#include <stdint.h>

#define MOMENTS_WORDS	((size_t)1 << 15)	/* Usual size of one buffer, words of 8 bytes. */
#define MOMENTS_FEW	((size_t)1 << 11)	/* Size of one buffer in a profile of many states,
                                                   words of 8 bytes. */

/* A tick, as the signal handler recorded it. */
typedef struct Moment {
  uint64_t time;		/* CLOCK_MONOTONIC, ns. */
  uint64_t count;		/* Number of sampling periods since the previous tick, at least
                                   1. */
  void *L, *ci;			/* L: Lua thread that ran at the tick. ci: its innermost frame
                                   (CallInfo). */
  uint16_t collecting;	/* Kind of the collection that ran (luaN_Moment); 0: none. */
  uint16_t label;		/* Number of the label set of thread L. */
  uint32_t n;			/* Number of native frames, whose return addresses follow this
                                   struct. */
} Moment;

/* Returns the native frames of the tick e: return addresses, innermost first. */
#define moment_native(e)	((void **)(void *)((e) + 1))

/* The two buffers. */
typedef struct Moments {
  uint64_t *buffer[2];
  size_t words;			/* Size of one buffer, words of 8 bytes. */
  size_t used[2];		/* For each buffer: number of words that have data. */
  volatile unsigned current;	/* Index in 'buffer' of the buffer that the signal handler fills. */
  /* Number of sampling periods of the ticks that are lost (M3). */
  uint64_t lost;
} Moments;

/* Allocates buffers of 'words' words each. Returns 0 if out of memory. */
int moments_open (Moments *m, size_t words);
void moments_close (Moments *m);

/* Adds a copy of the tick *e and of its e->n native frames. Call it in a signal handler only. */
void moments_add (Moments *m, const Moment *e, void *const *native);

/* Passes all buffered ticks to f, oldest first, and removes them. f may change all fields of a
   Moment except 'n', from which moments_take computes where the next tick is stored. */
void moments_take (Moments *m, void (*f) (void *ud, Moment *e), void *ud);

#endif
