/* SPDX-License-Identifier: MIT */
/*
** Takes the time samples of one Lua state. The timer's signal handler stores each tick (moments.h):
** the native stack, and the running Lua thread and frame. At the next safepoint, the program's
** thread completes the tick: it walks the Lua stack and passes the sample to the client.
*/

/*
** How ticks (signals of the sampling timer) become samples:
**
**   TI1  every tick becomes a sample or is counted as lost;
**   TI2  time that the sampler itself takes is attributed to the program's stack at that time, with
**        the sampler's native functions as the innermost frames;
**   TI3  ticks during timing_point (which completes the ticks) become one sample at its end.
**        Otherwise the sampler would sample itself again and again;
**   TI4  a tick is completed only on the timer's OS thread; ticks while another thread runs the
**        state are lost;
**   TI5  time in which the program blocks the signals, or has an alternate stack that is too small,
**        is counted as lost when the timer stops;
**   TI6  if the signal handler's stack has no space for a walk, the sample has no C stack and is
**        counted in 'cramped'.
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
  Moments moments;		/* Ticks from which no samples were taken yet. */
  uint64_t own;			/* Number of sampling periods of the ticks that arrived while
                                   timing_point ran. At its end, timing_point makes one sample of
                                   these periods. */
  /* The data of the tick from which the last sample was taken; its native frames are not kept. */
  Moment last;
  uint64_t away;		/* Number of sampling periods without a sample, because another
                                   thread ran the state, the program blocked the signals, or the
                                   thread was ending. */
  /* Time that the samples of this session represent, in sampling periods. A sample represents one
     or more. */
  uint64_t samples;
  uint64_t cramped;		/* Number of sampling periods of this session's samples that have no
                                   C stack, because the handler's stack had no space for a walk. */
  uint64_t inticks, inpoints;	/* inticks: time of the signal handler in this session, ns.
                                   inpoints: CPU time of timing_point in this session, ns. */
  int slow;	/* 1: the last call of timing_point took SLOW_NS or more, so the next one reads the
                   CPU clock. */
} Timing;

/* Starts to sample the calling thread every 'ns' nanoseconds. 'native' 1: samples have C stacks.
   'words': size of each buffer for ticks, in words of 8 bytes (moments.h). Returns 0 on failure,
   with a message in 'err'. The caller must then call timing_point at every safepoint. */
int timing_start (Timing *t, lua_State *L, uint64_t ns, TimerClock clock,
                  int native, size_t words, char *err, size_t errsize);

/* Stops the ticks. Ticks in the buffer still become samples at the next timing_point. */
void timing_stop (Timing *t);

/* Does the work of timing_stop and timing_drop, for exit(). A signal handler on the timer's thread
   may call it. Returns the number of sampling periods of lost samples (timing_drop). */
uint64_t timing_leave (Timing *t);

/* Takes samples from the buffered ticks, at a safepoint of L, and passes them to the client of
   tracker k. Does nothing on another OS thread than the timer's. */
void timing_point (Timing *t, lua_State *L, Tracker *k);

/* Drops the buffered ticks. Returns the number of sampling periods for which no sample was taken
   since the last call; it includes those of the dropped ticks. */
uint64_t timing_drop (Timing *t);

void timing_close (Timing *t);

/* Returns 1 if the buffer has ticks. */
int timing_pending (const Timing *t);

/* Called in the child of a fork: discards the parent's timer, its ticks and its counts of lost
   periods. */
void timing_forked (Timing *t);

#endif
