/* SPDX-License-Identifier: MIT */
/*
** The control thread of a process: answers requests at a Unix socket (asamp stats, asamp record
** ...), and continues the profile in another file when the file is too large or old. The thread
** runs no Lua code, and exists only if an option requires it.
**
** A request is a line of words; the last word may contain spaces (requests.h). The last line of an
** answer is "ok" or "error <reason>".
**
**   CN1  the socket has mode 0600, in a folder to which only this user may write. The default
**        folder is created with mode 0700 if missing; a folder that the user named must exist;
**   CN2  a client must run as this user or as root;
**   CN3  the thread never blocks on a client. A client is disconnected after 5 s of silence. If too
**        many are connected, the one that was silent for longest is disconnected. If few
**        descriptors are left, a new client is rejected;
**   CN4  only a socket at which no process listens, or this process's own, is replaced;
**   CN5  a forked child closes its copies of the descriptors;
**   CN6  a client may wait for a snapshot without a limit of time. If the client disconnects, the
**        snapshot is cancelled;
**   CN7  a descriptor that the program has closed or reused is not used; the socket is created
**        again within a second;
**   CN8  after a failure of poll or accept, the thread waits before it calls the function again, to
**        save CPU time;
**   CN9  a request for a mark, a recording or a snapshot is ignored if the client has disconnected
**        before the request was read: the process may have been stopped, and the client has
**        reported a failure.
*/
#ifndef asamp_control_h
#define asamp_control_h

#include <stddef.h>
#include <stdint.h>

typedef struct ControlOptions {
  /* Pattern of the socket's path (process_path); "": the default; NULL: no socket. */
  char *listen;
  uint64_t rotate;	/* ns after which the profile continues in another file; 0: never */
  /* Number of files of the profile that are kept (keptfiles.h); older ones are removed. 0: all. */
  uint64_t keep;
  /* Size of a file, in bytes, above which the profile continues in another file; 0: no limit. */
  uint64_t most;
} ControlOptions;

/* Stores the options and takes over the string 'listen'. Call it once, before control_ensure. */
void control_setup (const ControlOptions *o);

/* Starts the control thread if an option requires it. Tries this once in each process; a forked
   child is another process. Prints a message on failure. Thread-safe; fast if there is nothing to
   do. */
void control_ensure (void);

#endif
