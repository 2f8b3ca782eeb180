/* SPDX-License-Identifier: MIT */
/*
** Ticks between signal and safepoint: the data that a signal handler records for a time sample, to
** be kept until the program's thread can complete the sample. Two buffers of fixed size: the
** handler fills one while the program's thread empties the other, so that neither waits.
**
**   M1  moments_add allocates nothing, takes no lock, and is never interrupted by another
**       moments_add of the same Moments;
**   M2  moments_take is not called in a signal handler. A tick added while moments_take runs is
**       taken by this call or by the next one;
**   M3  periods added = periods taken + lost + still in a buffer. If a buffer is more than half
**       full, the periods of a tick are added to an equal tick, which keeps its time; if it is
**       full and has no equal tick, to its last tick with the same frame, collection and label;
**       else they are lost.
**
** Independent of Lua.
*/
#ifndef asamp_moments_h
#define asamp_moments_h

#include <stddef.h>
#include <stdint.h>

#define MOMENTS_WORDS	((size_t)1 << 15)	/* Words of one buffer. */
#define MOMENTS_FEW	((size_t)1 << 11)	/* Words of one buffer in a process with many
						   states. */

/* A recorded tick. */
typedef struct Moment {
  uint64_t time;		/* Time of the tick: CLOCK_MONOTONIC, ns. */
  uint64_t count;		/* Number of periods, >= 1. */
  void *L, *ci;			/* Thread and frame, as in luaN_Moment. */
  uint16_t collecting;	/* Kind of the running collection, as in luaN_Moment; 0: none. */
  uint16_t label;		/* Label set of the thread. */
  uint32_t n;			/* Number of native frames, which follow in the buffer. */
} Moment;

/* The n native frames of a tick in a buffer: return addresses, innermost first. */
#define moment_native(e)	((void **)(void *)((e) + 1))

/* The two buffers. */
typedef struct Moments {
  uint64_t *buffer[2];
  size_t words;			/* Size of one buffer, in words of 8 bytes. */
  size_t used[2];		/* Used words of each buffer. */
  volatile unsigned current;	/* Index of the buffer that the handler fills. */
  uint64_t lost;		/* Periods of ticks for which there was no space. */
} Moments;

/* Allocates buffers of 'words' words each. Returns 0 if there is not enough memory. */
int moments_open (Moments *m, size_t words);
void moments_close (Moments *m);

/*
** Adds a copy of *e with its e->n frames 'native'. Call it in a signal handler only;
** async-signal-safe.
*/
void moments_add (Moments *m, const Moment *e, void *const *native);

/*
** Removes the ticks in the current buffer: calls f with each, oldest first; f may change the tick
** except its n. The buffer is empty afterwards.
*/
void moments_take (Moments *m, void (*f) (void *ud, Moment *e), void *ud);

#endif
