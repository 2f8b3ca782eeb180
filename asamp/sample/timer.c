/* SPDX-License-Identifier: MIT */
/*
** Clocks and signals (timer.h).
*/
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

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id	_sigev_un._tid
#endif

#define MIN_UNMEASURED_NS	UINT64_C(200000)	/* ns; shorter periods: signals are measured */
#define MAX_SIGNAL_NS	UINT64_C(10000000)	/* ns between signals, where C3 asks for it */
#define FEW_NS		UINT64_C(4000000)	/* ns between signals of TIMER_CPU, at least */
#define MIN_WAIT_NS	UINT64_C(20000)	/* ns to the next signal, at least; a signal may be
					   as early as that */
#define MAX_LATE_NS	UINT64_C(50000000)	/* ns that a signal may be late */
#define MAX_OWED_NS	INT64_C(200000000)	/* ns owed: a larger debt is forgiven */
#define EASY_TICKS	8	/* ticks that allow more signals, until there are more */

/* What handlers of other threads look at, too. */
#define LOAD(x)		__atomic_load_n(&(x), __ATOMIC_RELAXED)
#define STORE(x,v)	__atomic_store_n(&(x), v, __ATOMIC_RELAXED)

typedef struct Clock Clock;

struct Timer {
  Timer *next;			/* of its clock's */
  Timer *other;			/* all there are, running or not (C4) */
  Clock *clock;			/* NULL: it is nobody's, and may be given again */
  volatile sig_atomic_t running;
  const void *whose;
  uint64_t period, time, counted;  /* C1 */
  TimerTick *f;			/* NULL: it has not begun */
  void *ud;
};

/* What makes signals: one of a sort for each OS thread that has timers. */
struct Clock {
  Clock *next;			/* all clocks, running or not (C4) */
  Timer *timers;		/* that run; changed under the lock, read without */
  Timer *last;			/* that was given time last, or NULL (C6) */
  volatile sig_atomic_t running;
  volatile sig_atomic_t ticking;	/* handlers that look at it */
  volatile sig_atomic_t measuring;	/* signals are only counted */
  volatile sig_atomic_t held;	/* the thread changes it: handlers let it alone */
  unsigned thread;		/* whose clock it is: its 'me'; 0: nobody's */
  TimerClock sort;
  clockid_t clock;
  clockid_t outside;		/* the same clock for other threads */
  uint64_t period;		/* the shortest of its timers' */
  uint64_t base;		/* ns of the system's clock that are not its time: of ticks,
				   and while it has no timers (C7) */
  uint64_t given;		/* ns; its time up to this is some timer's: here its span begins */
  uint64_t span;		/* ns; one tick stands for it (C8) */
  uint64_t due;			/* ns; the point of the span at which that tick comes */
  uint64_t stopped;		/* ns; its time when its last timer stopped */
  uint64_t random;		/* state of the generator of points */
  uint64_t signalcost;		/* ns that a signal takes without its tick */
  uint64_t cost;		/* ... that was told since the last tick */
  uint64_t ticked;		/* the last tick, by the system's clock */
  int64_t owed;			/* ns not paid yet, below 0: paid in advance (adapt) */
  unsigned stretch;		/* a signal every period << stretch */
  unsigned easy;		/* ticks in a row that would allow more signals */
  volatile uint64_t signals;	/* so far, since it runs */
  int fd;			/* of perf_event_open, or -1 (C5) */
  uint64_t event;		/* the number of that event */
  int lastfd;			/* the last one there was, for a signal that is late */
  int kernel;			/* the event makes signals in kernel mode, too */
  int orphaned;			/* its thread has ended */
  struct Signal *signal;	/* the one that it sends */
  int posix;			/* 'timer' is there */
  timer_t timer;
};

/* A signal, and the actions that the handler of this file has replaced. */
typedef struct Signal {
  int number;
  int clocks;			/* that send it */
  struct sigaction before;	/* what our handler replaced, ... */
  struct sigaction beneath;	/* ... and the last time before that */
} Signal;

/* The second is for threads that block the first. */
static Signal signals[] = {{.number = SIGURG}, {.number = SIGWINCH}};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static Clock *all;		/* the handler reads it without the lock */
static Timer *timers;
static TimerWho *who;
static int keeping;		/* events stay open while their clock has no timers */


/*
** A number for each OS thread that has had a timer: the system gives its own
** numbers again, to threads that such a timer must not mistake for its own.
*/
static __thread unsigned me __attribute__((tls_model("initial-exec")));


/* {== the handler ====================================================== */

/* Signals after 'first' nanoseconds and then each time that 'ns' have passed. */
static int setposix (Clock *c, uint64_t first, uint64_t ns) {
  struct itimerspec s;
  s.it_interval.tv_sec = (time_t)(ns / 1000000000);
  s.it_interval.tv_nsec = (long)(ns % 1000000000);
  s.it_value.tv_sec = (time_t)(first / 1000000000);
  s.it_value.tv_nsec = (long)(first % 1000000000);
  return timer_settime(c->timer, 0, &s, NULL) == 0;
}


/* Has it a descriptor of perf_event_open that is still its own (C5)? */
static int hasperf (const Clock *c) {
  uint64_t event;
  return c->fd >= 0 && ioctl(c->fd, PERF_EVENT_IOC_ID, &event) == 0 &&
         event == c->event;
}


/* The clock's own time. */
static uint64_t timeof (const Clock *c) {
  return clock_read(c->clock) - c->base;
}


/* A number from 0 to n - 1: xorshift64*, Vigna (2016). */
static uint64_t draw (Clock *c, uint64_t n) {
  uint64_t x = c->random;
  x ^= x >> 12;
  x ^= x << 25;
  x ^= x >> 27;
  c->random = x;
  return (uint64_t)(((unsigned __int128)(x * UINT64_C(0x2545F4914F6CDD1D)) * n) >> 64);
}


/* Periods of a span that no limit has stretched. */
static uint64_t spanof (const Clock *c) {
  uint64_t n = 1;
  if (c->sort == TIMER_CPU && c->period < FEW_NS) n = (FEW_NS + c->period / 2) / c->period;
  return n * c->period;
}


static uint64_t intervalof (const Clock *c) {
  return spanof(c) << c->stretch;
}


/*
** The next signal comes when the clock's time is c->due. The POSIX timer of CPU time is set
** although the event may do: it takes over when the program has closed the descriptor, or
** where the event makes no signal in kernel mode.
*/
static void arm (Clock *c) {
  uint64_t now = timeof(c), wait = MIN_WAIT_NS;
  if (c->due > now + wait) wait = c->due - now;
  if (c->posix) setposix(c, wait, c->span);
  if (hasperf(c)) ioctl(c->fd, PERF_EVENT_IOC_PERIOD, &wait);
}


/* The next span begins at c->given; its tick comes at the time 'earliest' or later. */
static void next (Clock *c, uint64_t earliest) {
  c->span = intervalof(c);
  c->due = c->given + draw(c, c->span);
  if (c->due < earliest) c->due = earliest;
}


/*
** What is taken is owed, and paid by half of the time that passes (C3). While
** something is owed, signals come less often, step by step; and more often again
** when that would do. A span may pay for the next one in advance, for ticks come at random
** distances. 'share': the clocks of this thread.
*/
static void adapt (Clock *c, uint64_t now, uint64_t took, unsigned share) {
  uint64_t interval = intervalof(c);
  int64_t paid = (int64_t)(clock_between(c->ticked, now) / (2 * share));
  int64_t advance = (int64_t)(interval / (2 * share));
  c->ticked = now;
  c->owed += (int64_t)took - paid;
  if (c->owed < -advance) c->owed = -advance;
  if (c->owed > MAX_OWED_NS) c->owed = MAX_OWED_NS;
  if (c->owed > 0) {
    c->easy = 0;
    if (interval < MAX_SIGNAL_NS) c->stretch++;
  }
  else {
    if (c->stretch == 0 || 6 * share * took >= interval) c->easy = 0;
    else c->easy++;
    if (c->easy < EASY_TICKS) return;
    c->easy = 0;
    c->stretch--;
  }
}


static int isready (const Timer *t) {
  return LOAD(t->running) && LOAD(t->f) != NULL;
}


/* The timer that the time is given to (C6). NULL: none yet. */
static Timer *choose (const Clock *c, void *context) {
  const void *whose[TIMER_DEPTH];
  unsigned n = LOAD(who)(whose, context), i;
  Timer *t = __atomic_load_n(&c->last, __ATOMIC_RELAXED);
  for (i = 0; i < n; i++) {
    if (t != NULL && t->whose == whose[i] && isready(t)) return t;
    for (t = __atomic_load_n(&c->timers, __ATOMIC_ACQUIRE); t != NULL; t = t->next)
      if (t->whose == whose[i] && isready(t)) return t;
  }
  t = __atomic_load_n(&c->last, __ATOMIC_RELAXED);
  if (t != NULL && isready(t)) return t;
  t = __atomic_load_n(&c->timers, __ATOMIC_ACQUIRE);
  while (t != NULL && !isready(t)) t = t->next;
  return t;
}


/* The system's clock shows less than it did at the last tick. The time in between is unknown. */
static void goneback (Clock *c, uint64_t now) {
  c->base -= c->ticked - now;
  c->ticked = now;
}


static void tick (Clock *c, unsigned share, void *context) {
  uint64_t start = clock_read(c->clock), now, end, count, took;
  Timer *t;
  if (c->held || c->measuring) return;
  if (start < c->ticked) goneback(c, start);
  now = start - c->base;
  if (now + MIN_WAIT_NS < c->due || (t = choose(c, context)) == NULL) {
    arm(c);  /* another clock's signal, or there is no timer yet */
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
  next(c, now + took);
  arm(c);
}


/* Did a clock of ours, running or stopped, send this? */
static int isours (const siginfo_t *info) {
  const Clock *c;
  for (c = __atomic_load_n(&all, __ATOMIC_ACQUIRE); c != NULL; c = c->next) {
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


/*
** A signal that is not ours, to whom it would have gone without us. A handler
** that the program installed over ours, and that ours has replaced in turn, may
** give it back to us: then it goes to whom that one had replaced.
*/
static void passon (int signal, siginfo_t *info, void *context) {
  static __thread int passing __attribute__((tls_model("initial-exec")));
  const Signal *s = signalof(signal);
  if (passing == 2) return;
  passing++;
  call((passing == 1) ? &s->before : &s->beneath, signal, info, context);
  passing--;
}


/*
** Two clocks' signals may have become one: every clock of this thread is looked at.
*/
static void handler (int signal, siginfo_t *info, void *context) {
  int e = errno;
  if (isours(info)) {
    Clock *first = __atomic_load_n(&all, __ATOMIC_ACQUIRE), *c;
    unsigned share = 0;
    for (c = first; c != NULL; c = c->next)
      if (LOAD(c->running) && LOAD(c->thread) == me) share++;
    for (c = first; c != NULL; c = c->next) {
      if (LOAD(c->thread) != me) continue;
      __atomic_add_fetch(&c->ticking, 1, __ATOMIC_SEQ_CST);  /* C2 */
      if (LOAD(c->running) && LOAD(c->thread) == me) {
        c->signals++;
        tick(c, share, context);
      }
      __atomic_sub_fetch(&c->ticking, 1, __ATOMIC_RELEASE);
    }
  }
  else passon(signal, info, context);
  errno = e;
}


static int isinstalled (const Signal *s) {
  struct sigaction a;
  return sigaction(s->number, NULL, &a) == 0 && (a.sa_flags & SA_SIGINFO) &&
         a.sa_sigaction == handler;
}


/* A program that sets the signal while we run has it; the next start takes it. */
static void install (Signal *s) {
  struct sigaction a;
  if (isinstalled(s)) return;
  memset(&a, 0, sizeof(a));
  a.sa_sigaction = handler;
  a.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
  sigemptyset(&a.sa_mask);
  s->beneath = s->before;
  sigaction(s->number, NULL, &s->before);
  sigaction(s->number, &a, NULL);
}


/* A signal of ours may still be pending only where it is blocked. */
static void uninstall (Signal *s) {
  sigset_t set;
  if (isinstalled(s) && sigpending(&set) == 0 && !sigismember(&set, s->number)) {
    sigaction(s->number, &s->before, NULL);
    s->before = s->beneath;  /* whom the one restored may give signals to, by us */
  }
}


/*
** The signal for the clocks of the calling thread; NULL: it has none, and errno is EINVAL.
** A thread that blocks SIGURG may wait for it by itself (signalfd, sigwait), so it stays
** blocked. SIGWINCH is taken where its default action shows that nobody uses it.
*/
static Signal *choosesignal (void) {
  struct sigaction a;
  sigset_t set;
  errno = EINVAL;
  if (pthread_sigmask(SIG_SETMASK, NULL, &set) != 0) return NULL;
  if (!sigismember(&set, SIGURG)) return &signals[0];
  if (sigismember(&set, SIGWINCH) || sigaction(SIGWINCH, NULL, &a) != 0) return NULL;
  if (!isinstalled(&signals[1]) && ((a.sa_flags & SA_SIGINFO) || a.sa_handler != SIG_DFL))
    return NULL;
  return &signals[1];
}

/* }===================================================================== */


/* {== what makes the signals =========================================== */

static int startposix (Clock *c) {
  struct sigevent e;
  memset(&e, 0, sizeof(e));
  e.sigev_notify = SIGEV_THREAD_ID;
  e.sigev_signo = c->signal->number;
  e.sigev_value.sival_ptr = c;
  e.sigev_notify_thread_id = (pid_t)syscall(SYS_gettid);
  if (timer_create(c->clock, &e, &c->timer) != 0) return 0;
  if (!setposix(c, c->period, c->period)) {
    timer_delete(c->timer);
    return 0;
  }
  c->posix = 1;
  return 1;
}


/* 'kernel': ticks in kernel mode, too. */
static int startperf (Clock *c, int kernel) {
  struct perf_event_attr a;
  struct f_owner_ex o;
  int fd;
  memset(&a, 0, sizeof(a));
  a.size = sizeof(a);
  a.type = PERF_TYPE_SOFTWARE;
  a.config = PERF_COUNT_SW_TASK_CLOCK;
  a.sample_period = c->period;
  a.disabled = 1;
  a.exclude_kernel = !kernel;
  a.exclude_hv = 1;
  a.wakeup_events = 1;
  fd = (int)syscall(SYS_perf_event_open, &a, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
  if (fd < 0) return 0;
  o.type = F_OWNER_TID;
  o.pid = (pid_t)syscall(SYS_gettid);
  c->fd = c->lastfd = fd;
  c->kernel = kernel;
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
             "their number (ulimit -n), or do without 'exact'");
  else
    snprintf(err, errsize, "cannot sample time exactly: perf_event_open: %s; "
             "see kernel.perf_event_paranoid, or do without 'exact'", strerror(errno));
  return 0;
}


/* Opens the event of a clock of CPU time; the kernel may grant user mode alone. */
static int openperf (Clock *c) {
  int e;
  if (!startperf(c, 1) && !startperf(c, 0)) return 0;
  if (c->sort == TIMER_EXACT || descriptor_spare(c->fd, 0)) return 1;
  e = errno;
  close(c->fd);  /* the program needs it more */
  c->fd = -1;
  errno = e;
  return 0;
}


/* An event that has stayed open makes signals again. */
static int reopenperf (Clock *c) {
  uint64_t period = c->period;
  if (!hasperf(c)) return 0;
  return ioctl(c->fd, PERF_EVENT_IOC_PERIOD, &period) == 0 &&
         ioctl(c->fd, PERF_EVENT_IOC_ENABLE, 0) == 0;
}


static int startsignals (Clock *c, char *err, size_t errsize) {
  int isopen = 0;
  if (c->sort != TIMER_WALL) {
    isopen = reopenperf(c) || openperf(c);
    if (!isopen && c->sort == TIMER_EXACT) return noperf(err, errsize);
  }
  if (startposix(c) || isopen) return 1;
  snprintf(err, errsize, "cannot sample time: timer_create: %s", strerror(errno));
  return 0;
}


/*
** What a signal costs this thread, with its two reads of the clock: the longest
** time between two readings while one came. 0: none came.
*/
static uint64_t measure (Clock *c) {
  uint64_t seen = c->signals;
  uint64_t now = clock_read(CLOCK_THREAD_CPUTIME_ID), end = now + 16 * c->period;
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


static void stopsignals (Clock *c, int keep) {
  if (c->posix) timer_delete(c->timer);
  c->posix = 0;
  if (hasperf(c)) {
    ioctl(c->fd, PERF_EVENT_IOC_DISABLE, 0);
    if (keep) return;
    close(c->fd);
  }
  c->fd = -1;
}

/* }===================================================================== */


/* {== clocks and their timers ========================================== */

static void nomemory (char *err, size_t errsize) {
  errno = ENOMEM;
  snprintf(err, errsize, "cannot sample time: not enough memory");
}


/* Its thread has ended, whose value of 'key' this is. */
static void threadends (void *number) {
  unsigned thread = (unsigned)(uintptr_t)number;
  Clock *c;
  pthread_mutex_lock(&lock);
  for (c = all; c != NULL; c = c->next) {
    if (c->thread != thread) continue;
    if (LOAD(c->running)) c->orphaned = 1;  /* a state will stop it */
    else {
      stopsignals(c, 0);
      STORE(c->thread, 0);
    }
  }
  pthread_mutex_unlock(&lock);
}


/* In the child of a fork: the parent's clocks are not the child's. */
static void forked (void) {
  unsigned i;
  Clock *c;
  pthread_mutex_init(&lock, NULL);
  for (c = all; c != NULL; c = c->next) {
    STORE(c->running, 0);
    c->timers = c->last = NULL;
    c->stopped = c->given = c->span = 0;
    if (hasperf(c)) close(c->fd);
    c->fd = -1;
    c->posix = 0;
    if (c->thread != me) STORE(c->thread, 0);
  }
  for (i = 0; i < sizeof(signals) / sizeof(*signals); i++) {
    if (signals[i].clocks > 0) uninstall(&signals[i]);
    signals[i].clocks = 0;
  }
}


static pthread_key_t key;
static int iskey;

static void once (void) {
  pthread_atfork(NULL, NULL, forked);
  iskey = (pthread_key_create(&key, threadends) == 0);
}


/* The clock of this thread that does not run, of wall or of CPU time; or one of nobody, of
   the list or a new one in it. */
static Clock *newclock (int wall) {
  static unsigned threads;
  static pthread_once_t control = PTHREAD_ONCE_INIT;
  Clock *c;
  if (me == 0) {
    me = ++threads;
    pthread_once(&control, once);
    if (iskey) pthread_setspecific(key, (void *)(uintptr_t)me);
  }
  for (c = all; c != NULL; c = c->next)
    if (!LOAD(c->running) && c->thread == me && (c->sort == TIMER_WALL) == wall) return c;
  for (c = all; c != NULL; c = c->next)
    if (c->thread == 0) break;
  if (c == NULL) {
    c = calloc(1, sizeof(*c));
    if (c == NULL) return NULL;
    c->fd = c->lastfd = -1;
    c->next = all;
    __atomic_store_n(&all, c, __ATOMIC_RELEASE);
  }
  c->stopped = c->given = c->span = c->orphaned = 0;
  return c;
}


static Timer *newtimer (void) {
  Timer *t;
  for (t = timers; t != NULL; t = t->other)
    if (t->clock == NULL) return t;
  t = calloc(1, sizeof(*t));
  if (t == NULL) return NULL;
  t->other = timers;
  return timers = t;
}


/* The shortest period of a clock's timers, or its sort, has changed. Where signals are held
   back (C3), they come as often as before. */
static void setperiod (Clock *c, uint64_t period, TimerClock sort) {
  uint64_t interval = intervalof(c);
  int held = (c->stretch > 0);
  if (period == c->period && sort == c->sort) return;
  c->period = period;
  c->sort = sort;
  c->stretch = 0;
  while (held && intervalof(c) < interval && intervalof(c) < MAX_SIGNAL_NS) c->stretch++;
}


/* The clock's time goes on from where it stopped (C7). */
static void resume (Clock *c) {
  c->ticked = clock_read(c->clock);
  c->base = c->ticked - c->stopped;
}


/*
** Signals come by the clock's spans from here on, on its thread. What is left of the span at
** which it stopped is used, unless that is of another length. Else a new span begins now:
** the old one has had its tick, or has none, by chance.
*/
static void restart (Clock *c) {
  uint64_t now = timeof(c);
  STORE(c->held, 1);
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  if (c->span != intervalof(c) || now > c->given + c->span) {
    c->given = now;
    next(c, now);
  }
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  STORE(c->held, 0);
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  arm(c);
}


/* A clock of this thread begins to run: it makes signals, which are only counted. */
static Clock *startclock (uint64_t ns, TimerClock sort, Signal *signal, char *err,
                          size_t errsize) {
  Clock *c = newclock(sort == TIMER_WALL);
  if (c == NULL) {
    nomemory(err, errsize);
    return NULL;
  }
  if (c->thread == 0) c->random = (clock_now() ^ ((uint64_t)me << 40)) | 1;
  STORE(c->thread, me);
  if (c->fd >= 0 && c->signal != signal) stopsignals(c, 0);
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
  STORE(c->held, 1);
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  STORE(c->running, 1);
  if (signal->clocks++ == 0 || !isinstalled(signal)) install(signal);
  if (startsignals(c, err, errsize)) return c;
  STORE(c->running, 0);
  stopsignals(c, 0);
  if (--signal->clocks == 0) uninstall(signal);
  return NULL;
}


/* That of this thread, of wall or of CPU time, which runs; NULL: none does. */
static Clock *findclock (int wall) {
  Clock *c;
  for (c = all; c != NULL; c = c->next)
    if (LOAD(c->running) && LOAD(c->thread) == me && (c->sort == TIMER_WALL) == wall) return c;
  return NULL;
}


/* The clock of this thread for a new timer, with this period at most. */
static Clock *getclock (uint64_t ns, TimerClock sort, Signal *signal, char *err,
                        size_t errsize) {
  Clock *c = findclock(sort == TIMER_WALL);
  if (c == NULL) return startclock(ns, sort, signal, err, errsize);
  install(c->signal);
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
  t->clock = c;
  t->whose = whose;
  t->period = ns;
  t->time = draw(c, ns);  /* so that the rest of a period at its end counts by chance */
  t->counted = 0;
  STORE(t->f, NULL);
  t->ud = ud;
  STORE(t->running, 1);
  t->next = c->timers;
  __atomic_store_n(&c->timers, t, __ATOMIC_RELEASE);
  if (c->sort == TIMER_EXACT) sort = TIMER_EXACT;
  setperiod(c, (ns < c->period) ? ns : c->period, sort);
  return t;
}


static void stopclock (Clock *c) {
  uint64_t now = clock_read(c->outside);
  STORE(c->running, 0);  /* before its descriptor may be another's (arm) */
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  c->stopped = (now > c->base) ? now - c->base : c->given;
  stopsignals(c, keeping && !c->orphaned && c->thread == me);
  if (c->orphaned) STORE(c->thread, 0);
  if (--c->signal->clocks == 0) uninstall(c->signal);
}


/* Takes it off; a handler that is at it goes on to the one behind. */
static void removetimer (Timer *t) {
  Clock *c = t->clock;
  uint64_t shortest = 0;
  Timer **p, *o;
  for (p = &c->timers; *p != t; p = &(*p)->next) { }
  __atomic_store_n(p, t->next, __ATOMIC_RELEASE);
  for (o = c->timers; o != NULL; o = o->next)
    if (shortest == 0 || o->period < shortest) shortest = o->period;
  if (shortest != 0) setperiod(c, shortest, c->sort);
  else stopclock(c);
}


/* Periods of timer t that the clock has gone on since a signal was due and did not come, if
   the time was t's. Counts them once. */
static uint64_t missed (Timer *t) {
  Clock *c = t->clock;
  uint64_t now = clock_read(c->outside), due = c->base + c->due + MAX_LATE_NS, n;
  if (c->timers != NULL && c->last != t && c->last != NULL) return 0;
  if (now <= due) return 0;
  n = (now - due) / t->period;
  c->given += n * t->period;
  c->due += n * t->period;
  return n;
}

/* }===================================================================== */


void timer_who (TimerWho *f) {
  __atomic_store_n(&who, f, __ATOMIC_RELEASE);
}


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
             "is blocked or has a handler; unblock one of them (pthread_sigmask)");
    return NULL;
  }
  if (!altstack_use(TIMER_LEAST, err, errsize)) return NULL;
  pthread_mutex_lock(&lock);
  c = getclock(ns, clock, signal, err, errsize);
  if (c != NULL) {
    isfirst = (c->timers == NULL);
    t = addtimer(c, ns, clock, whose, ud);
    if (t == NULL) {
      nomemory(err, errsize);
      if (isfirst) stopclock(c);
    }
  }
  pthread_mutex_unlock(&lock);
  if (t == NULL) return NULL;
  if (clock != TIMER_CPU && ns < MIN_UNMEASURED_NS && c->signalcost == 0)
    c->signalcost = measure(c);
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  STORE(t->f, f);
  if (isfirst) resume(c);
  if (isfirst || intervalof(c) < c->span) restart(c);
  return t;
}


uint64_t timer_stop (Timer *t) {
  Clock *c = t->clock;
  uint64_t n;
  pthread_mutex_lock(&lock);
  STORE(t->running, 0);
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  removetimer(t);
  while (c->thread != me && __atomic_load_n(&c->ticking, __ATOMIC_ACQUIRE))
    sched_yield();  /* handlers do not take the lock */
  n = missed(t);
  if (c->last == t) __atomic_store_n(&c->last, NULL, __ATOMIC_RELAXED);
  t->clock = NULL;
  pthread_mutex_unlock(&lock);
  return n;
}


int timer_mine (const Timer *t) {
  return t->clock->thread == me;
}


uint64_t timer_leave (Timer *t) {
  STORE(t->running, 0);
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  return timer_mine(t) ? missed(t) : 0;
}


void timer_cost (Timer *t, uint64_t ns) {
  __atomic_add_fetch(&t->clock->cost, ns, __ATOMIC_RELAXED);
}


void timer_forked (Timer *t) {
  STORE(t->running, 0);
  t->clock = NULL;
}
