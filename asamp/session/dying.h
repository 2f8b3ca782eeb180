/* SPDX-License-Identifier: MIT */
/*
** Finishes profiles before SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGPIPE or SIGABRT ends the process.
** Two registered functions run in the signal handler; then the process dies of the signal.
**
**   DY1  a handler of the program, or an ignored signal, is never changed;
**   DY2  process 1 of a container does not die of unhandled signals. There, SIGHUP, SIGQUIT and
**        SIGPIPE finish nothing. SIGTERM, SIGINT and SIGABRT do, because the container is killed
**        next;
**   DY3  between dying_hold and dying_release, a thread makes a file that the registered functions
**        must find. Signals are handled after dying_release; a handler on another thread waits for
**        it, but at most 10 s.
*/
#ifndef asamp_dying_h
#define asamp_dying_h

#include <signal.h>

/* Selects one of the two registered functions. The function DYING_ATONCE runs first and must not
   block; the function DYING_THEN may wait for other threads. */
typedef enum DyingWhen { DYING_ATONCE, DYING_THEN } DyingWhen;

/* Registers 'finish', which must be able to run in a signal handler that interrupted any code,
   and installs the handlers. */
void dying_watch (DyingWhen when, void (*finish) (void));

/* Delays the signals of dying.h until dying_release. Stores the thread's signal mask in *before.
   Not recursive. */
void dying_hold (sigset_t *before);
/* Ends the delay of signals that dying_hold has started. *before: the mask that it has stored. */
void dying_release (const sigset_t *before);
/* Forgets every dying_hold, in a forked child: the other threads do not exist there. */
void dying_forked (void);

/* Decides which thread finishes the profiles. First waits, at most 10 s, until no thread is between
   dying_hold and dying_release. The first call in a process returns 1: finish the profiles and call
   dying_done. Other calls wait for dying_done, at most 10 s, and return 0. */
int dying_start (void);
void dying_done (void);

/* Sleeps for 1 ms. Async-signal-safe. */
void dying_nap (void);

/* Returns 1 if this process is finishing or has finished its profiles (dying_start). */
int dying_hasbegun (void);

#endif
