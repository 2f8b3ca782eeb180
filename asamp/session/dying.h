/* SPDX-License-Identifier: MIT */
/*
** Signals that end the process although nobody has handled them: SIGTERM, by which services
** are stopped, SIGHUP, SIGINT and SIGQUIT, by which a terminal ends what runs in it, SIGPIPE, by
** which it ends when nobody reads its output any more, and SIGABRT, which is how an error that
** nobody catches ends it (lua.h: panic), a failed assertion, a broken heap of malloc's. What is
** to be finished is finished first; then the process dies of the signal as it would have.
**   DY1  a handler of the program's, or that it ignores the signal, is never touched: ours
**        is there only in the place of the system's own doing;
**   DY2  process 1, a container's first, dies of none of them, for the system passes over those
**        that it does not handle. So nothing is finished there of SIGHUP, SIGQUIT and SIGPIPE,
**        which a server gets for every broken connection. Of SIGTERM and SIGINT it is, though
**        the process goes on: who stops a container kills it next.
*/
#ifndef asamp_dying_h
#define asamp_dying_h

/* What takes no time comes before what may have to wait for other threads. */
typedef enum DyingWhen { DYING_ATONCE, DYING_THEN } DyingWhen;

/* Has 'finish' called before the process dies of a signal, one function for each 'when'. It may
   be called in a handler that has interrupted anything. */
void dying_watch (DyingWhen when, void (*finish) (void));

/* Claims what 'finish' does for the caller, who does it then. 0: another has claimed it, and
   has ended when this returns, unless it is this very thread, interrupted in its midst. */
int dying_begin (void);
void dying_done (void);

/* Has anybody in this process? */
int dying_hasbegun (void);

#endif
