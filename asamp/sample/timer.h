/* SPDX-License-Identifier: MIT */
/*
** Timers: call functions in a signal handler of one OS thread, at rates of its CPU time or of
** wall time. A timer belongs to an owner (a Lua state) whose code may run on the thread. An OS
** thread has one clock for each of the two times; the clock generates the signals for all its
** timers, at the highest of their rates. The time that a tick represents is added to the timer
** whose owner's code is running; all of it to one.
**
** The time of a clock is divided into spans of one or (to limit signals) several periods. Each
** span has one tick, at a random point, so that ticks are not synchronized with the program or
** with the kernel (after the scheduler's tick a thread starts that was woken while others had
** the processor). A tick represents its whole span, and any delay beyond it. So the signal
** source need not be exact. Sources:
**
**   TIMER_CPU    CPU time, in spans of about 4 ms (whole periods) or of one longer period: the
**                task clock of perf_event_open, an interrupt at that point of the thread's time.
**                It may arrive on the way into a sleep and end the sleep. The thread's POSIX
**                timer is set as well: for kernel mode, if the kernel grants the event in user
**                mode only, and for C5. If the kernel refuses the event, there is the POSIX timer
**                only, whose signals come at scheduler ticks (100 to 1000 per second); code that
**                runs just after a wake-up is then under-represented;
**   TIMER_EXACT  as TIMER_CPU, in spans of one period; an error if the kernel refuses the event;
**   TIMER_WALL   wall time: a POSIX timer, in spans of one period. It interrupts sleeps.
**
** The signal is SIGURG with SA_RESTART: its default action is to be ignored, so one that is
** pending when the process calls exec does not end the new program, as SIGPROF would. In a
** thread that blocks SIGURG the signal is SIGWINCH, with the same default, if SIGWINCH has its
** default action and is not blocked. The handler is installed while any timer uses the signal.
** Signals of other origin are passed on, once, to the handler installed before; late signals of
** our own are dropped. The handler runs on the thread's alternate stack (SA_ONSTACK,
** altstack.h), of which a tick uses at most TIMER_STACK bytes.
**
**   C1  the times of a clock's timers add up to the clock's time, within one span, while it has
**       timers, except CPU time that ticks take. The counted periods of a timer are its time /
**       period, randomly rounded;
**   C2  a timer has no tick after its timer_stop has returned, on whatever thread it is called;
**   C3  sampling takes at most about half of the thread's time, whatever the rates, the number
**       of timers and the length of a tick: the next tick is delayed and represents more. The
**       cost includes the signal itself (measured at the start for spans below 0.2 ms), the tick,
**       and the time passed to timer_cost;
**   C4  timers and clocks are never freed, because a handler may read them;
**   C5  a descriptor belongs to the clock if its event has the original event number. If the
**       program has closed the descriptor, a new descriptor with the same number is not touched;
**       the POSIX timer then makes the ticks of CPU time;
**   C6  while no code of any timer's owner runs, time is added to the timer that received time
**       last: a single timer has all of it;
**   C7  a clock stops with its last timer, and continues in the same span, if spans still have
**       that length, with the thread's next timer: timers that each run for less than a period
**       lose no time;
**   C8  at each point of a clock's time, the expected value of the counted time is the time
**       itself: the length of a span depends only on the time before it.
**
** In the child of a fork there is no timer: timer_forked.
*/
#ifndef asamp_timer_h
#define asamp_timer_h

#include <stddef.h>
#include <stdint.h>

typedef struct Timer Timer;

typedef enum TimerClock { TIMER_CPU, TIMER_EXACT, TIMER_WALL } TimerClock;

/*
** Callback for a tick of 'count' periods; 'context' is the handler's ucontext_t. Must be
** async-signal-safe. errno is saved around the call.
*/
typedef void TimerTick (void *ud, uint64_t count, void *context);

/*
** Largest number of bytes of stack that the handler uses, in addition to the signal frame.
** TIMER_STACK: if the tick walks a C stack; TIMER_LEAST: if it does not. Without AddressSanitizer,
** TIMER_STACK and a signal frame fit into an alternate stack of 8 KiB, a common size.
*/
#if defined(__SANITIZE_ADDRESS__)
#define TIMER_STACK	((size_t)8192)
#define TIMER_LEAST	((size_t)6144)
#else
#define TIMER_STACK	((size_t)4352)
#define TIMER_LEAST	((size_t)2048)
#endif

/*
** Callback that writes the owners of the code that was interrupted, innermost first, at most
** TIMER_DEPTH, and returns their number. Must be async-signal-safe.
*/
#define TIMER_DEPTH	16u
typedef unsigned TimerWho (const void **whose, void *context);

/* Sets that callback for all timers. Call it before the first timer_start. */
void timer_who (TimerWho *who);

/*
** Starts a timer of the calling thread for the owner 'whose', with a period of 'ns'
** nanoseconds. Returns NULL on failure (for example, SIGURG and SIGWINCH are blocked in this
** thread), with a one-line message in 'err'.
*/
Timer *timer_start (uint64_t ns, TimerClock clock, const void *whose, TimerTick *f,
                    void *ud, char *err, size_t errsize);

/*
** From here on a thread that stops its last timer itself keeps the descriptor of its clock open
** until the thread ends: for a process that makes a state for each of its requests.
*/
void timer_keep (void);

/*
** Stops the timer, on any thread. Returns the periods of its time (C6) that no tick has counted
** because signals did not arrive: the program has blocked them or has replaced the handler. 0
** if the timer's own thread has ended, because its clock is gone.
*/
uint64_t timer_stop (Timer *t);

/*
** Ends the ticks of a timer at exit(). Takes no lock, so that it may be called in a signal handler
** that interrupted anything. Returns as timer_stop; 0 if called on another thread than the
** timer's, because this thread cannot read its clock.
*/
uint64_t timer_leave (Timer *t);

/* Returns 1 on the OS thread of the timer. */
int timer_mine (const Timer *t);

/*
** Adds the cost of sampling outside the handler (C3): 'cpu' ns of CPU time, in 'wall' ns of wall
** time. A timer of CPU time counts 'cpu', one of wall time 'wall'. Call it on the timer's thread.
*/
void timer_cost (Timer *t, uint64_t cpu, uint64_t wall);

/* Stops a timer of the parent process, in the child of a fork. */
void timer_forked (Timer *t);

#endif
