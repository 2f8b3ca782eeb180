/* SPDX-License-Identifier: MIT */
/*
** The list of files and the handlers that remove them. See temporary.h.
*/
#include "temporary.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NSIGNALS = 3 };
static const int SIGNALS[NSIGNALS] = {SIGINT, SIGTERM, SIGHUP};

static Temporary *first;
static int set[NSIGNALS];  /* 1: the handler is ours */

/* The signal is blocked here: it ends the process when this has returned. */
static void ended (int sig) {
  const Temporary *t;
  for (t = first; t != NULL; t = t->next)
    unlink(t->name);
  signal(sig, SIG_DFL);
  raise(sig);
}

static void block (sigset_t *before) {
  sigset_t all;
  int i;
  sigemptyset(&all);
  for (i = 0; i < NSIGNALS; i++)
    sigaddset(&all, SIGNALS[i]);
  sigprocmask(SIG_BLOCK, &all, before);
}

static void sethandlers (void) {
  struct sigaction handler, now;
  int i;
  memset(&handler, 0, sizeof(handler));
  handler.sa_handler = ended;
  for (i = 0; i < NSIGNALS; i++) {
    sigaddset(&handler.sa_mask, SIGNALS[i]);
    sigaction(SIGNALS[i], NULL, &now);
    set[i] = now.sa_handler == SIG_DFL;
  }
  for (i = 0; i < NSIGNALS; i++) {
    if (set[i])
      sigaction(SIGNALS[i], &handler, NULL);
  }
}

/* Unless somebody else has set another one meanwhile. */
static void takehandlers (void) {
  struct sigaction now;
  int i;
  for (i = 0; i < NSIGNALS; i++) {
    if (set[i] && sigaction(SIGNALS[i], NULL, &now) == 0 &&
        now.sa_handler == ended)
      signal(SIGNALS[i], SIG_DFL);
  }
}

int temporary_begin (Temporary *t, const char *path) {
  size_t n = strlen(path) + 32;
  sigset_t before;
  t->name = malloc(n);
  if (t->name == NULL)
    return 0;
  snprintf(t->name, n, "%s.%ld.tmp", path, (long)getpid());
  block(&before);
  if (first == NULL)
    sethandlers();
  t->next = first;
  first = t;
  sigprocmask(SIG_SETMASK, &before, NULL);
  return 1;
}

int temporary_end (Temporary *t, const char *path) {
  Temporary **at = &first;
  sigset_t before;
  int error = 0;
  if (t->name == NULL)
    return 0;
  block(&before);
  if (path != NULL && rename(t->name, path) != 0)
    error = errno;
  if (path == NULL || error != 0)
    unlink(t->name);
  while (*at != t)
    at = &(*at)->next;
  *at = t->next;
  if (first == NULL)
    takehandlers();
  sigprocmask(SIG_SETMASK, &before, NULL);
  free(t->name);
  t->name = NULL;
  return error;
}
