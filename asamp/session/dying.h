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
**        SIGINT do, although the process continues: whoever stops a container kills it next.
*/
#ifndef asamp_dying_h
#define asamp_dying_h

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
** Claims the finishing of profiles for the caller, which then does it and calls dying_done.
** Returns 0 if another caller has claimed it; that one has finished when this returns, unless
** it is this very thread, interrupted in the middle.
*/
int dying_begin (void);
void dying_done (void);

/* Returns 1 if finishing was claimed in this process. */
int dying_hasbegun (void);

#endif
