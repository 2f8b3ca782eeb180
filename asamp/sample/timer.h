/* SPDX-License-Identifier: MIT */
/*
** Timers call functions in a signal handler of one OS thread, at given rates of CPU time or of wall
** time. A timer belongs to an owner, which is a Lua state whose code may run on the thread. An OS
** thread has one clock of CPU time and one of wall time. A clock generates the signals for all its
** timers, at the highest of their rates. At each tick, the time that the tick represents is added
** to one timer: that of the owner whose code is running.
**
** The time of a clock is divided into spans. A span is one period long, or several to limit the
** number of signals. Each span has one tick, at a random point, so that ticks are not synchronized
** with the program or with the kernel. (For example, threads that waited for the processor start
** just after the scheduler's tick.) A tick represents its whole span, and any delay beyond it, so
** the source of the signals need not be exact. Sources:
**
**   TIMER_CPU    CPU time, in spans of about 4 ms (whole periods) or of one longer period. The
**                source is the task clock of perf_event_open, an interrupt at that point of the
**                thread's time. If the interrupt arrives while the thread is going to sleep, it may
**                end the sleep. The thread's POSIX timer is set in addition, for ticks in kernel
**                mode if the kernel grants the event in user mode only, and for C5. If the kernel
**                refuses the event, the POSIX timer is the only source. Its signals come at
**                scheduler ticks (100 to 1000 per second), so code that runs just after a wake-up
**                is under-represented;
**   TIMER_EXACT  like TIMER_CPU, but in spans of one period. It is an error if the kernel refuses
**                the event;
**   TIMER_WALL   wall time: a POSIX timer, in spans of one period. It interrupts sleeps.
**
** The signal is SIGURG with SA_RESTART. The default action of SIGURG is to ignore it, so a signal
** that is pending when the process calls exec does not end the new program, as SIGPROF would. If a
** thread blocks SIGURG, its signal is SIGWINCH, which has the same default. SIGWINCH is used only
** if it has its default action and is not blocked.
**
** The handler is installed while any timer uses the signal. A signal of other origin is passed,
** once, to the handler that was installed before. A late signal of our own is dropped. The handler
** runs on the thread's alternate stack (SA_ONSTACK, altstack.h), of which a tick uses at most
** TIMER_STACK bytes.
**
**   C1  while a clock has timers, the times of its timers add up to the clock's time, within one
**       span. CPU time that ticks take is excepted. The number of periods counted for a timer is
**       its time / period, randomly rounded;
**   C2  a timer has no tick after its timer_stop has returned, on whatever thread timer_stop is
**       called;
**   C3  sampling takes at most about half of the thread's time, whatever the rates, the number of
**       timers and the length of a tick. If it would take more, the next tick is delayed and
**       represents more time. The cost includes the tick, the time passed to timer_cost, and the
**       signal itself (measured at the start for spans below 0.2 ms);
**   C4  timers and clocks are never freed, because a handler may read them;
**   C5  a descriptor is used only while it refers to the clock's event, which is recognized by its
**       event number. The program may close the descriptor, and open another file that receives the
**       same number: that one is not touched, and the POSIX timer makes the ticks of CPU time;
**   C6  while none of the running code belongs to an owner with a timer, time is added to the timer
**       that received time last. Therefore a single timer receives all time;
**   C7  timers that each run for less than a period lose no time. For this, a clock stops when its
**       last timer stops. When the thread's next timer starts, the clock continues in the same
**       span, if spans still have that length;
**   C8  at each point of a clock's time, the expected value of the counted time is the time itself,
**       because the length of a span depends only on the time before it.
**
** The child of a fork has no timers (timer_forked).
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

/* Largest number of bytes of stack that the handler uses in addition to the signal frame:
   TIMER_STACK if the tick walks a C stack, else TIMER_LEAST. Without AddressSanitizer, TIMER_STACK
   and a signal frame fit into an alternate stack of 8 KiB, a common size. */
#if defined(__SANITIZE_ADDRESS__)
#define TIMER_STACK	((size_t)8192)
#define TIMER_LEAST	((size_t)6144)
#else
#define TIMER_STACK	((size_t)4352)
#define TIMER_LEAST	((size_t)2048)
#endif

/*
** Callback that stores the owners of the interrupted code in 'whose', innermost first, at most
** TIMER_DEPTH, and returns their number. Must be async-signal-safe.
*/
#define TIMER_DEPTH	16u
typedef unsigned TimerWho (const void **whose, void *context);

/* Sets the TimerWho callback of all timers. Call it before the first timer_start. */
void timer_who (TimerWho *who);

/*
** Starts a timer of the calling thread for the owner 'whose', with a period of 'ns' nanoseconds.
** On failure returns NULL, with a one-line message in 'err'; for example, if SIGURG and SIGWINCH
** are blocked in this thread.
*/
Timer *timer_start (uint64_t ns, TimerClock clock, const void *whose, TimerTick *f,
                    void *ud, char *err, size_t errsize);

/* From now on, when the last timer of an OS thread's clock is stopped on that thread, the perf
   event that makes the clock's signals is only disabled, and stays open until the thread ends. This
   saves time in a process that makes a state for each request. */
void timer_keep (void);

/* Stops the timer. May be called on any thread. Returns the number of periods of the time that
   belongs to this timer (C6) and that no tick has counted, because the program blocked the signals
   or replaced the handler. Returns 0 if the timer's own thread has ended, because its clock is
   gone. */
uint64_t timer_stop (Timer *t);

/* Ends the ticks of a timer at exit(). Takes no lock, so that it may be called in a signal handler
   that interrupted anything. Returns the periods that no tick has counted, like timer_stop, or 0 on
   another thread than the timer's, which cannot read its clock. */
uint64_t timer_leave (Timer *t);

/* Returns 1 if the calling thread is the timer's OS thread. */
int timer_mine (const Timer *t);

/* Adds the cost of sampling work done outside the handler to the cost by which ticks are delayed
   (C3): 'cpu' ns of CPU time (for a timer of CPU time) or 'wall' ns of wall time (for one of wall
   time). Call it on the timer's thread. */
void timer_cost (Timer *t, uint64_t cpu, uint64_t wall);

/* Stops a timer of the parent process, in the child of a fork. */
void timer_forked (Timer *t);

#endif
