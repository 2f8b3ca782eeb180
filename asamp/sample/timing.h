/* SPDX-License-Identifier: MIT */
/*
** Time samples of one state: ties the timer (timer.h) to the core's moments and
** points (luaN_interrupt of seam.h), and to stacks and the client of its tracker.
**
** In the handler: the native stack and what the core notes go into a buffer
** (moments.h). At the next point, on the program's thread: the Lua stack is
** walked, the sample is complete, and the client is told.
**
**   TI1  every moment becomes a sample, or is counted as lost;
**   TI2  time that the sampler itself takes is shown where it was taken, with its
**        own native functions;
**   TI3  time that timing_point takes, waiting for the writer too, becomes one
**        sample at its end, which costs no point: else deep stacks would make
**        samples faster than they can be written, of nothing but themselves;
**   TI4  on another OS thread than the timer's no moment is completed: they wait
**        until the state is back, or are lost in the end. What passes there
**        while the state runs elsewhere is lost;
**   TI5  time for which the program lets no signal come is lost. It is counted when the
**        timer stops, on whatever thread, unless it is so short that the signal may just
**        be late (timer.c);
**   TI6  where the handler's stack has no room for a walk, the sample has no C stack,
**        and is counted.
*/
#ifndef asamp_timing_h
#define asamp_timing_h

#include <signal.h>

#include "lua.h"

#include "moments.h"
#include "seam.h"
#include "timer.h"
#include "tracker.h"

/* A rate, in samples a second. */
enum { TIMING_MIN = 1, TIMING_MAX = 30000 };

typedef struct Timing {
  Timer *timer;			/* NULL: time is not sampled */
  lua_State *L;			/* the state's main thread */
  int native;
  luaN_Code code;
  Moments moments;		/* without buffers: it never ran */
  uint64_t own;			/* periods since timing_point began, which runs (TI3) */
  Moment last;			/* that it has completed; native frames apart */
  uint64_t away;		/* periods while another thread ran the state, or for
			   which no signal came (TI5) */
  uint64_t samples;		/* periods that became samples, in the session, ... */
  uint64_t cramped;		/* ... and moments of them without a C stack (TI6) */
  uint64_t inticks, inpoints;	/* ns that took, in the session */
} Timing;

/*
** Begins to sample the time of the calling thread every 'ns' nanoseconds. L is
** the state's main thread. 0: it could not be; 'err' says why. Points are to
** be handed to timing_point from then on. 'words' of a buffer (moments.h).
*/
int timing_start (Timing *t, lua_State *L, uint64_t ns, TimerClock clock,
                  int native, size_t words, char *err, size_t errsize);

/* No more moments; those that wait are still to be taken by timing_point. */
void timing_stop (Timing *t);

/* As timing_stop and timing_drop, at exit(), on the timer's own thread, whatever that was
   doing (timer_leave). */
uint64_t timing_leave (Timing *t);

/* At a point of L: completes the moments that wait, and tells the client of k. */
void timing_point (Timing *t, lua_State *L, Tracker *k);

/*
** Drops moments that no point can complete any more; returns how many periods
** they are, with those that have found no room.
*/
uint64_t timing_drop (Timing *t);

void timing_close (Timing *t);

/* In the child of a fork: forgets the parent's timer and its moments. */
void timing_forked (Timing *t);

#endif
