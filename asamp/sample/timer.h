/* SPDX-License-Identifier: MIT */
/*
** Timers: calls functions at rates of CPU time of one OS thread, or of wall time, in
** a signal handler on that thread. A timer is of somebody whose code may run on the
** thread (a Lua state); an OS thread has one clock of a sort that makes signals,
** whatever the number of its timers, at the highest of their rates. What has passed
** since the tick before is given to the timer of whose code runs: to one, all of it.
**
** What a tick stands for is read from the clock, not counted: 'count' periods
** of the timer's time have passed since its tick before. So a signal that comes late,
** or not at all, loses nothing, and what makes the signals need not be exact:
**   TIMER_CPU    CPU time: the thread's POSIX timer. The kernel looks at it when
**                the scheduler ticks (100 to 1000 times a second), so a tick of
**                ours may stand for several periods. It costs next to nothing
**                and interrupts hardly a system call that sleeps;
**   TIMER_EXACT  CPU time: perf_event_open's task clock, an interrupt for each
**                period, where the kernel grants it: also on the way into a
**                sleep, which ends it. When it does for user mode only, the
**                POSIX timer runs beside it, for kernel mode;
**   TIMER_WALL   wall time: a POSIX timer, an interrupt for each period. It
**                interrupts sleeps.
**
** The signal is SIGURG with SA_RESTART: a signal that nobody handles is ignored
** then, so one that is still on its way when the process becomes another program
** (exec) does not end that, as SIGPROF would. Its disposition is ours while any
** timer runs. SIGURG of another origin is passed on to the handler that was
** there before, once; one of our own that comes late is dropped. The handler runs on
** the thread's alternate stack (SA_ONSTACK, altstack.h), of which it leaves what is
** above TIMER_STACK bytes alone, with the tick.
**
**   C1  periods counted of a timer = floor(its time / period + 1/2), and the times of a
**       clock's timers add up to the clock's, while there are any: but for CPU time
**       that ticks take themselves;
**   C2  no tick after timer_stop has returned, on whatever thread it is called;
**   C3  sampling takes about half of the thread's time at most, however high the rates,
**       however many the timers and however long a tick takes: the next one comes
**       later, and counts for more. What is taken: the signal itself (measured at the
**       start, where the rate is high), the tick, and what timer_cost has told;
**   C4  neither timers nor clocks are given back to the system: a handler may look at
**       them;
**   C5  a descriptor is the clock's own when its event has the number that it
**       had: one that the program has closed, and may have for something else,
**       is left alone. There are no ticks then;
**   C6  while nobody's code runs that has a timer, time is given to the timer that had
**       it last: one that is alone has all of it.
** In the child of a fork there is no timer: timer_forked.
*/
#ifndef asamp_timer_h
#define asamp_timer_h

#include <stddef.h>
#include <stdint.h>

typedef struct Timer Timer;

typedef enum TimerClock { TIMER_CPU, TIMER_EXACT, TIMER_WALL } TimerClock;

/*
** 'context' is the handler's ucontext_t. Must be safe in a signal handler; errno
** is kept for it.
*/
typedef void TimerTick (void *ud, uint64_t count, void *context);

/*
** Bytes that the handler takes of its stack at most, beside the kernel's: with a tick that
** walks a C stack (an alternate stack of 8 KiB, as many programs give their threads, has
** room for that), and without one.
*/
#if defined(__SANITIZE_ADDRESS__)
#define TIMER_STACK	((size_t)8192)
#define TIMER_LEAST	((size_t)6144)
#else
#define TIMER_STACK	((size_t)4352)
#define TIMER_LEAST	((size_t)2048)
#endif

/*
** Whose code the thread runs that has been interrupted, innermost first: writes
** TIMER_DEPTH at most, and returns how many. As TimerTick.
*/
#define TIMER_DEPTH	16u
typedef unsigned TimerWho (const void **whose, void *context);

/* Before the first timer; the same function for all of them. */
void timer_who (TimerWho *who);

/*
** A timer of the calling thread that runs from now on, with a period of 'ns'
** nanoseconds, for 'whose' code. NULL: there is none (SIGURG is blocked in this
** thread, say); 'err' says why in one line.
*/
Timer *timer_start (uint64_t ns, TimerClock clock, const void *whose, TimerTick *f,
                    void *ud, char *err, size_t errsize);

/*
** Ends the timer; on any thread. Returns the periods of its time (C6) that no tick has
** counted because the signals did not come: the program has blocked them, or has taken
** their handler and not given it back. 0 when the timer's own thread has ended, for its
** clock is gone.
*/
uint64_t timer_stop (Timer *t);

/*
** No tick from here on, on the timer's own thread: it takes no lock, and may be
** called in a signal handler that interrupted anything. For exit(). Returns as
** timer_stop does; on another thread 0, whose clock this one cannot read.
*/
uint64_t timer_leave (Timer *t);

/* Is this the OS thread whose timer it is? */
int timer_mine (const Timer *t);

/*
** Ticks have cost 'ns' nanoseconds outside of the handler, of the program's
** thread (C3). On the timer's own thread.
*/
void timer_cost (Timer *t, uint64_t ns);

/* In the child of a fork: stops a timer of the parent's. */
void timer_forked (Timer *t);

#endif
