/* SPDX-License-Identifier: MIT */
/*
** Writes snapshots of a state's heap: forks a child, which walks its copy of the heap (dump.h) and
** writes the file, compressed.
**
**   SN1  the program waits only for the fork, unless the fork fails, the caller requests 'wait' or
**        'inprocess', or 16 children are writing;
**   SN2  the program does not notice the child (quietfork.h). The child runs none of the program's
**        code, and closes all descriptors but 0, 1, 2 and the snapshot's;
**   SN3  the child calls neither malloc nor Lua except luaN_walk, because another thread may have
**        held their locks at the fork. Its memory is allocated before the fork, or mapped;
**   SN4  the final file is locked until it is replaced. A failed snapshot changes no existing file.
**        The child removes its files and reports the failure; for a killed child, snapshot_take or
**        snapshot_check does this;
**   SN5  a snapshot with a time limit is refused if memory is short; when memory runs out, its
**        child is the first process to be killed.
*/
#ifndef asamp_snapshot_h
#define asamp_snapshot_h

#include "lua.h"

#include <stdint.h>
#include <sys/types.h>

/* Arguments of snapshot_take. */
typedef struct SnapshotWish {
  const char *path;
  /* Existing files that may be replaced: PLACE_NONE, PLACE_PROFILES or PLACE_ALL. */
  int replace;
  int option;		/* 1: error messages may advise the option 'overwrite' */
  int wait;		/* 1: wait until the file is complete */
  int inprocess;	/* 1: this process writes the file, without a child */
  unsigned seconds;	/* time limit, s; 0: none */
  const char *command;	/* the program's command line, stored in the file; may be NULL */
  /* Called with the reason if the child fails after snapshot_take has returned; may be NULL. Called
     by the next snapshot_take, by snapshot_check, or at exit, on any thread. */
  void (*failed) (const char *why);
} SnapshotWish;

/* Result of snapshot_take. */
typedef struct Snapshot {
  char *path;		/* the caller frees it */
  int forked;		/* 1: a child writes the file */
  int refused;		/* errno of a failed fork, or 0 */
  pid_t child;		/* child that is still writing the file; 0: the file is complete */
  uint64_t stopped;	/* time for which the program was stopped, ns */
} Snapshot;

/* Writes a snapshot of L's heap. Call it on the thread that runs L, where luaN_walk may be called.
   Returns 1 if the file is complete or a child is writing it. Returns 0 with errno and a reason in
   'err' on failure. */
int snapshot_take (lua_State *L, const SnapshotWish *wish, Snapshot *s, char *err,
                   size_t size);

/* Removes the files of children that a signal has killed, and reports this on stderr. Calls
   SnapshotWish.failed for each child that has failed. Called at the next snapshot, at the end of a
   session, at exit, and once a second by the control thread. */
void snapshot_check (void);

#endif
