/* SPDX-License-Identifier: MIT */
/*
** Timers that call a function in a signal handler, at given rates of CPU or wall time. A timer
** belongs to a Lua state. An OS thread has a clock for CPU time and one for wall time. A clock
** sends the signals ("ticks") for all its timers. At a tick, the timer of the state that runs
** receives the time since the last tick.
**
** Time is divided into spans of one or more sampling periods. Each span has one tick, at a random
** time. TIMER_CPU and TIMER_EXACT use perf_event_open. TIMER_WALL uses a POSIX timer; so does
** TIMER_CPU if perf_event_open fails. The signal is SIGURG, or SIGWINCH if the thread blocks
** SIGURG; such signals from other senders are passed to the program's handler.
*/

/*
** Rules for time. A clock measures the time of one OS thread and sends signals (ticks). A
** sampled Lua state has a timer, which receives a part of the clock's time at ticks.
**
**   C1  the sum of the times that a clock's timers have received differs from the clock's time by
**       less than one span (the part of the time for one tick). A clock of CPU time does not count
**       the time that ticks take. A timer converts its time to whole sampling periods and keeps the
**       remainder, which is random at the start;
**   C3  sampling takes at most about half of the thread's time: if ticks are expensive, the spans
**       become longer ("stretched");
**   C6  at a tick, the innermost running state that has a timer receives the time. If there is no
**       such state, the timer that received time last receives it;
**   C7  a clock without timers stops, and later continues in the same span. So timers that run only
**       for a short time lose no time;
**   C8  the length of a span depends only on the time before it, so counted time is unbiased.
*/

/*
** Rules that make signal handlers safe. A clock sends signals to an OS thread; the handler calls
** the timer of the Lua state that runs there.
**
**   C2  after timer_stop has returned, on any thread, the timer's function is not called any more;
**   C4  timers and clocks are never freed, because a handler may read them;
**   C5  the program may close the descriptor of a clock's perf event and reuse its number. So the
**       clock checks before each use that the descriptor still refers to the event. If not, the
**       next call of timer_cost opens another event.
*/
#ifndef asamp_timer_h
#define asamp_timer_h

#include <stddef.h>
#include <stdint.h>

typedef struct Timer Timer;

typedef enum TimerClock { TIMER_CPU, TIMER_EXACT, TIMER_WALL } TimerClock;

/* Called at a tick, with the handler's ucontext_t. 'count': number of the timer's sampling periods
   since the last call of its function. Must be async-signal-safe. */
typedef void TimerTick (void *ud, uint64_t count, void *context);

/* Largest stack use of the signal handler in bytes, without the signal frame. TIMER_STACK: if ticks
   walk the C stack. TIMER_LEAST: if they do not. */
#if defined(__SANITIZE_ADDRESS__)
#define TIMER_STACK	((size_t)8192)
#define TIMER_LEAST	((size_t)6144)
#else
#define TIMER_STACK	((size_t)4352)
#define TIMER_LEAST	((size_t)2048)
#endif

/* Starts a timer of the calling thread for the Lua state with main thread 'whose', with a period of
   'ns' nanoseconds. Ticks call f with 'ud'. Returns NULL on failure, with a message in 'err'.
   Call owner_prime first. */
Timer *timer_start (uint64_t ns, TimerClock clock, const void *whose, TimerTick *f,
                    void *ud, char *err, size_t errsize);

/* Writes to 'err' that there is not enough memory, and sets errno. Returns 0. */
int timer_nomemory (char *err, size_t errsize);

/* Makes the clock of an OS thread keep its perf event and POSIX timer until the thread ends, even
   after the last Lua state with a timer of this clock is closed. So a program with many short-lived
   states creates few perf events and POSIX timers. */
void timer_keep (void);

/* Stops the timer; may be called on any thread. Returns the number of periods that were lost
   because the program blocked the signal, replaced the handler, or set an alternate stack that is
   too small; 0 if the timer's thread has ended. */
uint64_t timer_stop (Timer *t);

/* Like timer_stop, for exit(): takes no lock, so that a signal handler may call it. Returns 0 on
   another thread than the timer's. */
uint64_t timer_leave (Timer *t);

/* Returns 1 if the calling thread is the timer's OS thread; 0 if it is another one, the timer is
   stopped, or t is NULL. May be called on any thread. */
int timer_mine (const Timer *t);

/* Adds time that sampling has taken outside the handler to the cost of ticks, which limits how
   frequent ticks are. 'cpu': CPU time, 'wall': wall time, ns. Call it on the timer's thread,
   outside the handler. */
void timer_cost (Timer *t, uint64_t cpu, uint64_t wall);

/* Called in the child of a fork: stops a timer that the parent process started. */
void timer_forked (Timer *t);

#endif
