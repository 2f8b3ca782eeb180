/* SPDX-License-Identifier: MIT */
/*
** Finishes profiles before SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGPIPE or SIGABRT ends the process.
** The signal handler calls two registered functions; then the process dies of the signal.
**
**   DY1  a handler of the program, or an ignored signal, is never changed;
**   DY2  process 1 of a container does not die of unhandled signals. There, SIGHUP, SIGQUIT and
**        SIGPIPE finish nothing. SIGTERM, SIGINT and SIGABRT do, because the container is killed
**        next;
**   DY3  a thread makes the file of a profile between dying_hold and dying_release, because the
**        registered functions must find the file. In between, these signals are blocked on this
**        thread, and a handler on another thread waits, but at most 10 s.
*/
#ifndef asamp_dying_h
#define asamp_dying_h

#include <signal.h>

/* Selects one of the two registered functions. The function DYING_ATONCE runs first and must not
   block. The function DYING_THEN runs second and may wait for other threads. */
typedef enum DyingWhen { DYING_ATONCE, DYING_THEN } DyingWhen;

/* Registers 'finish', and installs a handler of SIGTERM and the other signals listed at the top of
   this file, except the signals that the program handles or ignores. The handler calls 'finish',
   which must be safe to call after a signal has interrupted any code. */
void dying_watch (DyingWhen when, void (*finish) (void));

/* Call it before a thread creates the file of a profile, and dying_release afterwards. Blocks
   SIGTERM and the other signals of dying_watch on this thread. Until dying_release is called,
   handlers of these signals on other threads wait (DY3). Stores the thread's previous signal mask
   in *before. */
void dying_hold (sigset_t *before);
/* Unblocks the signals that dying_hold has blocked. *before: the signal mask that dying_hold has
   stored. */
void dying_release (const sigset_t *before);
/* Call it in a forked child: resets the count of threads between dying_hold and dying_release,
   because these threads do not exist in the child. */
void dying_forked (void);

/* Decides which thread finishes the profiles. First waits until no thread is between dying_hold and
   dying_release. The first call in a process returns 1; its caller must finish the profiles and
   call dying_done. Each later call returns 0; on another thread than the first call, it first waits
   until dying_done was called. Each wait lasts at most 10 s. */
int dying_start (void);
void dying_done (void);

/* Sleeps for 1 ms. Async-signal-safe. */
void dying_nap (void);

/* Returns 1 if this process has called dying_start, so its profiles are finished or being
   finished. */
int dying_hasbegun (void);

#endif
