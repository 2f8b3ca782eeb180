/* SPDX-License-Identifier: MIT */
/*
** Stores ticks between the signal and the safepoint that completes them. A signal handler records
** the data of a time sample here, and the program's thread takes it later. There are two buffers
** of fixed size: the handler fills one while the thread empties the other, so that neither waits.
**
**   M1  moments_add allocates nothing, takes no lock, and is never interrupted by another
**       moments_add of the same Moments;
**   M2  moments_take is not called in a signal handler. A tick that is added while moments_take
**       runs is taken by the same call or by the next one;
**   M3  no period is dropped silently: periods added = periods taken + lost + still in a buffer.
**       If a buffer is more than half full, a tick that equals a stored one only adds its periods
**       to the stored tick, which keeps its time. If a buffer is full and has no equal tick, the
**       periods are added to the last tick with the same frame, collection and label. If there is
**       none, they are lost.
**
** Independent of Lua.
*/
#ifndef asamp_moments_h
#define asamp_moments_h

#include <stddef.h>
#include <stdint.h>

#define MOMENTS_WORDS	((size_t)1 << 15)	/* Size of one buffer in words of 8 bytes. */
#define MOMENTS_FEW	((size_t)1 << 11)	/* Size of one buffer, in words, in a process with
						   many states. */

/* A recorded tick: the time and place of the program when the sampling timer sent a signal. */
typedef struct Moment {
  uint64_t time;		/* Time of the tick: CLOCK_MONOTONIC, ns. */
  uint64_t count;		/* Number of sampling periods that have passed since the previous
				   tick, >= 1. */
  void *L, *ci;			/* Lua thread and its frame (CallInfo) that ran at the tick, from
				   luaN_Moment. */
  uint16_t collecting;	/* Kind of the collection that ran at the tick, from luaN_Moment; 0:
			   none. */
  uint16_t label;		/* Label set of the thread. */
  uint32_t n;			/* Number of native frames, which follow in the buffer. */
} Moment;

/* The n native frames of a tick in a buffer: return addresses, innermost first. */
#define moment_native(e)	((void **)(void *)((e) + 1))

/* The two buffers of recorded ticks. */
typedef struct Moments {
  uint64_t *buffer[2];
  size_t words;			/* Size of one buffer, in words of 8 bytes. */
  size_t used[2];		/* Used words of each buffer. */
  volatile unsigned current;	/* Index of the buffer that the handler fills. */
  uint64_t lost;		/* Number of sampling periods of the ticks (signals of the sampling
			   timer) for which there was no space. */
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
** Takes all ticks of the current buffer: calls f with each, oldest first, and empties the buffer.
** f may change the tick except its n.
*/
void moments_take (Moments *m, void (*f) (void *ud, Moment *e), void *ud);

#endif
