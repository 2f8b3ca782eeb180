/* SPDX-License-Identifier: MIT */
/*
** Finishes profiles before an unhandled signal ends the process: SIGTERM, which stops services;
** SIGHUP, SIGINT and SIGQUIT, with which a terminal ends its programs; SIGPIPE, when nobody
** reads the output any more; and SIGABRT, which follows an uncaught error (lua.h: panic), a
** failed assertion, or a broken malloc heap. The registered functions run first; then the
** process dies of the signal as it would without them.
**
**   DY1  a handler of the program, or an ignored signal, is never changed: our handler only
**        replaces the default action;
**   DY2  process 1, the first one of a container, does not die of any of these signals, because
**        the system ignores those that process 1 does not handle. So there SIGHUP, SIGQUIT and
**        SIGPIPE (which a server receives for every broken connection) finish nothing. SIGTERM,
**        SIGINT and SIGABRT do, although the process may continue: whoever stops a container
**        kills it next;
**   DY3  between dying_hold and dying_release a file is made that the registered functions must
**        find: a signal that arrives then, on any OS thread, is handled after dying_release.
*/
#ifndef asamp_dying_h
#define asamp_dying_h

#include <signal.h>

/*
** Order of the functions: those that never block run before those that may wait for other
** threads.
*/
typedef enum DyingWhen { DYING_ATONCE, DYING_THEN } DyingWhen;

/*
** Registers 'finish', one function for each 'when', to be called before the process dies of a
** signal. 'finish' is called in a signal handler that may have interrupted anything.
*/
void dying_watch (DyingWhen when, void (*finish) (void));

/*
** Delays the handling of these signals until dying_release (DY3). Call dying_watch before.
** '*before' receives the signal mask of this thread. Holds do not nest in one thread. The child of
** a fork, which has only the thread that forked, calls dying_forked.
*/
void dying_hold (sigset_t *before);
void dying_release (const sigset_t *before);
void dying_forked (void);

/*
** Claims the finishing of profiles: returns 1, and the caller finishes them and calls dying_done.
** If it was claimed before, waits until that caller has finished, at most 10 s, and returns 0;
** returns 0 at once if that caller is this very thread, interrupted in the middle.
*/
int dying_start (void);
void dying_done (void);

/* Returns 1 if finishing was claimed in this process. */
int dying_hasbegun (void);

#endif
