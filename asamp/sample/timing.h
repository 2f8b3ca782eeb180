/* SPDX-License-Identifier: MIT */
/*
** Time samples of one state: connects the timer (timer.h) with the core's ticks and safepoints
** (luaN_interrupt of seam.h), and with stacks and the tracker's client.
**
** The signal handler stores the native stack and the core's data in a buffer (moments.h). At the
** next safepoint, the program's thread walks the Lua stack, which completes the sample, and passes
** the sample to the client.
**
**   TI1  every tick becomes a sample or is counted as lost;
**   TI2  time that the sampler itself takes is attributed to the stack at which it was taken; the
**        sampler's native functions are the innermost frames;
**   TI3  time that timing_point takes, including waits for the writer, becomes one sample at the
**        end of timing_point, without another safepoint. Otherwise, with deep stacks, samples of
**        the sampler itself would be made faster than they can be written;
**   TI4  a tick is completed only on the OS thread of the timer. While the state runs on another OS
**        thread, new ticks on the timer's thread are lost. Earlier ticks stay in the buffer until
**        the state returns to the timer's thread, or are lost (timing_drop);
**   TI5  time during which the program blocks the signals is counted as lost when the timer stops,
**        on whatever thread. It is not counted if it is so short that the signal may just be late
**        (timer.c);
**   TI6  if the handler's stack has no space for a walk, the sample has no C stack, and is counted
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
  Moments moments;		/* Ticks (signals of the timer) that were not yet made samples at a
				   safepoint. There are no buffers before the first timing_start. */
  uint64_t own;			/* Number of periods of the ticks that came while timing_point ran.
				   They become one sample at its end (TI3). */
  Moment last;			/* The tick that was made a sample last, without its native
			   frames. */
  uint64_t away;		/* Number of periods lost because another thread ran the state, the
				   program blocked the signals (TI5), or the thread was ending. */
  uint64_t samples;		/* Number of periods that became samples in this session. */
  uint64_t cramped;		/* Number of periods, in this session, of samples without a C stack
				   because the handler's stack had no space for a walk (TI6). */
  uint64_t inticks, inpoints;	/* ns of CPU time that the handler and timing_point have taken, in
				   this session. */
} Timing;

/*
** Starts to sample the time of the calling thread, every 'ns' nanoseconds. L is the state's main
** thread, and 'words' the size of a buffer (moments.h). On failure returns 0, with a message in
** 'err'. After this call the caller must call timing_point at every safepoint.
*/
int timing_start (Timing *t, lua_State *L, uint64_t ns, TimerClock clock,
                  int native, size_t words, char *err, size_t errsize);

/* Stops the timer and its ticks. timing_point still completes the ticks in the buffer. */
void timing_stop (Timing *t);

/*
** Does the work of timing_stop and timing_drop at exit(). Call it on the timer's thread. It may be
** called in a signal handler that interrupted anything (timer_leave). Returns the periods lost.
*/
uint64_t timing_leave (Timing *t);

/*
** Completes the ticks in the buffer at a safepoint of L, and passes the samples to the client of k.
** Does nothing on another OS thread than that of the timer (TI4), or if there is not enough memory.
*/
void timing_point (Timing *t, lua_State *L, Tracker *k);

/* Drops the ticks in the buffer, because no safepoint will complete them. Returns the number of
   periods lost since the last call, including those of the dropped ticks. */
uint64_t timing_drop (Timing *t);

void timing_close (Timing *t);

/* In the child of a fork: discards the parent's timer and ticks. */
void timing_forked (Timing *t);

#endif
