/* SPDX-License-Identifier: MIT */
/*
** Finishes profiles before an unhandled signal ends the process: SIGTERM, which stops services;
** SIGHUP, SIGINT and SIGQUIT, with which a terminal ends its programs; SIGPIPE, when nobody
** reads the output any more; and SIGABRT, which follows an uncaught error (lua.h: panic), a
** failed assertion, or a broken malloc heap. The registered functions run first; then the
** process dies of the signal as it would without them. Exception: after a signal that interrupts
** dying_start to dying_done on their own thread, that code continues.
**
**   DY1  a handler of the program, or an ignored signal, is never changed: our handler only
**        replaces the default action;
**   DY2  process 1, the first one of a container, does not die of any of these signals, because
**        the system ignores those that process 1 does not handle. So there SIGHUP, SIGQUIT and
**        SIGPIPE (which a server receives for every broken connection) finish nothing. SIGTERM,
**        SIGINT and SIGABRT finish the profiles, although the process may continue: whoever stops
**        a container kills it next;
**   DY3  between dying_hold and dying_release a file is made that the registered functions must
**        find: we handle a signal that arrives then after dying_release; on an OS thread other
**        than the holder's, after 10 s at the latest.
*/
#ifndef asamp_dying_h
#define asamp_dying_h

#include <signal.h>

/*
** Order of the functions: that of DYING_ATONCE, which never blocks, runs before that of
** DYING_THEN, which may wait for other threads.
*/
typedef enum DyingWhen { DYING_ATONCE, DYING_THEN } DyingWhen;

/*
** Registers 'finish' as the function of 'when', to be called before the process dies of a signal,
** and installs the handlers. 'finish' runs in a handler that may have interrupted any code.
*/
void dying_watch (DyingWhen when, void (*finish) (void));

/*
** Delays the handling of these signals until dying_release (DY3). Stores the signal mask of this
** thread in *before. Holds do not nest in one thread.
*/
void dying_hold (sigset_t *before);
/* Ends the hold of this thread; 'before' from dying_hold. */
void dying_release (const sigset_t *before);
/* In the child of a fork: drops the holds of the threads that the child does not have. */
void dying_forked (void);

/*
** Waits for holds, at most 10 s, then claims the finishing of profiles: returns 1, and the caller
** finishes them and calls dying_done. If another thread has claimed it, waits until that thread has
** finished, at most 10 s, and returns 0. Returns 0 without that wait if this thread has claimed it.
*/
int dying_start (void);
void dying_done (void);

/* Returns 1 if finishing was claimed in this process, also if it is done. */
int dying_hasbegun (void);

#endif
