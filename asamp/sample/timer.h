/* SPDX-License-Identifier: MIT */
/*
** Timers: calls functions at rates of CPU time of one OS thread, or of wall time, in
** a signal handler on that thread. A timer is of somebody whose code may run on the
** thread (a Lua state). An OS thread has one clock of a sort, which makes the signals of
** all of its timers, at the highest of their rates. The time that a tick stands for is
** given to the timer of whose code runs: to one, all of it.
**
** A clock's time is divided into spans: of one period, or of several where fewer
** signals must do. Each has one tick, at a random point, so that ticks are in step with
** nothing that the program does, or the kernel (whose scheduler's tick is where a thread
** begins to run that was woken while others had the processor). A tick stands for its
** whole span, and for all that has passed when it comes later than that. So what makes the
** signals need not be exact. It is:
**   TIMER_CPU    CPU time, in spans of 4 ms at least: perf_event_open's task clock, an
**                interrupt at that point of the thread's time. It may come on the way into
**                a sleep, which ends the sleep. If the kernel grants the event for user
**                mode only, the thread's POSIX timer is set, too, for kernel mode. If the
**                kernel refuses the event, there is the POSIX timer alone, whose signals
**                come when the scheduler ticks (100 to 1000 times a second): what runs just
**                after a wake-up gets too little then;
**   TIMER_EXACT  the same in spans of one period; an error where the kernel refuses the
**                event;
**   TIMER_WALL   wall time: a POSIX timer, in spans of one period. It interrupts sleeps.
**
** The signal is SIGURG with SA_RESTART: a signal that nobody handles is ignored
** then, so one that is still on its way when the process becomes another program
** (exec) does not end that, as SIGPROF would. In a thread that blocks SIGURG it is
** SIGWINCH, of which the same is true, if that has its default action and is not blocked.
** The signal's disposition is ours while any timer runs that uses it. One
** of another origin is passed on to the handler that was
** there before, once; one of our own that comes late is dropped. The handler runs on
** the thread's alternate stack (SA_ONSTACK, altstack.h), of which it leaves what is
** above TIMER_STACK bytes alone, with the tick.
**
**   C1  the times of a clock's timers add up to the clock's, to one span, while there are
**       any: but for CPU time that ticks take themselves. Periods counted of a timer are
**       its time / period, rounded by chance;
**   C2  no tick after timer_stop has returned, on whatever thread it is called;
**   C3  sampling takes about half of the thread's time at most, however high the rates,
**       however many the timers and however long a tick takes: the next one comes
**       later, and counts for more. What is taken: the signal itself (measured at the
**       start, where the rate is high), the tick, and what timer_cost has told;
**   C4  neither timers nor clocks are given back to the system: a handler may look at
**       them;
**   C5  a descriptor is the clock's own when its event has the number that it
**       had: one that the program has closed, and may have for something else,
**       is left alone. The POSIX timer makes the ticks of CPU time then;
**   C6  while nobody's code runs that has a timer, time is given to the timer that had
**       it last: one that is alone has all of it;
**   C7  a clock stops with its last timer, and goes on with the thread's next, in the same
**       span: timers that each run for less than a period lose none of it;
**   C8  at each point of a clock's time the expected value of the time counted there is the
**       time itself: the length of a span depends only on the time before it.
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

/* From here on the clock of a thread keeps its descriptor while it has no timers, until the
   thread ends: for a process that makes a state for each of its requests. */
void timer_keep (void);

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
