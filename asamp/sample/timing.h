/* SPDX-License-Identifier: MIT */
/*
** Takes the time samples of one Lua state. The timer's signal handler stores a tick: native stack
** and core data (moments.h). At the next safepoint, the program's thread walks the Lua stack and
** passes the sample to the client.
**
**   TI1  every tick becomes a sample or is counted as lost;
**   TI2  time that the sampler itself takes is attributed to the program's stack at that time, with
**        the sampler's native functions as the innermost frames;
**   TI3  ticks during timing_point become one sample at its end, so that the sampler does not keep
**        sampling itself;
**   TI4  a tick is completed only on the timer's OS thread; ticks while another thread runs the
**        state are lost;
**   TI5  time in which the program blocks the signals is counted as lost when the timer stops;
**   TI6  if the handler's stack has no space for a walk, the sample has no C stack and is counted
**        in 'cramped'.
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
  Moments moments;		/* Ticks not yet completed at a safepoint. */
  uint64_t own;			/* Sampling periods of ticks while timing_point ran; they become one
                                   sample at its end. */
  Moment last;			/* The tick completed last, without native frames. */
  uint64_t away;		/* Sampling periods lost because another thread ran the state, the
                                   program blocked the signals, or the thread was ending. */
  uint64_t samples;		/* Sampling periods that became samples in this session. */
  uint64_t cramped;		/* Sampling periods of samples without a C stack in this session,
                                   because the handler's stack had no space for a walk. */
  uint64_t inticks, inpoints;	/* CPU time of the handler, and of timing_point, in this
                                   session, ns. */
} Timing;

/* Starts to sample the calling thread every 'ns' nanoseconds. 'words' is the size of a buffer
   (moments.h). Returns 0 on failure, with a message in 'err'. The caller must then call
   timing_point at every safepoint. */
int timing_start (Timing *t, lua_State *L, uint64_t ns, TimerClock clock,
                  int native, size_t words, char *err, size_t errsize);

/* Stops the ticks. timing_point still completes the ticks in the buffer. */
void timing_stop (Timing *t);

/* Like timing_stop and then timing_drop, for exit(): a signal handler on the timer's thread may
   call it. Returns the sampling periods lost. */
uint64_t timing_leave (Timing *t);

/* Completes the buffered ticks at a safepoint of L and passes the samples to the client of k. Does
   nothing if this is not the timer's OS thread. */
void timing_point (Timing *t, lua_State *L, Tracker *k);

/* Drops the buffered ticks. Returns the sampling periods lost since the last call, including those
   of the dropped ticks. */
uint64_t timing_drop (Timing *t);

void timing_close (Timing *t);

/* Returns 1 if the buffer has ticks. */
int timing_pending (const Timing *t);

/* Discards the parent's timer, ticks and counts of lost periods, in the child of a fork. */
void timing_forked (Timing *t);

#endif
