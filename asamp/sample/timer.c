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

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id	_sigev_un._tid
#endif

#define SIGNAL	SIGURG

#define MIN_UNMEASURED_NS	UINT64_C(200000)	/* ns; shorter periods: signals are measured */
#define MAX_SIGNAL_NS	UINT64_C(10000000)	/* ns between signals, where C3 asks for it */
#define MAX_LATE_NS	UINT64_C(50000000)	/* ns that a signal may be late */
#define MAX_OWED_NS	UINT64_C(200000000)	/* ns owed: what is more is forgiven */
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
  unsigned thread;		/* whose clock it is: its 'me' */
  TimerClock sort;
  clockid_t clock;
  clockid_t outside;		/* the same clock for other threads */
  uint64_t period;		/* the shortest of its timers' */
  uint64_t given;		/* its time so far is some timer's, up to this */
  uint64_t quiet;		/* no tick before the clock says this */
  uint64_t signalcost;		/* ns that a signal takes without its tick */
  uint64_t cost;		/* ... that was told since the last tick */
  uint64_t ticked, owed;	/* the last tick; ns not paid yet (adapt) */
  unsigned stretch;		/* a signal every period << stretch */
  unsigned easy;		/* ticks in a row that would allow more signals */
  volatile uint64_t signals;	/* so far, since it runs */
  int fd;			/* of perf_event_open, or -1 (C5) */
  uint64_t event;		/* the number of that event */
  int lastfd;			/* the last one there was, for a signal that is late */
  int posix;			/* 'timer' is there */
  timer_t timer;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static Clock *all;		/* the handler reads it without the lock */
static Timer *timers;
static TimerWho *who;
static int nrunning;		/* clocks */
static struct sigaction before;	/* what our handler replaced, ... */
static struct sigaction beneath;	/* ... and the last time before that */


/*
** A number for each OS thread that has had a timer: the system gives its own
** numbers again, to threads that such a timer must not mistake for its own.
*/
static __thread unsigned me __attribute__((tls_model("initial-exec")));


/* {== the handler ====================================================== */

static int setposix (Clock *c, uint64_t ns) {
  struct itimerspec s;
  s.it_interval.tv_sec = (time_t)(ns / 1000000000);
  s.it_interval.tv_nsec = (long)(ns % 1000000000);
  s.it_value = s.it_interval;
  return timer_settime(c->timer, 0, &s, NULL) == 0;
}


/* Has it a descriptor of perf_event_open that is still its own (C5)? */
static int hasperf (const Clock *c) {
  uint64_t event;
  return c->fd >= 0 && ioctl(c->fd, PERF_EVENT_IOC_ID, &event) == 0 &&
         event == c->event;
}


/* Of CPU time by the POSIX timer: the kernel makes fewer signals than that. */
static void setinterval (Clock *c) {
  uint64_t ns = c->period << c->stretch;
  if (hasperf(c)) ioctl(c->fd, PERF_EVENT_IOC_PERIOD, &ns);
  else if (c->sort == TIMER_WALL) setposix(c, ns);
}


/*
** What is taken is owed, and paid by half of the time that passes (C3). While
** something is owed, signals come less often, step by step; and more often again
** when that would do. 'share': the clocks of this thread.
*/
static void adapt (Clock *c, uint64_t now, uint64_t took, unsigned share) {
  uint64_t interval = c->period << c->stretch;
  uint64_t paid = clock_between(c->ticked, now) / (2 * share);
  c->ticked = now;
  c->owed = (c->owed + took > paid) ? c->owed + took - paid : 0;
  if (c->owed > MAX_OWED_NS) c->owed = MAX_OWED_NS;
  if (c->owed > 0) {
    c->easy = 0;
    if (interval >= MAX_SIGNAL_NS) return;
    c->stretch++;
  }
  else {
    if (c->stretch == 0 || 6 * share * took >= interval) c->easy = 0;
    else c->easy++;
    if (c->easy < EASY_TICKS) return;
    c->easy = 0;
    c->stretch--;
  }
  setinterval(c);
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


/* The clock shows less than it did at the last tick. The time in between is unknown, and nothing
   is due later than from now on. */
static void goneback (Clock *c, uint64_t now) {
  c->given = c->ticked = c->quiet = now;
}


static void tick (Clock *c, unsigned share, void *context) {
  uint64_t now = clock_read(c->clock), count, took;
  Timer *t;
  if (now < c->given) goneback(c, now);
  if (now < c->quiet || c->measuring || (t = choose(c, context)) == NULL) return;
  __atomic_store_n(&c->last, t, __ATOMIC_RELAXED);
  t->time += clock_between(c->given, now);
  c->given = now;
  count = (t->time + t->period / 2) / t->period - t->counted;
  if (count > 0) {
    t->counted += count;
    LOAD(t->f)(t->ud, count, context);
  }
  took = clock_between(now, clock_read(c->clock));
  if (c->sort != TIMER_WALL) c->given += took;
  if (count > 0) c->quiet = now + 2 * took;
  took += c->signalcost + __atomic_exchange_n(&c->cost, 0, __ATOMIC_RELAXED);
  adapt(c, now, took, share);
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


/*
** A signal that is not ours, to whom it would have gone without us. A handler
** that the program installed over ours, and that ours has replaced in turn, may
** give it back to us: then it goes to whom that one had replaced.
*/
static void passon (int signal, siginfo_t *info, void *context) {
  static __thread int passing __attribute__((tls_model("initial-exec")));
  if (passing == 2) return;
  passing++;
  call((passing == 1) ? &before : &beneath, signal, info, context);
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


static int isinstalled (void) {
  struct sigaction a;
  return sigaction(SIGNAL, NULL, &a) == 0 && (a.sa_flags & SA_SIGINFO) &&
         a.sa_sigaction == handler;
}


/* A program that sets the signal while we run has it; the next start takes it. */
static void install (void) {
  struct sigaction a;
  if (isinstalled()) return;
  memset(&a, 0, sizeof(a));
  a.sa_sigaction = handler;
  a.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
  sigemptyset(&a.sa_mask);
  beneath = before;
  sigaction(SIGNAL, NULL, &before);
  sigaction(SIGNAL, &a, NULL);
}


/* A signal of ours may still be pending only where it is blocked. */
static void uninstall (void) {
  sigset_t set;
  if (isinstalled() && sigpending(&set) == 0 && !sigismember(&set, SIGNAL)) {
    sigaction(SIGNAL, &before, NULL);
    before = beneath;  /* whom the one restored may give signals to, by us */
  }
}

/* }===================================================================== */


/* {== what makes the signals =========================================== */

static int startposix (Clock *c) {
  struct sigevent e;
  memset(&e, 0, sizeof(e));
  e.sigev_notify = SIGEV_THREAD_ID;
  e.sigev_signo = SIGNAL;
  e.sigev_value.sival_ptr = c;
  e.sigev_notify_thread_id = (pid_t)syscall(SYS_gettid);
  if (timer_create(c->clock, &e, &c->timer) != 0) return 0;
  if (!setposix(c, c->period)) {
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
  if (ioctl(fd, PERF_EVENT_IOC_ID, &c->event) == 0 &&
      fcntl(fd, F_SETFL, O_RDWR | O_NONBLOCK | O_ASYNC) == 0 &&
      fcntl(fd, F_SETSIG, SIGNAL) == 0 && fcntl(fd, F_SETOWN_EX, &o) == 0 &&
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


static int startsignals (Clock *c, char *err, size_t errsize) {
  if (c->sort == TIMER_EXACT) {
    if (startperf(c, 1)) return 1;
    if (!startperf(c, 0)) return noperf(err, errsize);
  }
  if (startposix(c)) return 1;
  snprintf(err, errsize, "cannot sample time: %s", strerror(errno));
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


static void stopsignals (Clock *c) {
  if (c->posix) timer_delete(c->timer);
  c->posix = 0;
  if (hasperf(c)) {
    ioctl(c->fd, PERF_EVENT_IOC_DISABLE, 0);
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


/* A clock that does not run, of the list or a new one in it. */
static Clock *newclock (void) {
  Clock *c;
  for (c = all; c != NULL; c = c->next)
    if (!LOAD(c->running)) return c;
  c = calloc(1, sizeof(*c));
  if (c == NULL) return NULL;
  c->fd = c->lastfd = -1;
  c->next = all;
  __atomic_store_n(&all, c, __ATOMIC_RELEASE);
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


/* The shortest period of a clock's timers has become another. Where signals are held
   back (C3), they come as often as before. */
static void setperiod (Clock *c, uint64_t period) {
  uint64_t interval = c->period << c->stretch;
  int held = (c->stretch > 0);
  if (period == c->period) return;
  c->period = period;
  c->stretch = 0;
  while (held && period << c->stretch < interval && period << c->stretch < MAX_SIGNAL_NS)
    c->stretch++;
  if (c->posix) setposix(c, period);
  setinterval(c);
}


/* A clock of this thread begins to run: it makes signals, which are only counted. */
static Clock *startclock (uint64_t ns, TimerClock sort, char *err, size_t errsize) {
  Clock *c = newclock();
  if (c == NULL) {
    nomemory(err, errsize);
    return NULL;
  }
  STORE(c->thread, me);
  c->sort = sort;
  c->clock = (sort == TIMER_WALL) ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID;
  c->outside = c->clock;
  if (sort != TIMER_WALL) pthread_getcpuclockid(pthread_self(), &c->outside);
  c->period = ns;
  c->quiet = c->signalcost = c->cost = c->owed = c->signals = 0;
  c->stretch = c->easy = 0;
  c->timers = c->last = NULL;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  STORE(c->running, 1);
  install();
  if (startsignals(c, err, errsize)) {
    nrunning++;
    return c;
  }
  STORE(c->running, 0);
  stopsignals(c);
  if (nrunning == 0) uninstall();
  return NULL;
}


/* That of this thread, of wall or of CPU time, which runs; NULL: none does. */
static Clock *findclock (int wall) {
  Clock *c;
  for (c = all; c != NULL; c = c->next)
    if (LOAD(c->running) && LOAD(c->thread) == me && (c->sort == TIMER_WALL) == wall) return c;
  return NULL;
}


/* A clock of CPU time becomes an exact one, for all of its timers. */
static int sharpen (Clock *c, char *err, size_t errsize) {
  if (startperf(c, 1)) {
    timer_delete(c->timer);
    c->posix = 0;
  }
  else if (!startperf(c, 0)) return noperf(err, errsize);
  c->sort = TIMER_EXACT;
  setinterval(c);
  return 1;
}


/* The clock of this thread for a new timer, with this period at most. */
static Clock *getclock (uint64_t ns, TimerClock sort, char *err, size_t errsize) {
  Clock *c = findclock(sort == TIMER_WALL);
  if (c == NULL) return startclock(ns, sort, err, errsize);
  install();
  if (sort == TIMER_EXACT && c->sort == TIMER_CPU && !sharpen(c, err, errsize))
    return NULL;
  return c;
}


static Timer *addtimer (Clock *c, uint64_t ns, const void *whose, void *ud) {
  Timer *t = newtimer();
  if (t == NULL) return NULL;
  t->clock = c;
  t->whose = whose;
  t->period = ns;
  t->time = t->counted = 0;
  STORE(t->f, NULL);
  t->ud = ud;
  STORE(t->running, 1);
  t->next = c->timers;
  __atomic_store_n(&c->timers, t, __ATOMIC_RELEASE);
  if (ns < c->period) setperiod(c, ns);
  return t;
}


static void stopclock (Clock *c) {
  STORE(c->running, 0);  /* before its descriptor may be another's (setinterval) */
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  stopsignals(c);
  if (--nrunning == 0) uninstall();
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
  if (shortest != 0) setperiod(c, shortest);
  else stopclock(c);
}


/* Periods of timer t that the clock has gone on since a signal was due and did not come, if
   the time was t's. Tells them once. */
static uint64_t missed (Timer *t) {
  Clock *c = t->clock;
  uint64_t now = clock_read(c->outside), due = c->given, n;
  if (c->timers != NULL && c->last != t && c->last != NULL) return 0;
  if (due < c->quiet) due = c->quiet;
  due += (c->period << c->stretch) + MAX_LATE_NS;
  if (now <= due) return 0;
  n = (now - due) / t->period;
  c->given += n * t->period;
  return n;
}

/* }===================================================================== */


static int isblocked (void) {
  sigset_t set;
  return pthread_sigmask(SIG_SETMASK, NULL, &set) == 0 &&
         sigismember(&set, SIGNAL);
}


void timer_who (TimerWho *f) {
  __atomic_store_n(&who, f, __ATOMIC_RELEASE);
}


Timer *timer_start (uint64_t ns, TimerClock clock, const void *whose, TimerTick *f,
                    void *ud, char *err, size_t errsize) {
  static unsigned threads;
  Timer *t = NULL;
  Clock *c;
  int isfirst = 0;
  if (isblocked()) {
    errno = EINVAL;
    snprintf(err, errsize, "cannot sample time: SIGURG is blocked in this "
             "thread; unblock it (pthread_sigmask)");
    return NULL;
  }
  if (!altstack_use(TIMER_LEAST, err, errsize)) return NULL;
  pthread_mutex_lock(&lock);
  if (me == 0) me = ++threads;
  c = getclock(ns, clock, err, errsize);
  if (c != NULL) {
    isfirst = (c->timers == NULL);
    t = addtimer(c, ns, whose, ud);
    if (t == NULL) {
      nomemory(err, errsize);
      if (isfirst) stopclock(c);
    }
  }
  pthread_mutex_unlock(&lock);
  if (t == NULL) return NULL;
  if (clock != TIMER_CPU && ns < MIN_UNMEASURED_NS && c->signalcost == 0)
    c->signalcost = measure(c);
  if (isfirst) c->given = c->ticked = clock_read(c->clock);
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  STORE(t->f, f);
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
  Clock *c = t->clock;
  pthread_mutex_init(&lock, NULL);
  STORE(t->running, 0);
  t->clock = NULL;
  if (c == NULL) return;  /* another thread was just ending it */
  c->timers = c->last = NULL;
  if (!LOAD(c->running)) return;
  STORE(c->running, 0);
  if (hasperf(c)) close(c->fd);
  c->fd = -1;
  c->posix = 0;
  if (--nrunning == 0) uninstall();
}
