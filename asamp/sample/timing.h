/* SPDX-License-Identifier: MIT */
/*
** Time samples of one state: connects the timer (timer.h) with the core's ticks and safepoints
** (luaN_interrupt of seam.h), and with stacks and the tracker's client.
**
** The signal handler stores the native stack and the core's data in a buffer (moments.h). At
** the next safepoint, the program's thread walks the Lua stack, which completes the sample, and
** passes it to the client.
**
**   TI1  every tick becomes a sample or is counted as lost;
**   TI2  time that the sampler itself takes is attributed to the stack where it was taken, with
**        the sampler's native functions;
**   TI3  time that timing_point takes, including waits for the writer, becomes one sample at
**        its end, which needs no safepoint. Otherwise, with deep stacks, samples of the sampler
**        itself would be made faster than they can be written;
**   TI4  a tick is completed only on the OS thread of the timer. While the state runs on another
**        OS thread, earlier ticks stay in the buffer until it returns, or are lost (timing_drop);
**        new ticks on the timer's thread are lost;
**   TI5  time during which the program lets no signal through is lost. It is counted when the
**        timer stops, on whatever thread, unless the time is so short that the signal may just be
**        late (timer.c);
**   TI6  if the handler's stack has no space for a walk, the sample has no C stack, and is
**        counted.
*/
#ifndef asamp_timing_h
#define asamp_timing_h

#include <signal.h>

#include "lua.h"

#include "moments.h"
#include "seam.h"
#include "timer.h"
#include "tracker.h"

/* Lowest and highest rate, in samples per second. */
enum { TIMING_MIN = 1, TIMING_MAX = 30000 };

/* The time sampling of one state. */
typedef struct Timing {
  Timer *timer;			/* NULL: time is not sampled. */
  lua_State *L;			/* Main thread of the state. */
  int native;	/* 1: samples have C stacks. */
  luaN_Code code;
  Moments moments;		/* Ticks not yet completed. Without buffers: never started. */
  uint64_t own;			/* Periods since the running timing_point started (TI3). */
  Moment last;			/* The last completed tick, without its native frames. */
  uint64_t away;		/* Lost periods: another thread ran the state, no signals
				   came (TI5), or the thread was ending. */
  uint64_t samples;		/* Periods that became samples in this session. */
  uint64_t cramped;		/* Periods of samples without a C stack (TI6), in this session. */
  uint64_t inticks, inpoints;	/* ns of CPU time that the handler and timing_point have taken, in
				   this session. */
} Timing;

/*
** Starts to sample the time of the calling thread every 'ns' nanoseconds. L is the state's main
** thread; 'words' is the size of a buffer (moments.h). Returns 0 with a message in 'err' on
** failure. The caller must call timing_point at safepoints from now on.
*/
int timing_start (Timing *t, lua_State *L, uint64_t ns, TimerClock clock,
                  int native, size_t words, char *err, size_t errsize);

/* Stops the ticks. timing_point still completes the ticks in the buffer. */
void timing_stop (Timing *t);

/*
** Does timing_stop and timing_drop at exit() on the timer's thread, also in a signal handler that
** interrupted anything (timer_leave). Returns the periods lost.
*/
uint64_t timing_leave (Timing *t);

/* Completes the ticks in the buffer at a safepoint of L, and passes them to the client of k. Does
   nothing on another thread than the running timer's (TI4), or without memory. */
void timing_point (Timing *t, lua_State *L, Tracker *k);

/* Drops the ticks in the buffer, which no safepoint can complete any more. Returns all periods
   lost since the last call. */
uint64_t timing_drop (Timing *t);

void timing_close (Timing *t);

/* Discards the parent's timer and its ticks, in the child of a fork. */
void timing_forked (Timing *t);

#endif
