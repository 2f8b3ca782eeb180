/* SPDX-License-Identifier: MIT */
/*
** Snapshots of a state's heap: the file, and the child process that writes it.
**
** Invariants:
**   SN1  the program waits for the fork alone, unless there is none, it asks to, or 16
**        snapshots are being written;
**   SN2  the child ends without a signal to its parent (SIGCHLD), is no child that
**        wait() finds, holds none of the program's descriptors open but the file, and
**        runs none of the program's code;
**   SN3  it calls neither malloc nor the Lua API: another thread of the program may
**        have been in the midst of either when it began. What it needs is made before,
**        or comes from mmap;
**   SN4  a file that could not be finished is removed; who finds a file locked finds one
**        that is being written.
*/
#ifndef asamp_snapshot_h
#define asamp_snapshot_h

#include "lua.h"

#include <stdint.h>
#include <sys/types.h>

typedef struct SnapshotWish {
  const char *path;
  int replace;		/* PLACE_NONE, ... of place.h */
  int option;		/* who asks has the option overwrite */
  int wait;		/* until it is written */
  int inprocess;	/* no child */
  const char *command;	/* for people; may be NULL */
} SnapshotWish;

typedef struct Snapshot {
  char *path;		/* of the file; the caller's to free */
  int forked;		/* a child has written it, or still does */
  int refused;		/* errno of a fork that failed, or 0 */
  pid_t child;		/* that still does; 0: it is written */
  uint64_t stopped;	/* nanoseconds that the program has waited */
} Snapshot;

/* 0: 'err' says in a line why there is none, errno what. */
int snapshot_take (lua_State *L, const SnapshotWish *wish, Snapshot *s, char *err,
                   size_t size);

#endif
