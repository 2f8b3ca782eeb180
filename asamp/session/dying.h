/* SPDX-License-Identifier: MIT */
/*
** Finishes profiles before an unhandled signal ends the process: SIGTERM, which stops services;
** SIGHUP, SIGINT and SIGQUIT, with which a terminal ends its programs; SIGPIPE, when nobody
** reads the output any more; and SIGABRT, which follows an uncaught error (lua.h: panic), a
** failed assertion, or a broken malloc heap. The registered functions run first; then the
** process dies of the signal as it would have.
**
**   DY1  a handler of the program, or an ignored signal, is never changed: our handler only
**        replaces the default action;
**   DY2  process 1, the first one of a container, does not die of any of them, because the
**        system ignores signals that it does not handle. So there SIGHUP, SIGQUIT and SIGPIPE,
**        which a server receives for every broken connection, finish nothing. SIGTERM and
**        SIGINT do, although the process continues: whoever stops a container kills it next;
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
** signal. It may be called in a handler that interrupted anything.
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
** Claims the finishing of profiles for the caller, which then does it and calls dying_done.
** Returns 0 if another caller has claimed it; that one has finished when this returns, unless
** it is this very thread, interrupted in the middle.
*/
int dying_start (void);
void dying_done (void);

/* Returns 1 if finishing was claimed in this process. */
int dying_hasbegun (void);

#endif
