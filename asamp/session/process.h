/* SPDX-License-Identifier: MIT */
/*
** The profile of a process: one file, one writer thread, and one timer per OS thread whose time
** is sampled, whatever the number of Lua states. The set-up comes once, before the first state
** (from the variable ASAMP); each state is attached when it is made (sampler_attach). sampler.h
** explains how profile, sampler and process are related.
**
** The file is opened when the first state is made, so that a program that makes none leaves no
** file. Its folder is opened earlier, at the set-up, so that a later chroot has no effect.
** The child of a fork opens its own file when it first samples, so that a child that calls exec
** leaves no file either.
**
**   PR1  'profile' belongs to this process ('pid'), or is NULL; it is changed with 'lock' held
**        and read without it;
**   PR2  a file that could not be opened is reported once. process_switch tries again; if the
**        cause may pass, such as a full disk, so do states, once a second, and are idle meanwhile.
*/
#ifndef asamp_process_h
#define asamp_process_h

#include <sys/stat.h>

#include "sampler.h"

/*
** Expands a pattern: %p (process id), %n (number of the profile within the process: 1), %t
** (start, UTC), %h (host) and %%. The caller frees the result. Returns NULL if there is not
** enough memory.
*/
char *process_path (const char *pattern, unsigned long pid, unsigned number,
                    uint64_t epoch);

/*
** Sets up the profiling of all states made from now on; copies *with. 'out' of the options is a
** pattern, or NULL: PROGRAM.%p.vmprof in the working folder. May be called once. Returns 1; or
** 0 with one line in 'err'. If nothing is to be sampled, profiling starts with process_switch.
*/
int process_setup (const SamplerShared *with, char *err, size_t errsize);

/*
** Sets a function that is called once in the child of a fork: after the first collection of a
** state there.
*/
void process_controlled (void (*start) (void));

/* Attaches a new state. Does nothing without a set-up. */
void process_join (lua_State *L);

/* The sampling rates of a recording. */
typedef struct ProcessRate {
  uint64_t period;	/* bytes between allocation samples; 0: none */
  uint64_t timens;	/* ns between time samples; 0: none */
  uint64_t most;	/* samples of allocation a second and state; 0: no bound */
} ProcessRate;

/*
** Switches the process to another file: 'to', or the next number of the pattern if 'to' is
** NULL. 'rate': the new rates; NULL: unchanged. The old file ends at once; each state switches at
** its next sample or collection. 'temporary': process_stop returns to the set-up. Not thread-safe;
** not to be called from a callback of a state. On failure returns 0 with the reason in 'err', and
** nothing has changed.
*/
int process_switch (const char *to, const ProcessRate *rate, int temporary, char *err,
                    size_t errsize);
/*
** Ends a temporary recording and returns to the set-up, which may sample nothing. Returns 0 with
** the reason in 'err' if there is no such recording; or if it has ended, but the set-up's file
** could not be made: then process_switch tries again, and so do the states, each second, if the
** cause may pass.
*/
int process_stop (char *err, size_t errsize);

/*
** Writes the content of the flight recorder, as profile_dump. 'to' NULL: a file by the pattern.
*/
int process_dump (const char *to, char *path, size_t pathsize, char *err, size_t errsize);
int process_isring (void);

/* State of the process's profile. */
typedef struct ProcessStats {
  const char *path;	/* NULL: no file is being written */
  int isgone;		/* 1: the file was removed or renamed */
  int failed;		/* 1: no file, because it could not be made */
  int temporary;
  int isring;		/* 1: a flight recorder, which writes 'path' only on request */
  uint64_t period, timens, bytes;  /* current rates (0: off); bytes of the file */
  int error;
  SharedTotals sum;	/* sums over all profiles of the process */
  SharedHeaps heaps;
  uint64_t rss;		/* resident bytes of the process */
} ProcessStats;

void process_stats (ProcessStats *s);
/* Adds a marker to the profile. Returns 0 if there is no file or no state. */
int process_mark (const char *name, const char *value);
/* Returns the size of the current file in bytes; 0: none. */
uint64_t process_size (void);

/*
** process_identify determines the file with the path 'whole', made from the pattern, even if the
** process has changed its root since; returns 0 if there is none. process_remove removes the file
** with that path, unless it is another file than 'id'.
*/
int process_identify (const char *whole, struct stat *id);
void process_remove (const char *whole, const struct stat *id);

#endif
