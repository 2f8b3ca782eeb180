/* SPDX-License-Identifier: MIT */
/* Finishes profiles before a signal ends the process (dying.h). */
#define _GNU_SOURCE
#include "dying.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <time.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Longest wait, in ms, until no thread is between dying_hold and dying_release, or until another
   thread has finished the profiles. */
#define PATIENCE_MS	10000

static void (*finish[2]) (void);  /* functions set by dying_watch; index: DyingWhen; atomic */
/* Progress of finishing the profiles: 0: no thread has started, 1: a thread finishes them, 2: they
   are finished. Atomic. */
static int ended;
/* The process whose profiles are being finished (atomic), and the OS thread that finishes them. */
static pid_t where, who;
static int holds;		/* number of threads between dying_hold and dying_release; atomic */

/* Signals that are handled in every process. */
static const int STOPS[] = {SIGTERM, SIGINT, SIGABRT};
/* Signals that are handled in every process except process 1 of a container, which these signals do
   not end (DY2). */
static const int OTHERS[] = {SIGHUP, SIGQUIT, SIGPIPE};
#define LENGTH(a)	(sizeof(a) / sizeof(*(a)))

static int ishere (void) {
  return __atomic_load_n(&where, __ATOMIC_RELAXED) == getpid();
}

void dying_nap (void) {
  struct timespec t = {0, 1000000};
  /* Continues to sleep after an interruption, for example by a signal of the sampling timer. */
  while (nanosleep(&t, &t) != 0 && errno == EINTR) {}
}

/* Waits until no thread is between dying_hold and dying_release, but at most PATIENCE_MS. */
static void awaitholds (void) {
  int i;
  for (i = 0; i < PATIENCE_MS && __atomic_load_n(&holds, __ATOMIC_ACQUIRE) > 0; i++) dying_nap();
}

int dying_start (void) {
  int i, none = 0;
  awaitholds();
  /* In the child of a fork, 'ended' still has the parent's value. */
  if (!ishere()) __atomic_store_n(&ended, 0, __ATOMIC_RELAXED);
  if (__atomic_compare_exchange_n(&ended, &none, 1, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
    __atomic_store_n(&where, getpid(), __ATOMIC_RELAXED);
    who = (pid_t)syscall(SYS_gettid);
    return 1;
  }
  for (i = 0; i < PATIENCE_MS && who != (pid_t)syscall(SYS_gettid) &&
              __atomic_load_n(&ended, __ATOMIC_ACQUIRE) == 1; i++)
    dying_nap();
  return 0;
}

void dying_done (void) {
  __atomic_store_n(&ended, 2, __ATOMIC_RELEASE);
}

int dying_hasbegun (void) {
  return __atomic_load_n(&ended, __ATOMIC_ACQUIRE) != 0 && ishere();
}

static void handler (int signal) {
  const int e = errno;
  struct sigaction byitself = {.sa_handler = SIG_DFL};
  void (*f) (void);
  int i;
  awaitholds();
  for (i = 0; i < 2; i++)
    if ((f = __atomic_load_n(&finish[i], __ATOMIC_ACQUIRE)) != NULL) f();
  sigaction(signal, &byitself, NULL);
  /* Raises the signal again, now with its default action, which ends the process. If the signal has
     interrupted exit() on this thread, returns instead: exit() continues and ends the process. */
  if (__atomic_load_n(&ended, __ATOMIC_ACQUIRE) != 1 || who != (pid_t)syscall(SYS_gettid))
    raise(signal);
  errno = e;
}

static void dying_install (int signal) {
  struct sigaction now, ours = {.sa_handler = handler};
  if (sigaction(signal, NULL, &now) != 0 || (now.sa_flags & SA_SIGINFO) ||
      now.sa_handler != SIG_DFL) return;
  sigfillset(&ours.sa_mask);
  ours.sa_flags = SA_RESTART;
  sigaction(signal, &ours, NULL);
}

void dying_watch (DyingWhen when, void (*f) (void)) {
  size_t i;
  __atomic_store_n(&finish[when], f, __ATOMIC_RELEASE);
  for (i = 0; i < LENGTH(STOPS); i++) dying_install(STOPS[i]);
  for (i = 0; i < LENGTH(OTHERS) && getpid() != 1; i++) dying_install(OTHERS[i]);
}

void dying_hold (sigset_t *before) {
  sigset_t ours;
  size_t i;
  sigemptyset(&ours);
  for (i = 0; i < LENGTH(STOPS); i++) sigaddset(&ours, STOPS[i]);
  for (i = 0; i < LENGTH(OTHERS); i++) sigaddset(&ours, OTHERS[i]);
  pthread_sigmask(SIG_BLOCK, &ours, before);
  __atomic_add_fetch(&holds, 1, __ATOMIC_ACQ_REL);
}

void dying_release (const sigset_t *before) {
  __atomic_sub_fetch(&holds, 1, __ATOMIC_ACQ_REL);
  pthread_sigmask(SIG_SETMASK, before, NULL);
}

void dying_forked (void) {
  __atomic_store_n(&holds, 0, __ATOMIC_RELEASE);
}
