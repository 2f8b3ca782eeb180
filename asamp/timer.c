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

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id	_sigev_un._tid
#endif

#define SIGNAL	SIGURG

#define BRIEF	UINT64_C(200000)	/* ns; shorter periods: signals are measured */
#define LONGEST	UINT64_C(10000000)	/* ns between signals, where C3 asks for it */
#define LATEST	UINT64_C(50000000)	/* ns that a signal may be late */
#define MOST	UINT64_C(200000000)	/* ns owed: what is more is forgiven */
#define EASY	8	/* ticks that allow more signals, until there are more */

struct Timer {
  Timer *next;			/* all timers, running or not (C4) */
  volatile sig_atomic_t running;
  volatile sig_atomic_t ticking;	/* handlers that look at it */
  unsigned thread;		/* whose timer it is: its 'me' */
  clockid_t clock;
  clockid_t outside;		/* the same clock for other threads */
  uint64_t period, start, counted;
  uint64_t quiet;		/* no tick before the clock says this */
  uint64_t signalcost;		/* ns that a signal takes without its tick */
  uint64_t cost;		/* ... that was told since the last tick */
  uint64_t last, owed;		/* the last tick; ns not paid yet (adapt) */
  unsigned stretch;		/* a signal every period << stretch */
  unsigned easy;		/* ticks in a row that would allow more signals */
  volatile sig_atomic_t signals;	/* so far */
  TimerTick *f;			/* NULL: signals are only counted */
  void *ud;
  int fd;			/* of perf_event_open, or -1 (C5) */
  uint64_t event;		/* the number of that event */
  int lastfd;			/* the last one there was, for a signal that is late */
  int posix;			/* 'timer' is there */
  timer_t timer;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static Timer *all;		/* the handler reads it without the lock */
static int nrunning;
static struct sigaction before;	/* what our handler replaced, ... */
static struct sigaction beneath;	/* ... and the last time before that */


/*
** A number for each OS thread that has had a timer: the system gives its own
** numbers again, to threads that such a timer must not mistake for its own.
*/
static __thread unsigned me __attribute__((tls_model("initial-exec")));


/* 0: there is no such clock any more. */
static uint64_t read_ (clockid_t clock) {
  struct timespec t;
  if (clock_gettime(clock, &t) != 0) return 0;
  return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}


/* {== the handler ====================================================== */

static int setposix (Timer *t, uint64_t ns) {
  struct itimerspec s;
  s.it_interval.tv_sec = (time_t)(ns / 1000000000);
  s.it_interval.tv_nsec = (long)(ns % 1000000000);
  s.it_value = s.it_interval;
  return timer_settime(t->timer, 0, &s, NULL) == 0;
}


/* Has it a descriptor of perf_event_open that is still its own (C5)? */
static int hasperf (const Timer *t) {
  uint64_t event;
  return t->fd >= 0 && ioctl(t->fd, PERF_EVENT_IOC_ID, &event) == 0 &&
         event == t->event;
}


/* Of CPU time by the POSIX timer: the kernel makes fewer signals than that. */
static void setinterval (Timer *t) {
  uint64_t ns = t->period << t->stretch;
  if (hasperf(t)) ioctl(t->fd, PERF_EVENT_IOC_PERIOD, &ns);
  else if (t->clock == CLOCK_MONOTONIC) setposix(t, ns);
}


/*
** What is taken is owed, and paid by half of the time that passes (C3). While
** something is owed, signals come less often, step by step; and more often again
** when that would do. 'share': the timers of this thread.
*/
static void adapt (Timer *t, uint64_t now, uint64_t took, unsigned share) {
  uint64_t interval = t->period << t->stretch;
  uint64_t paid = (now - t->last) / (2 * share);
  t->last = now;
  t->owed = (t->owed + took > paid) ? t->owed + took - paid : 0;
  if (t->owed > MOST) t->owed = MOST;
  if (t->owed > 0) {
    t->easy = 0;
    if (interval >= LONGEST) return;
    t->stretch++;
  }
  else {
    if (t->stretch == 0 || 6 * share * took >= interval) t->easy = 0;
    else t->easy++;
    if (t->easy < EASY) return;
    t->easy = 0;
    t->stretch--;
  }
  setinterval(t);
}


static void tick (Timer *t, unsigned share, void *context) {
  uint64_t now = read_(t->clock);
  uint64_t count = (now - t->start + t->period / 2) / t->period - t->counted;
  uint64_t took;
  if (count == 0 || now < t->quiet) return;
  t->counted += count;
  t->f(t->ud, count, context);
  took = read_(t->clock) - now;
  if (t->clock != CLOCK_MONOTONIC) t->start += took;
  t->quiet = now + 2 * took;
  took += t->signalcost + __atomic_exchange_n(&t->cost, 0, __ATOMIC_RELAXED);
  adapt(t, now, took, share);
}


/* Did a timer of ours, running or stopped, send this? */
static int isours (const siginfo_t *info) {
  const Timer *t;
  for (t = __atomic_load_n(&all, __ATOMIC_ACQUIRE); t != NULL; t = t->next) {
    if (info->si_code == SI_TIMER && info->si_value.sival_ptr == t) return 1;
    if (info->si_code == POLL_IN && info->si_fd == t->lastfd) return 1;
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
** Two timers' signals may have become one: every timer of this thread looks at
** its clock.
*/
static void handler (int signal, siginfo_t *info, void *context) {
  int e = errno;
  if (isours(info)) {
    Timer *first = __atomic_load_n(&all, __ATOMIC_ACQUIRE), *t;
    unsigned share = 0;
    for (t = first; t != NULL; t = t->next)
      if (t->running && t->thread == me) share++;
    for (t = first; t != NULL; t = t->next) {
      if (t->thread != me) continue;
      __atomic_add_fetch(&t->ticking, 1, __ATOMIC_SEQ_CST);  /* C2 */
      if (t->running && t->thread == me) {
        t->signals++;
        if (t->f != NULL) tick(t, share, context);
      }
      __atomic_sub_fetch(&t->ticking, 1, __ATOMIC_RELEASE);
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
  a.sa_flags = SA_SIGINFO | SA_RESTART;
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

static int startposix (Timer *t) {
  struct sigevent e;
  memset(&e, 0, sizeof(e));
  e.sigev_notify = SIGEV_THREAD_ID;
  e.sigev_signo = SIGNAL;
  e.sigev_value.sival_ptr = t;
  e.sigev_notify_thread_id = (pid_t)syscall(SYS_gettid);
  if (timer_create(t->clock, &e, &t->timer) != 0) return 0;
  if (!setposix(t, t->period)) {
    timer_delete(t->timer);
    return 0;
  }
  t->posix = 1;
  return 1;
}


/* 'kernel': ticks in kernel mode, too. */
static int startperf (Timer *t, int kernel) {
  struct perf_event_attr a;
  struct f_owner_ex o;
  int fd;
  memset(&a, 0, sizeof(a));
  a.size = sizeof(a);
  a.type = PERF_TYPE_SOFTWARE;
  a.config = PERF_COUNT_SW_TASK_CLOCK;
  a.sample_period = t->period;
  a.disabled = 1;
  a.exclude_kernel = !kernel;
  a.exclude_hv = 1;
  a.wakeup_events = 1;
  fd = (int)syscall(SYS_perf_event_open, &a, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
  if (fd < 0) return 0;
  o.type = F_OWNER_TID;
  o.pid = (pid_t)syscall(SYS_gettid);
  t->fd = t->lastfd = fd;
  if (ioctl(fd, PERF_EVENT_IOC_ID, &t->event) == 0 &&
      fcntl(fd, F_SETFL, O_RDWR | O_NONBLOCK | O_ASYNC) == 0 &&
      fcntl(fd, F_SETSIG, SIGNAL) == 0 && fcntl(fd, F_SETOWN_EX, &o) == 0 &&
      ioctl(fd, PERF_EVENT_IOC_ENABLE, 0) == 0)
    return 1;
  close(fd);
  t->fd = -1;
  return 0;
}


static int startsignals (Timer *t, TimerClock clock, char *err,
                         size_t errsize) {
  if (clock == TIMER_EXACT) {
    if (startperf(t, 1)) return 1;
    if (!startperf(t, 0)) {
      snprintf(err, errsize, "cannot sample time exactly: perf_event_open: %s; "
               "see kernel.perf_event_paranoid, or do without 'exact'",
               strerror(errno));
      return 0;
    }
  }
  if (startposix(t)) return 1;
  snprintf(err, errsize, "cannot sample time: %s", strerror(errno));
  return 0;
}


/*
** What a signal costs this thread, with its two reads of the clock: the longest
** time between two readings while one came. 0: none came.
*/
static uint64_t measure (const Timer *t) {
  sig_atomic_t seen = t->signals;
  uint64_t now = read_(CLOCK_THREAD_CPUTIME_ID), end = now + 16 * t->period;
  uint64_t last, least = 0;
  int n = 0;
  while (n < 4 && now < end) {
    last = now;
    now = read_(CLOCK_THREAD_CPUTIME_ID);
    if (t->signals == seen) continue;
    seen = t->signals;
    if (n++ == 0 || now - last < least) least = now - last;
  }
  return least;
}


static void stopsignals (Timer *t) {
  if (t->posix) timer_delete(t->timer);
  t->posix = 0;
  if (hasperf(t)) {
    ioctl(t->fd, PERF_EVENT_IOC_DISABLE, 0);
    close(t->fd);
  }
  t->fd = -1;
}

/* }===================================================================== */


static int isblocked (void) {
  sigset_t set;
  return pthread_sigmask(SIG_SETMASK, NULL, &set) == 0 &&
         sigismember(&set, SIGNAL);
}


/* What the clock says beyond the time when a signal was due, in periods. */
static uint64_t missed (const Timer *t) {
  uint64_t now = read_(t->outside);
  uint64_t due = t->start + t->counted * t->period;
  if (due < t->quiet) due = t->quiet;
  due += (t->period << t->stretch) + LATEST;
  return (now > due) ? (now - due) / t->period : 0;
}


/* A timer that does not run, of the list or a new one in it. */
static Timer *newtimer (void) {
  Timer *t;
  for (t = all; t != NULL; t = t->next)
    if (!t->running) return t;
  t = calloc(1, sizeof(*t));
  if (t == NULL) return NULL;
  t->fd = t->lastfd = -1;
  t->next = all;
  __atomic_store_n(&all, t, __ATOMIC_RELEASE);
  return t;
}


Timer *timer_start (uint64_t ns, TimerClock clock, TimerTick *f, void *ud,
                    char *err, size_t errsize) {
  static unsigned threads;
  Timer *t;
  if (isblocked()) {
    errno = EINVAL;
    snprintf(err, errsize, "cannot sample time: SIGURG is blocked in this "
             "thread; unblock it (pthread_sigmask)");
    return NULL;
  }
  pthread_mutex_lock(&lock);
  if (me == 0) me = ++threads;
  t = newtimer();
  if (t != NULL) {
    t->thread = me;
    t->clock = (clock == TIMER_WALL) ? CLOCK_MONOTONIC
                                     : CLOCK_THREAD_CPUTIME_ID;
    t->outside = t->clock;
    if (clock != TIMER_WALL) pthread_getcpuclockid(pthread_self(), &t->outside);
    t->period = ns;
    t->counted = t->quiet = t->signalcost = t->cost = t->owed = 0;
    t->stretch = t->easy = 0;
    t->f = NULL;
    t->ud = ud;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    t->running = 1;
    install();
    if (startsignals(t, clock, err, errsize)) nrunning++;
    else {
      t->running = 0;
      stopsignals(t);
      if (nrunning == 0) uninstall();
      t = NULL;
    }
  }
  else snprintf(err, errsize, "cannot sample time: not enough memory");
  pthread_mutex_unlock(&lock);
  if (t == NULL) return NULL;
  if (clock != TIMER_CPU && ns < BRIEF) t->signalcost = measure(t);
  t->start = t->last = read_(t->clock);
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  t->f = f;
  return t;
}


uint64_t timer_stop (Timer *t) {
  uint64_t n;
  pthread_mutex_lock(&lock);
  t->running = 0;  /* before its descriptor may be another's (setinterval) */
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  stopsignals(t);
  if (--nrunning == 0) uninstall();
  while (t->thread != me && __atomic_load_n(&t->ticking, __ATOMIC_ACQUIRE))
    sched_yield();  /* handlers do not take the lock */
  n = missed(t);
  pthread_mutex_unlock(&lock);
  return n;
}


int timer_mine (const Timer *t) {
  return t->thread == me;
}


void timer_cost (Timer *t, uint64_t ns) {
  __atomic_add_fetch(&t->cost, ns, __ATOMIC_RELAXED);
}


void timer_forked (Timer *t) {
  pthread_mutex_init(&lock, NULL);
  t->running = 0;
  if (hasperf(t)) close(t->fd);
  t->fd = -1;
  t->posix = 0;
  if (--nrunning == 0) uninstall();
}
