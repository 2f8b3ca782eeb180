/* SPDX-License-Identifier: MIT */
/* Runs clocks, their signals and their timers (timer.h). */
#define _GNU_SOURCE
#include "timer.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "altstack.h"
#include "clock.h"
#include "descriptor.h"
#include "owner.h"

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id	_sigev_un._tid
#endif

/* ns. The cost of a signal is not measured for timers with this period or a longer one, whose
   signals are rare, and not for TIMER_CPU. */
#define MIN_UNMEASURED_NS	UINT64_C(200000)
/* ns. If ticks are expensive, the interval between ticks is doubled, but only if it is shorter than
   this. So the doubling leaves more than 50 ticks per second. */
#define MAX_SIGNAL_NS	UINT64_C(10000000)
/* ns. If the clock is TIMER_CPU and its period is shorter than this, a span (a part of the time
   with one tick) has about this length. */
#define FEW_NS		UINT64_C(4000000)
/* ns. A signal is requested at least this time from now. If a signal arrives before its tick is
   due, but by less than this time, its tick is made at once. */
#define MIN_WAIT_NS	UINT64_C(20000)
/* Shortest period of a perf event, ns. With a shorter one, interrupts could take all time of
   the thread for up to 400 ms. */
#define MIN_EVENT_NS	UINT64_C(100000)
#define MAX_LATE_NS	UINT64_C(50000000)	/* ns; a signal that is later than this counts as
						   missing */
#define MAX_OWED_NS	INT64_C(200000000)	/* ns; upper bound of Clock.owed, the time by which
                                                   sampling has exceeded its share */
/* Largest number of Lua states that a tick visits: those that run on the thread, from the innermost
   outwards. The first one with a timer receives the time of the tick. */
#define MAX_STATES	16u
/* The interval between ticks is doubled if ticks are expensive. It is halved again after this
   number of successive ticks that took little time. */
#define EASY_TICKS	8

/* Relaxed atomic load and store, for fields that signal handlers of other threads read. */
#define LOAD(x)		__atomic_load_n(&(x), __ATOMIC_RELAXED)
#define STORE(x,v)	__atomic_store_n(&(x), v, __ATOMIC_RELAXED)

typedef struct Clock Clock;

/* A timer. Never freed, because a signal handler may still read it. */
struct Timer {
  Timer *next;			/* next running timer of the same clock */
  Timer **link;			/* pointer to this timer in the clock's list; changed with the
                                   lock held */
  Timer *spare;			/* next unused timer */
  Timer *other;			/* next in the list of all timers of the process */
  Clock *clock;			/* clock that measures the timer's time; NULL: the timer is
                                   unused */
  volatile sig_atomic_t running;
  const void *whose;	/* main thread of the Lua state that the timer samples */
  /* Times of the timer.
     period   sampling period, ns
     time     ns received so far, plus the random start value
     counted  number of periods that were passed to 'f' */
  uint64_t period, time, counted;
  TimerTick *f;			/* function called at a tick; NULL: timer_start has not finished
                                   yet */
  void *ud;
};

/* A source of signals for one OS thread and one kind of time. */
struct Clock {
  Clock *next;			/* next in the list of all clocks */
  Timer *timers;		/* running timers; changed with the lock held, read without it */
  Timer *last;			/* timer that received the time of the last tick. NULL: there was
                                   no tick yet, or that timer was stopped. */
  volatile sig_atomic_t running;
  volatile sig_atomic_t ticking;	/* number of handlers that are using the clock */
  volatile sig_atomic_t measuring;	/* 1: signals are only counted, to measure their cost */
  int changing;	/* number of functions that change the clock now, on any thread; if it is not 0,
                   signal handlers must not use the clock */
  unsigned thread;		/* number of the clock's OS thread, as in the variable 'me'; 0: the
                                   clock is unused */
  TimerClock sort;	/* kind of time that the clock measures */
  /* System clock that this clock reads. 'clock' is its id on the clock's own thread. */
  clockid_t clock;
  clockid_t outside;		/* id of the same system clock on other threads */
  /* ns; shortest sampling period of the Lua states that use this clock. Each has a timer in
     'timers'. */
  uint64_t period;
  /* The clock's time is the system clock minus 'base', in ns. 'base' is the sum of the times that
     are not sampled: before the clock's start, while no Lua state used the clock and, if the clock
     measures CPU time, in the signal handler. */
  uint64_t base;
  /* Clock's time in ns at the start of the current span (a part of the time with one tick). The
     time before it was added to the timers of Lua states (Timer.time). */
  uint64_t given;
  /* Length in ns of the current span (a part of the time with one tick, the signal for a
     sample). */
  uint64_t span;
  /* Clock's time in ns at which the next tick (signal for a sample) is due. It is random within the
     current span, the part of the time that has this tick. */
  uint64_t due;
  uint64_t stopped;		/* clock's time in ns when its last timer stopped */
  uint64_t random;		/* state of the random generator */
  uint64_t signalcost;		/* cost of a signal in ns, without its tick; 0: not measured */
  uint64_t cost;		/* ns that sampling took outside the handler since the last tick */
  uint64_t ticked;		/* system clock at the last tick, ns */
  int64_t owed;			/* ns by which sampling has exceeded its share of the time.
                                   Negative: ns that it may still take. */
  unsigned stretch;		/* log2 of the factor by which the intervals between ticks are
                                   lengthened, because ticks are expensive */
  /* Number of successive ticks that took little time, counted while 'stretch' is above 0. When it
     reaches EASY_TICKS, the interval between ticks is halved. */
  unsigned easy;
  volatile uint64_t signals;	/* number of signals since the clock started */
  int fd;			/* descriptor of the perf event, or -1 */
  uint64_t event;		/* id of the perf event, by which 'fd' is recognized */
  int lastfd;			/* descriptor of the last perf event, even after it was closed,
                                   because a late signal may still contain it */
  volatile sig_atomic_t robbed;	/* 1: the program has closed the descriptor 'fd' */
  int orphaned;			/* 1: the clock's thread has ended while the clock was running */
  struct Signal *signal;	/* signal that the clock uses */
  int posix;			/* 1: 'timer' is valid: an existing POSIX timer */
  timer_t timer;
};

/* A signal number and the actions that our handler has replaced. */
typedef struct Signal {
  int number;
  int clocks;			/* number of running clocks that use this signal */
  struct sigaction before;	/* action replaced by our handler */
  /* Value of 'before' until our handler was last installed. If the action 'before' calls our
     handler, the handler calls this action instead of 'before': otherwise the calls would not
     end. */
  struct sigaction beneath;
} Signal;

/* The signals for ticks. The second is for threads that block the first. */
static Signal signals[] = {{.number = SIGURG}, {.number = SIGWINCH}};
#define NSIGNALS	(sizeof(signals) / sizeof(*signals))

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static Clock *all;		/* all clocks */
static unsigned nunused;	/* number of clocks without a thread; changed with the lock held */
/* This thread's clocks: own[0] of CPU time, own[1] of wall time. NULL: none so far. */
static __thread Clock *own[2] __attribute__((tls_model("initial-exec")));
static Timer *timers;
static Timer *unused;		/* list of stopped timers, which timer_start reuses */
static int keeping;		/* 1: clocks without timers keep their perf events and POSIX
                                   timers */

/* Number of this OS thread; 0: the thread never had a timer. Unlike the system's thread ids, these
   numbers are not reused. */
static __thread unsigned me __attribute__((tls_model("initial-exec")));

/* {== the handler ====================================================== */

/*
** Sets the POSIX timer: a signal after 'first' ns, then one every 'ns' ns. Returns 0 on
** failure.
*/
static int setposix (Clock *c, uint64_t first, uint64_t ns) {
  struct itimerspec s;
  s.it_interval.tv_sec = (time_t)(ns / 1000000000);
  s.it_interval.tv_nsec = (long)(ns % 1000000000);
  s.it_value.tv_sec = (time_t)(first / 1000000000);
  s.it_value.tv_nsec = (long)(first % 1000000000);
  return timer_settime(c->timer, 0, &s, NULL) == 0;
}

/* Returns 1 if c->fd still refers to the clock's perf event. */
static int hasperf (const Clock *c) {
  uint64_t event;
  return c->fd >= 0 && ioctl(c->fd, PERF_EVENT_IOC_ID, &event) == 0 &&
         event == c->event;
}

/* Sets the period of the clock's perf event to 'ns', or to MIN_EVENT_NS if that is longer. Returns
   0 on failure. */
static int setevent (const Clock *c, uint64_t ns) {
  if (ns < MIN_EVENT_NS) ns = MIN_EVENT_NS;
  return ioctl(c->fd, PERF_EVENT_IOC_PERIOD, &ns) == 0;
}

/* Returns the clock's time in ns: its system clock minus c->base, the times that are not
   sampled. */
static uint64_t timer_timeof (const Clock *c) {
  return clock_read(c->clock) - c->base;
}

/* Returns a random number from 0 to n - 1: xorshift64*, Vigna (2016). */
static uint64_t draw (Clock *c, uint64_t n) {
  uint64_t x = c->random;
  x ^= x >> 12;
  x ^= x << 25;
  x ^= x >> 27;
  c->random = x;
  return (uint64_t)(((unsigned __int128)(x * UINT64_C(0x2545F4914F6CDD1D)) * n) >> 64);
}

/* Returns the length in ns of the next span, the part of the time in which the next tick is
   sent. */
static uint64_t intervalof (const Clock *c) {
  uint64_t n = 1;
  if (c->sort == TIMER_CPU && c->period < FEW_NS) n = (FEW_NS + c->period / 2) / c->period;
  return (n * c->period) << c->stretch;
}

/* Requests the next signal at the clock's time c->due, but at least MIN_WAIT_NS from 'now', the
   clock's present time. Sets both the perf event and the POSIX timer, in case the event fails. */
static void arm (Clock *c, uint64_t now) {
  uint64_t wait = MIN_WAIT_NS;
  if (c->due > now + wait) wait = c->due - now;
  if (c->posix) setposix(c, wait, c->span);
  if (hasperf(c)) setevent(c, wait);
  else if (c->fd >= 0) STORE(c->robbed, 1);
}

/* Starts the next span (a part of the time with one tick) at the clock's time c->given. Sets
   c->due, the time of its tick, to a random time in the span, but not before 'earliest'. */
static void timer_next (Clock *c, uint64_t earliest) {
  c->span = intervalof(c);
  c->due = c->given + draw(c, c->span);
  if (c->due < earliest) c->due = earliest;
}

/* Adapts the interval between ticks (signals that take samples) to their cost, after a tick that
   'took' ns. now: system clock, ns. All clocks of a thread together may take half of its time;
   'share' is the number of these clocks, so each may take 1 / (2 * share) of the time. */
static void adapt (Clock *c, uint64_t now, uint64_t took, unsigned share) {
  uint64_t interval = intervalof(c);
  int64_t paid = (int64_t)(clock_between(c->ticked, now) / (2 * share));
  int64_t advance = (int64_t)(interval / (2 * share));
  c->ticked = now;
  c->owed += (int64_t)took - paid;
  if (c->owed < -advance) c->owed = -advance;
  if (c->owed > MAX_OWED_NS) c->owed = MAX_OWED_NS;
  /* this clock's ticks have taken more than their part of the time: makes them half as frequent */
  if (c->owed > 0) {
    c->easy = 0;
    if (interval < MAX_SIGNAL_NS) c->stretch++;
  }
  else {
    if (c->stretch == 0 || 6 * share * took >= interval) c->easy = 0;
    else c->easy++;
    if (c->easy < EASY_TICKS) return;
    c->easy = 0;  /* the last EASY_TICKS ticks took little time: makes ticks twice as frequent */
    c->stretch--;
  }
}

static int timer_isready (const Timer *t) {
  return LOAD(t->running) && LOAD(t->f) != NULL;
}

/* Returns the timer that receives the time of a tick: that of the innermost running state that has
   a timer. If there is none, returns the timer that received the time of the last tick, or else any
   started timer of the clock. Returns NULL if no timer is started. */
static Timer *choose (const Clock *c, void *context) {
  const void *whose[MAX_STATES];
  unsigned n = owner_states(altstack_sp(context), whose, MAX_STATES), i;
  Timer *t = __atomic_load_n(&c->last, __ATOMIC_RELAXED);
  for (i = 0; i < n; i++) {
    if (t != NULL && t->whose == whose[i] && timer_isready(t)) return t;
    for (t = __atomic_load_n(&c->timers, __ATOMIC_ACQUIRE); t != NULL; t = t->next)
      if (t->whose == whose[i] && timer_isready(t)) return t;
  }
  t = __atomic_load_n(&c->last, __ATOMIC_RELAXED);
  if (t != NULL && timer_isready(t)) return t;
  t = __atomic_load_n(&c->timers, __ATOMIC_ACQUIRE);
  while (t != NULL && !timer_isready(t)) t = t->next;
  return t;
}

/* Called if the system clock has gone back to 'now', which is before the last tick: changes c->base
   so that the clock's time does not go back. */
static void goneback (Clock *c, uint64_t now) {
  c->base -= c->ticked - now;
  c->ticked = now;
}

/* Keeps signal handlers from using the clock, and waits until none uses it. Handlers take no lock,
   so they end although this thread holds one. */
static void exclude (Clock *c) {
  __atomic_add_fetch(&c->changing, 1, __ATOMIC_SEQ_CST);
  while (LOAD(c->thread) != me && __atomic_load_n(&c->ticking, __ATOMIC_SEQ_CST))
    sched_yield();
}

/* Lets signal handlers use the clock again, after a call of exclude. */
static void admit (Clock *c) {
  __atomic_sub_fetch(&c->changing, 1, __ATOMIC_RELEASE);
}

static void tick (Clock *c, unsigned share, void *context) {
  uint64_t start = clock_read(c->clock), now, end, count, took;
  Timer *t;
  if (__atomic_load_n(&c->changing, __ATOMIC_SEQ_CST) || c->measuring) return;
  if (start < c->ticked) goneback(c, start);
  now = start - c->base;
  if (now + MIN_WAIT_NS < c->due || (t = choose(c, context)) == NULL) {
    arm(c, now);  /* this clock's tick is not yet due, because another clock of the thread sent the
                     signal; or no timer of this clock is ready (timer_isready) */
    return;
  }
  __atomic_store_n(&c->last, t, __ATOMIC_RELAXED);
  end = c->given + c->span;
  if (end < now) end = now;
  t->time += end - c->given;
  c->given = end;
  count = t->time / t->period - t->counted;
  if (count > 0) {
    t->counted += count;
    LOAD(t->f)(t->ud, count, context);
  }
  took = clock_between(start, clock_read(c->clock));
  if (c->sort != TIMER_WALL) c->base += took;
  else now += took;
  adapt(c, start, took + c->signalcost + __atomic_exchange_n(&c->cost, 0, __ATOMIC_RELAXED),
        share);
  timer_next(c, now + took);
  arm(c, now);
}

/* Returns this thread's clock of wall time ('wall' 1) or CPU time if it is running, else NULL. */
static Clock *findclock (int wall) {
  Clock *c = own[wall];
  return (c != NULL && LOAD(c->running) && LOAD(c->thread) == me) ? c : NULL;
}

/* Returns 1 if a clock of this thread sent the signal. */
static int timer_isours (const siginfo_t *info) {
  int i;
  for (i = 0; i < 2; i++) {
    const Clock *c = own[i];
    if (c == NULL) continue;
    if (info->si_code == SI_TIMER && info->si_value.sival_ptr == c) return 1;
    if (info->si_code == POLL_IN && info->si_fd == c->lastfd) return 1;
  }
  return 0;
}

static void call (const struct sigaction *a, int signal, siginfo_t *info,
                  void *context) {
  if (a->sa_flags & SA_SIGINFO) a->sa_sigaction(signal, info, context);
  else if (a->sa_handler != SIG_DFL && a->sa_handler != SIG_IGN)
    a->sa_handler(signal);
}

static Signal *signalof (int number) {
  return &signals[number != signals[0].number];
}

/* Passes a signal from another sender to the action that our handler replaced (s->before). If that
   action calls our handler in turn, passes the signal to the action replaced earlier (s->beneath),
   so that the calls end. */
static void passon (int signal, siginfo_t *info, void *context) {
  static __thread int passing __attribute__((tls_model("initial-exec")));
  const Signal *s = signalof(signal);
  if (passing == 2) return;
  passing++;
  call((passing == 1) ? &s->before : &s->beneath, signal, info, context);
  passing--;
}

/* Makes the ticks of all running clocks of this thread, because the kernel may merge the signals of
   two clocks. Not inlined: handler must need little stack. */
__attribute__((noinline)) static void ticks (void *context) {
  unsigned share = (findclock(0) != NULL) + (findclock(1) != NULL);
  int i;
  for (i = 0; i < 2; i++) {
    Clock *c = findclock(i);
    if (c == NULL) continue;
    __atomic_add_fetch(&c->ticking, 1, __ATOMIC_SEQ_CST);  /* 'exclude' waits until it is 0 */
    if (findclock(i) == c) {
      c->signals++;
      tick(c, share, context);
    }
    __atomic_sub_fetch(&c->ticking, 1, __ATOMIC_RELEASE);
  }
}

/* The signal handler. Makes no ticks if too little of the alternate stack is unused, because ticks
   would overwrite the memory below the stack. The program may have set such a small stack after the
   clock was started (timer_start). The stack must have three quarters of TIMER_LEAST left, because
   the handler has used less than a quarter when it checks this. */
static void handler (int signal, siginfo_t *info, void *context) {
  int e = errno;
  if (!timer_isours(info)) passon(signal, info, context);
  else if (altstack_room(context) >= TIMER_LEAST / 4 * 3) ticks(context);
  errno = e;
}

/* Returns 1 if our handler is installed. Stores the signal's action in *a. */
static int isinstalled (const Signal *s, struct sigaction *a) {
  return sigaction(s->number, NULL, a) == 0 && (a->sa_flags & SA_SIGINFO) &&
         a->sa_sigaction == handler;
}

/* Installs our handler, unless it is installed. While it runs, both signals are blocked, because a
   thread may have a clock with each. Returns 0 with errno on failure. */
static int install (Signal *s) {
  struct sigaction a, before;
  unsigned i;
  if (isinstalled(s, &before)) return 1;
  memset(&a, 0, sizeof(a));
  a.sa_sigaction = handler;
  a.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
  sigemptyset(&a.sa_mask);
  for (i = 0; i < NSIGNALS; i++) sigaddset(&a.sa_mask, signals[i].number);
  s->beneath = s->before;
  s->before = before;
  return sigaction(s->number, &a, NULL) == 0;
}

/* Restores the action that our handler replaced, if our handler is still installed and the signal
   is not pending. */
static void uninstall (Signal *s) {
  struct sigaction a;
  sigset_t set;
  if (isinstalled(s, &a) && sigpending(&set) == 0 && !sigismember(&set, s->number)) {
    sigaction(s->number, &s->before, NULL);
    /* The restored action is the program's. It may call our handler, because our handler was
       installed when the program set this action. If our handler then called this action, the calls
       would not end. So our handler must call s->beneath, the action that was installed before it
       and before the program's action. */
    s->before = s->beneath;
  }
}

/* Returns the signal for ticks on this thread: SIGURG unless the thread blocks it, else SIGWINCH if
   that is not blocked and has no handler. Returns NULL with errno EINVAL if neither can be used. */
static Signal *choosesignal (void) {
  struct sigaction a;
  sigset_t set;
  errno = EINVAL;
  if (pthread_sigmask(SIG_SETMASK, NULL, &set) != 0) return NULL;
  if (!sigismember(&set, SIGURG)) return &signals[0];
  if (sigismember(&set, SIGWINCH)) return NULL;
  if (!isinstalled(&signals[1], &a) && ((a.sa_flags & SA_SIGINFO) || a.sa_handler != SIG_DFL))
    return NULL;
  return &signals[1];
}

/* }===================================================================== */

/* {== signal sources ==================================================== */

/* Creates the POSIX timer, unless it was kept. Starts the timer now, because the cost of its
   signals may be measured before 'arm' sets it. For TIMER_CPU that cost is never measured, so the
   timer is not started. Returns 0 on failure. */
static int startposix (Clock *c) {
  struct sigevent e;
  memset(&e, 0, sizeof(e));
  e.sigev_notify = SIGEV_THREAD_ID;
  e.sigev_signo = c->signal->number;
  e.sigev_value.sival_ptr = c;
  e.sigev_notify_thread_id = (pid_t)syscall(SYS_gettid);
  if (!c->posix && timer_create(c->clock, &e, &c->timer) != 0) return 0;
  c->posix = 1;
  return c->sort == TIMER_CPU || setposix(c, c->period, c->period);
}

/* Opens and enables the perf event. 'kernel' 1: the event counts time in kernel mode, too. Returns
   0 with errno on failure. */
static int startperf (Clock *c, int kernel) {
  struct perf_event_attr a;
  struct f_owner_ex o;
  int fd;
  memset(&a, 0, sizeof(a));
  a.size = sizeof(a);
  a.type = PERF_TYPE_SOFTWARE;
  a.config = PERF_COUNT_SW_TASK_CLOCK;
  a.sample_period = (c->period < MIN_EVENT_NS) ? MIN_EVENT_NS : c->period;
  a.disabled = 1;
  a.exclude_kernel = !kernel;
  a.exclude_hv = 1;
  a.wakeup_events = 1;
  fd = (int)syscall(SYS_perf_event_open, &a, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
  if (fd < 0) return 0;
  o.type = F_OWNER_TID;
  o.pid = (pid_t)syscall(SYS_gettid);
  c->fd = c->lastfd = fd;
  if (ioctl(fd, PERF_EVENT_IOC_ID, &c->event) == 0 &&
      fcntl(fd, F_SETFL, O_RDWR | O_NONBLOCK | O_ASYNC) == 0 &&
      fcntl(fd, F_SETSIG, c->signal->number) == 0 && fcntl(fd, F_SETOWN_EX, &o) == 0 &&
      ioctl(fd, PERF_EVENT_IOC_ENABLE, 0) == 0)
    return 1;
  close(fd);
  c->fd = -1;
  return 0;
}

static int noperf (char *err, size_t errsize) {
  if (errno == EMFILE)
    snprintf(err, errsize, "cannot sample time exactly: no file descriptor is left; raise "
             "the limit (ulimit -n), or leave 'exact' out");
  else
    snprintf(err, errsize, "cannot sample time exactly: perf_event_open: %s; "
             "set kernel.perf_event_paranoid to 2 or less, or leave 'exact' out", strerror(errno));
  return 0;
}

/* Opens the perf event. If the kernel refuses to count kernel mode, counts user mode only. For
   TIMER_CPU, fails also if the program would have few descriptors left. Returns 0 with errno on
   failure. */
static int openperf (Clock *c) {
  int e;
  if (!startperf(c, 1) && !startperf(c, 0)) return 0;
  if (c->sort == TIMER_EXACT || descriptor_spare(c->fd, 0)) return 1;
  e = errno;
  /* few file descriptors are free: leaves this one to the program, and uses a POSIX timer
     instead */
  close(c->fd);
  c->fd = -1;
  errno = e;
  return 0;
}

/* Opens the perf event of a clock of this thread again, because the program has closed the event's
   descriptor. After a failure, the POSIX timer alone makes the ticks. */
static void renewperf (Clock *c) {
  exclude(c);
  descriptor_hold();
  c->fd = -1;
  (void)openperf(c);
  descriptor_release();
  admit(c);
  arm(c, timer_timeof(c));
}

/* Enables the clock's perf event, which has stayed open while the clock had no timers. Returns 0 on
   failure. */
static int reopenperf (Clock *c) {
  return hasperf(c) && (c->sort == TIMER_CPU || setevent(c, c->period)) &&
         ioctl(c->fd, PERF_EVENT_IOC_ENABLE, 0) == 0;
}

static int startsignals (Clock *c, char *err, size_t errsize) {
  int isopen = 0;
  if (c->sort != TIMER_WALL) {
    isopen = reopenperf(c) || openperf(c);
    if (!isopen && c->sort == TIMER_EXACT) return noperf(err, errsize);
  }
  if (startposix(c) || isopen) return 1;
  snprintf(err, errsize, "cannot sample time: timer_create: %s%s", strerror(errno),
           errno == EAGAIN ? "; raise the limit of signals (ulimit -i)" : "; set 'time' to 0");
  return 0;
}

/* Measures the cost of a signal in ns: reads a clock repeatedly, and returns the smallest
   difference of two readings with a signal between them; 0: no signal came. */
static uint64_t measure (Clock *c) {
  uint64_t seen = c->signals;
  uint64_t now = clock_read(CLOCK_THREAD_CPUTIME_ID), end = now + 16 * MIN_UNMEASURED_NS;
  uint64_t last, least = 0;
  int n = 0;
  c->measuring = 1;
  while (n < 4 && now < end) {
    last = now;
    now = clock_read(CLOCK_THREAD_CPUTIME_ID);
    if (c->signals == seen) continue;
    seen = c->signals;
    if (n++ == 0 || clock_between(last, now) < least) least = clock_between(last, now);
  }
  c->measuring = 0;
  return least;
}

/* Stops the clock's signals. 'keep' 1: keeps the stopped POSIX timer and perf event, if any. */
static void stopsignals (Clock *c, int keep) {
  if (c->posix && keep) setposix(c, 0, 0);
  else if (c->posix) timer_delete(c->timer);
  c->posix &= keep;
  if (hasperf(c)) {
    ioctl(c->fd, PERF_EVENT_IOC_DISABLE, 0);
    if (keep) return;
    close(c->fd);
  }
  c->fd = -1;
}

/* }===================================================================== */

/* {== clocks and their timers ========================================== */

int timer_nomemory (char *err, size_t errsize) {
  errno = ENOMEM;
  snprintf(err, errsize, "cannot sample time: not enough memory; raise the limit (ulimit -v)");
  return 0;
}

/* Called at the end of an OS thread, with its number (Clock.thread): marks its stopped clocks as
   unused. */
static void threadends (void *number) {
  unsigned thread = (unsigned)(uintptr_t)number;
  int i;
  pthread_mutex_lock(&lock);
  for (i = 0; i < 2; i++) {
    Clock *c = own[i];
    if (c == NULL || c->thread != thread) continue;
    if (LOAD(c->running)) c->orphaned = 1;  /* stopclock will mark the clock as unused */
    else {
      stopsignals(c, 0);
      STORE(c->thread, 0);
      nunused++;
    }
  }
  pthread_mutex_unlock(&lock);
}

/* Adds a stopped timer to the list of unused timers. */
static void timer_release (Timer *t) {
  STORE(t->clock, NULL);
  t->spare = unused;
  unused = t;
}

/* Called in the child of a fork: discards all clocks of the parent process. */
static void timer_dropclocks (void) {
  unsigned i;
  Clock *c;
  Timer *t;
  pthread_mutex_init(&lock, NULL);
  unused = NULL;  /* another thread may have been changing the list at the fork; it is rebuilt
                     below */
  for (t = timers; t != NULL; t = t->other)
    if (t->clock == NULL) timer_release(t);
  nunused = 0;
  for (c = all; c != NULL; c = c->next) {
    STORE(c->running, 0);
    c->timers = c->last = NULL;
    c->stopped = c->given = c->span = 0;
    if (hasperf(c)) close(c->fd);
    c->fd = -1;
    c->posix = 0;
    if (c->thread != me) {
      STORE(c->thread, 0);
      /* this is a forked child: the clock's thread, whose signal handler may have been running,
         exists only in the parent */
      c->ticking = c->measuring = 0;
    }
    nunused += (c->thread == 0);
  }
  for (i = 0; i < NSIGNALS; i++) {
    if (signals[i].clocks > 0) uninstall(&signals[i]);
    signals[i].clocks = 0;
  }
}

static pthread_key_t key;
static int iskey;

static void timer_once (void) {
  pthread_atfork(NULL, NULL, timer_dropclocks);
  iskey = (pthread_key_create(&key, threadends) == 0);
}

/* Returns a stopped clock of wall time ('wall' 1) or CPU time: this thread's, an unused one, or a
   new one. Returns NULL if out of memory. */
static Clock *newclock (int wall) {
  static unsigned threads;
  static pthread_once_t control = PTHREAD_ONCE_INIT;
  Clock *c;
  if (me == 0) me = ++threads;
  pthread_once(&control, timer_once);
  /* If an OS thread has a value for 'key', the end of the thread clears the value and calls
     threadends. Each call of newclock sets the value, because a destructor of the program that runs
     after threadends may start a clock; threadends must then be called again. */
  if (iskey) pthread_setspecific(key, (void *)(uintptr_t)me);
  c = own[wall];
  if (c != NULL && !LOAD(c->running) && c->thread == me) return c;
  c = (nunused > 0) ? all : NULL;
  while (c != NULL && c->thread != 0) c = c->next;
  if (c != NULL) nunused--;
  else {
    c = calloc(1, sizeof(*c));
    if (c == NULL) return NULL;
    c->fd = c->lastfd = -1;
    c->next = all;
    all = c;
  }
  c->stopped = c->given = c->span = c->orphaned = 0;
  return c;
}

static Timer *newtimer (void) {
  Timer *t = unused;
  if (t != NULL) {
    unused = t->spare;
    return t;
  }
  t = calloc(1, sizeof(*t));
  if (t == NULL) return NULL;
  t->other = timers;
  return timers = t;
}

/* Sets a clock's kind and period. Does not shorten an interval between ticks that was lengthened
   because ticks are expensive (Clock.stretch). */
static void setperiod (Clock *c, uint64_t period, TimerClock sort) {
  uint64_t interval = intervalof(c);
  int held = (c->stretch > 0);
  if (period == c->period && sort == c->sort) return;
  c->period = period;
  if (sort != c->sort) c->sort = sort;  /* removetimer may run on another thread, but passes
                                           c->sort, so it stores nothing: no data race */
  c->stretch = 0;
  while (held && intervalof(c) < interval && intervalof(c) < MAX_SIGNAL_NS) c->stretch++;
}

/* Requests the clock's next signal. Starts a new span (a part of the time with one tick) if the
   current one has ended or if the length of spans has changed. 'isfirst' 1: before that, makes the
   clock's time continue from c->stopped, its value when its last timer stopped. Call it on the
   clock's own thread. */
static void restart (Clock *c, int isfirst) {
  uint64_t now;
  exclude(c);
  if (isfirst) c->base = (c->ticked = clock_read(c->clock)) - c->stopped;
  now = timer_timeof(c);
  if (c->span != intervalof(c) || now > c->given + c->span) {
    c->given = now;
    timer_next(c, now);
  }
  admit(c);
  arm(c, timer_timeof(c));
}

/* Starts a clock of this thread. Returns NULL on failure, with a message in 'err'. */
static Clock *startclock (uint64_t ns, TimerClock sort, Signal *signal, char *err,
                          size_t errsize) {
  Clock *c = newclock(sort == TIMER_WALL);
  const char *call;
  if (c == NULL) {
    timer_nomemory(err, errsize);
    return NULL;
  }
  if (c->thread == 0) c->random = (clock_now() ^ ((uint64_t)me << 40)) | 1;
  STORE(c->thread, me);
  own[sort == TIMER_WALL] = c;
  if (c->signal != signal) stopsignals(c, 0);
  c->sort = sort;
  c->clock = (sort == TIMER_WALL) ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID;
  c->outside = c->clock;
  if (sort != TIMER_WALL) pthread_getcpuclockid(pthread_self(), &c->outside);
  c->period = ns;
  c->signal = signal;
  c->signalcost = c->cost = c->signals = 0;
  c->owed = 0;
  c->stretch = c->easy = 0;
  c->timers = c->last = NULL;
  c->changing = 0;  /* another thread may have been changing the clock when the process forked */
  STORE(c->running, 1);
  signal->clocks++;
  call = (syscall(SYS_gettid) < 0) ? "gettid" : !install(signal) ? "sigaction" : NULL;
  if (call != NULL)
    snprintf(err, errsize, "cannot sample time: %s: %s; permit this system call, or set 'time' to "
             "0", call, strerror(errno));
  else if (startsignals(c, err, errsize)) return c;
  STORE(c->running, 0);
  stopsignals(c, 0);
  if (--signal->clocks == 0) uninstall(signal);
  return NULL;
}

/* Returns this thread's running clock; starts one with period 'ns' if needed. Returns NULL on
   failure, with a message in 'err'. */
static Clock *getclock (uint64_t ns, TimerClock sort, Signal *signal, char *err,
                        size_t errsize) {
  Clock *c = findclock(sort == TIMER_WALL);
  if (c == NULL) return startclock(ns, sort, signal, err, errsize);
  (void)install(c->signal);
  if (sort == TIMER_EXACT && !hasperf(c) && !openperf(c)) {
    noperf(err, errsize);
    return NULL;
  }
  return c;
}

static Timer *addtimer (Clock *c, uint64_t ns, TimerClock sort, const void *whose,
                        void *ud) {
  Timer *t = newtimer();
  if (t == NULL) return NULL;
  STORE(t->clock, c);
  t->whose = whose;
  t->period = ns;
  t->time = draw(c, ns);  /* random start value, so that the quotient time / period is randomly
                             rounded */
  t->counted = 0;
  STORE(t->f, NULL);
  t->ud = ud;
  STORE(t->running, 1);
  t->next = c->timers;
  t->link = &c->timers;
  if (t->next != NULL) t->next->link = &t->next;
  __atomic_store_n(&c->timers, t, __ATOMIC_RELEASE);
  if (c->sort == TIMER_EXACT) sort = TIMER_EXACT;
  setperiod(c, (ns < c->period) ? ns : c->period, sort);
  return t;
}

static void stopclock (Clock *c) {
  uint64_t now = clock_read(c->outside);
  /* stored before stopsignals closes c->fd: after the close, the descriptor's number may belong to
     another file, which handlers must not use */
  STORE(c->running, 0);
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  c->stopped = (now > c->base) ? now - c->base : c->given;
  stopsignals(c, LOAD(keeping) && !c->orphaned && c->thread == me);
  nunused += (c->orphaned != 0);
  if (c->orphaned) STORE(c->thread, 0);
  if (--c->signal->clocks == 0) uninstall(c->signal);
}

/* Removes a timer from its clock, and sets the clock's period to the shortest one of the other
   timers. If there is no other timer, stops the clock. Does not free the timer, because a handler
   may still read it. */
static void removetimer (Timer *t) {
  Clock *c = t->clock;
  uint64_t shortest = 0;
  Timer *o;
  __atomic_store_n(t->link, t->next, __ATOMIC_RELEASE);
  if (t->next != NULL) t->next->link = t->link;
  for (o = c->timers; o != NULL && shortest != c->period; o = o->next)
    if (shortest == 0 || o->period < shortest) shortest = o->period;
  if (shortest != 0) setperiod(c, shortest, c->sort);
  else stopclock(c);
}

/* Returns the number of periods that timer t has lost because its clock's next signal is overdue by
   more than MAX_LATE_NS. Advances the clock by these periods, so that they are returned only once.
   Returns 0 if another running timer of the clock received the time of the last tick (Clock.last),
   because the lost periods then belong to that timer. Call it between exclude and admit. */
static uint64_t missed (Timer *t) {
  Clock *c = t->clock;
  uint64_t now = c->orphaned ? 0 : clock_read(c->outside);
  uint64_t due = c->base + c->due + MAX_LATE_NS, n;
  if (c->timers != NULL && c->last != t && c->last != NULL) return 0;
  if (now <= due) return 0;
  n = (now - due) / t->period;
  c->given += n * t->period;
  c->due += n * t->period;
  return n;
}

/* }===================================================================== */

void timer_keep (void) {
  STORE(keeping, 1);
}

Timer *timer_start (uint64_t ns, TimerClock clock, const void *whose, TimerTick *f,
                    void *ud, char *err, size_t errsize) {
  Signal *signal = choosesignal();
  Timer *t = NULL;
  Clock *c;
  int isfirst = 0;
  if (signal == NULL) {
    snprintf(err, errsize, "cannot sample time: SIGURG is blocked in this thread, and SIGWINCH "
             "is blocked or has a handler; unblock SIGURG (pthread_sigmask)");
    return NULL;
  }
  if (!altstack_use(TIMER_LEAST, err, errsize)) return NULL;
  pthread_mutex_lock(&lock);
  c = getclock(ns, clock, signal, err, errsize);
  if (c != NULL) {
    isfirst = (c->timers == NULL);
    t = addtimer(c, ns, clock, whose, ud);
    if (t == NULL) {
      timer_nomemory(err, errsize);
      if (isfirst) stopclock(c);
    }
  }
  pthread_mutex_unlock(&lock);
  if (t == NULL) return NULL;
  if (clock != TIMER_CPU && ns < MIN_UNMEASURED_NS && c->signalcost == 0)
    c->signalcost = measure(c);
  pthread_mutex_lock(&lock);  /* another thread may be stopping another timer of the clock */
  if (isfirst || intervalof(c) < c->span) restart(c, isfirst);
  __atomic_store_n(&t->f, f, __ATOMIC_RELEASE);
  pthread_mutex_unlock(&lock);
  return t;
}

uint64_t timer_stop (Timer *t) {
  Clock *c = t->clock;
  uint64_t n;
  pthread_mutex_lock(&lock);
  STORE(t->running, 0);
  exclude(c);
  removetimer(t);
  n = missed(t);
  if (c->last == t) __atomic_store_n(&c->last, NULL, __ATOMIC_RELAXED);
  admit(c);
  timer_release(t);
  pthread_mutex_unlock(&lock);
  return n;
}

int timer_mine (const Timer *t) {
  const Clock *c = (t != NULL) ? LOAD(t->clock) : NULL;
  return c != NULL && LOAD(c->thread) == me;
}

uint64_t timer_leave (Timer *t) {
  uint64_t n;
  STORE(t->running, 0);
  if (!timer_mine(t)) return 0;
  exclude(t->clock);
  n = missed(t);
  admit(t->clock);
  return n;
}

void timer_cost (Timer *t, uint64_t cpu, uint64_t wall) {
  Clock *c = t->clock;
  __atomic_add_fetch(&c->cost, c->sort == TIMER_WALL ? wall : cpu, __ATOMIC_RELAXED);
  if (!LOAD(c->robbed)) return;
  pthread_mutex_lock(&lock);
  STORE(c->robbed, 0);
  if (LOAD(c->running) && c->thread == me && !hasperf(c)) renewperf(c);
  pthread_mutex_unlock(&lock);
}

void timer_forked (Timer *t) {
  STORE(t->running, 0);
  t->clock = NULL;
}
