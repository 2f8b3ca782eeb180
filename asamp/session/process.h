/* SPDX-License-Identifier: MIT */
/*
** The profile of a process: one file, one writer's thread, one timer for each OS thread
** whose time is sampled, whatever the number of Lua states. What is to be done is told
** once (the variable ASAMP), before the first state; each state joins when it is made
** (sampler_attach).
**
** The file is opened when the first state is made: a program that makes none leaves
** nothing. The folder it goes to is opened before, when the library is loaded, so that
** chroot does not matter. The child of a fork opens one of its own when it first
** samples, so that one that becomes another program leaves nothing either.
**   PR1  'profile' is of this process ('pid'), or NULL; it changes under 'lock' only,
**        and is read without it;
**   PR2  a file that could not be opened is reported once. It is tried again by process_switch,
**        and every second if the reason may pass, such as a full disk; states are idle meanwhile.
*/
#ifndef asamp_process_h
#define asamp_process_h

#include <sys/stat.h>

#include "sampler.h"

/* A pattern's %p (process), %n (which profile of the process: 1), %t (start, UTC), %h
   (host) and %% written out; the caller frees it. NULL: no memory. */
char *process_path (const char *pattern, unsigned long pid, unsigned number,
                    uint64_t epoch);

/*
** What all states do that are made from here on; copied. 'out' of the options is a
** pattern, or NULL: PROGRAM.%p.vmprof in the working folder. Once. Returns 1, or 0: 'err'
** says why in one line. Without anything to sample it waits to be asked (process_switch).
*/
int process_setup (const SamplerShared *with, char *err, size_t errsize);

/* 'begin' is called in the child of a fork when a state that was made before it first
   collects there. */
void process_controlled (void (*begin) (void));

/* A new state joins. Nothing without a set-up. */
void process_join (lua_State *L);

/* What a recording samples. */
typedef struct ProcessRate {
  uint64_t period;	/* bytes; 0: no allocations */
  uint64_t timens;	/* 0: no time */
  uint64_t most;	/* samples of allocation a second and state; 0: no bound */
} ProcessRate;

/*
** Has the process go on in another file: 'to', or, if that is NULL, the next number of the
** pattern. 'rate': what is sampled from here on, NULL: as before. Each state changes over at
** its next sample or collection; then the old file ends. 'temporary': process_stop goes back
** to the set-up. One thread at a time, not from a callback of a state. 0: 'err' says why, and
** nothing has changed.
*/
int process_switch (const char *to, const ProcessRate *rate, int temporary, char *err,
                    size_t errsize);
/* Ends a temporary one: back to what the set-up asks for, which may be nothing. 0: 'err' says
   why; if there was one it has ended, and the set-up's file could not be made, as of PR2. */
int process_stop (char *err, size_t errsize);

/* Writes what the flight recorder keeps: profile_dump. 'to' NULL: by the pattern. */
int process_dump (const char *to, char *path, size_t pathsize, char *err, size_t errsize);
int process_isring (void);

typedef struct ProcessStats {
  const char *path;	/* NULL: nothing is written */
  int isgone;		/* that file was removed, or has another name */
  int failed;		/* because its file could not be made */
  int temporary;
  int isring;		/* nothing is at 'path' until it is asked for */
  uint64_t period, timens, bytes;  /* bytes of the file */
  int error;
  SharedTotals sum;	/* of all profiles of the process */
  SharedHeaps heaps;
  uint64_t rss;		/* bytes, of the process */
} ProcessStats;

void process_stats (ProcessStats *s);
/* A marker. 0: nothing is written, or there is no state. */
int process_mark (const char *name, const char *value);
/* The bytes of the file that is written now; 0: none is. */
uint64_t process_size (void);

/* Which file a profile of the pattern is, by its whole path, wherever the process has its root
   since; 0: there is none. And removes it, unless another has that name now. */
int process_identify (const char *whole, struct stat *id);
void process_remove (const char *whole, const struct stat *id);

#endif
