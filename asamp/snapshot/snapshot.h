/* SPDX-License-Identifier: MIT */
/*
** Snapshots of a state's heap: creation of the file, and the child process that writes it.
**
** Invariants:
**   SN1  the program waits only for the fork, except when no fork is possible, when the caller
**        requests waiting, or when 16 snapshots are already being written;
**   SN2  the child's end sends no signal to the parent (SIGCHLD), and wait() does not find the
**        child. The child keeps no descriptor of the program open except the file, and runs
**        none of the program's code;
**   SN3  the child calls neither malloc nor the Lua API: another thread of the program may have
**        been inside either at the fork. Its memory is allocated before the fork or with mmap;
**   SN4  a file that could not be completed is removed. A locked file is a file that is still
**        being written;
**   SN5  a snapshot with a time limit is refused if memory is short, and its child is the first
**        process that a system without memory ends.
*/
#ifndef asamp_snapshot_h
#define asamp_snapshot_h

#include "lua.h"

#include <stdint.h>
#include <sys/types.h>

typedef struct SnapshotWish {
  const char *path;
  int replace;		/* what to do if the path exists: PLACE_NONE, ... of place.h */
  int option;		/* 1: the caller has an option 'overwrite', which the error message
			   may name */
  int wait;		/* 1: return only after the file is complete */
  int inprocess;	/* 1: write the file in this process, without a child */
  unsigned seconds;	/* time limit of the child; the file of a longer snapshot is removed.
			   0: none */
  const char *command;	/* the command line, stored in the file as information; may be NULL */
} SnapshotWish;

typedef struct Snapshot {
  char *path;		/* path of the file; the caller frees it */
  int forked;		/* 1: a child process has written the file, or is writing it */
  int refused;		/* errno of a failed fork; 0: no fork failed */
  pid_t child;		/* the child that is still writing; 0: the file is complete */
  uint64_t stopped;	/* ns that the program has waited */
} Snapshot;

/*
** Writes a snapshot of L's heap. Returns 0 on failure: 'err' (a buffer of 'size' bytes) then
** has the reason in one line, and errno is set.
*/
int snapshot_take (lua_State *L, const SnapshotWish *wish, Snapshot *s, char *err,
                   size_t size);

#endif
