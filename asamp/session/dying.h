/* SPDX-License-Identifier: MIT */
/*
** Finishes profiles before a signal that the program does not handle ends the process:
**   - SIGTERM, which stops services
**   - SIGHUP, SIGINT and SIGQUIT, with which a terminal ends its programs
**   - SIGPIPE, which comes when nobody reads the output any more
**   - SIGABRT, after an uncaught error (lua.h: panic), a failed assertion, or a broken malloc heap
** The registered functions run first. Then the process dies of the signal as it would without them.
** Exception: if the signal interrupted the thread that was between dying_start and dying_done, the
** interrupted code continues.
**
**   DY1  a handler of the program, or an ignored signal, is never changed, because our handler
**        replaces only the default action;
**   DY2  process 1, the first one of a container, does not die of any of these signals, because the
**        system ignores the signals that it does not handle. So in process 1 SIGHUP, SIGQUIT and
**        SIGPIPE (which a server receives for every broken connection) finish nothing. SIGTERM,
**        SIGINT and SIGABRT finish the profiles, although the process may continue, because the
**        program that stops a container kills it next;
**   DY3  between dying_hold and dying_release a thread makes a file that the registered functions
**        must find. A signal that arrives in this time is handled after dying_release; on a thread
**        other than the holder, after 10 s at the latest.
*/
#ifndef asamp_dying_h
#define asamp_dying_h

#include <signal.h>

/*
** Identifies one of the two registered functions. The function of DYING_ATONCE runs first and never
** blocks. The function of DYING_THEN runs second and may wait for other threads.
*/
typedef enum DyingWhen { DYING_ATONCE, DYING_THEN } DyingWhen;

/*
** Registers 'finish' as the function of 'when', and installs the handlers. 'finish' is called
** before the process dies of a signal, in a handler that may have interrupted any code.
*/
void dying_watch (DyingWhen when, void (*finish) (void));

/*
** Starts a hold of this thread: delays the handling of all signals listed in the head until
** dying_release (DY3). Stores the thread's signal mask in *before. A thread must not have two holds
** at a time.
*/
void dying_hold (sigset_t *before);
/* Ends the hold of this thread. 'before' is the mask from dying_hold. */
void dying_release (const sigset_t *before);
/* In the child of a fork: clears the number of holds. The threads that had holds do not exist in
   the child. */
void dying_forked (void);

/*
** Claims the finishing of profiles for this thread. First waits at most 10 s for holds (dying_hold)
** to end. Only the first call in a process gets the claim and returns 1; its caller must finish the
** profiles and then call dying_done. Any other call returns 0, after a wait of at most 10 s for
** dying_done if another thread has the claim.
*/
int dying_start (void);
void dying_done (void);

/* Returns 1 if the finishing of profiles was claimed in this process, whether it is done or
   not. */
int dying_hasbegun (void);

#endif
