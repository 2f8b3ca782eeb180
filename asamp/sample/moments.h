/* SPDX-License-Identifier: MIT */
/*
** Moments that wait for their point: what a signal handler notes of a time
** sample until the program's thread can complete it. Two buffers of fixed size:
** the handler fills one while the program's thread empties the other, so that
** neither waits.
**
**   M1  moments_add allocates nothing, takes no lock, and is never interrupted
**       by another moments_add of the same Moments;
**   M2  moments_take is not called in a signal handler; a moment added while it
**       runs is in the buffer taken, or in the next;
**   M3  periods added = periods taken + lost. In a buffer that is half full a moment is
**       added to an equal one, whose time stays; in a full one, to the last moment of the
**       same frame. Only where there is none its periods are lost.
** This file knows no Lua.
*/
#ifndef asamp_moments_h
#define asamp_moments_h

#include <stddef.h>
#include <stdint.h>

#define MOMENTS_WORDS	((size_t)1 << 15)	/* of one buffer, ... */
#define MOMENTS_FEW	((size_t)1 << 11)	/* ... where states are many */

typedef struct Moment {
  uint64_t time;		/* CLOCK_MONOTONIC, ns */
  uint64_t count;		/* periods, >= 1 */
  void *L, *ci;			/* as in luaN_Moment */
  uint16_t collecting;
  uint16_t label;		/* of the thread */
  uint32_t n;			/* native frames, which follow it */
} Moment;

/* The native frames of a moment in a buffer, innermost first: n return addresses. */
#define moment_native(e)	((void **)(void *)((e) + 1))

typedef struct Moments {
  uint64_t *buffer[2];
  size_t words;			/* of one */
  size_t used[2];		/* words */
  volatile unsigned current;	/* the buffer that is filled */
  uint64_t lost;		/* periods that found no room */
} Moments;

/* Buffers of so many words. 0: no memory. */
int moments_open (Moments *m, size_t words);
void moments_close (Moments *m);

/* Adds *e with its e->n frames 'native'. In a signal handler only. */
void moments_add (Moments *m, const Moment *e, void *const *native);

/*
** Takes the moments in the buffer, oldest first: calls f with each, which
** may change it. They are forgotten then.
*/
void moments_take (Moments *m, void (*f) (void *ud, Moment *e), void *ud);

#endif
