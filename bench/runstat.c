/*
** SPDX-License-Identifier: MIT
** Runs a command and writes the time and the memory that it has used, for the benchmarks:
**   runstat [-n COUNT] [-e NAME=VALUE]... RESULT COMMAND [ARGUMENT]...
** With -n, runs it COUNT times, or until a run fails. With -e, adds an environment variable.
**
** Writes one line to the file RESULT: wall, user and system seconds (sums of all runs), peak RSS
** in KiB (the largest of all runs), and the exit status of the last run (127 if COMMAND cannot be
** started). Exit status: 0 if RESULT was written, otherwise 2.
**
** This program must itself use little memory: the peak that the kernel reports for a child is at
** least the resident memory of its parent at the time of fork().
*/
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

typedef struct Usage {
  double wall, user, sys;  /* seconds */
  long rss;                /* KiB */
  /* exit status of the last run; 128 + N if signal N killed it */
  int status;
} Usage;

/* Prints the message and the usage. Returns 2, the exit status of this program. */
static int fail (const char *what, const char *value) {
  fprintf(stderr, "runstat: %s '%s'%s%s; usage: runstat [-n COUNT]"
                  " [-e NAME=VALUE]... RESULT COMMAND [ARGUMENT]...\n",
          what, value, errno ? ": " : "", errno ? strerror(errno) : "");
  return 2;
}

static double seconds (struct timeval t) {
  return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

/* Returns the time of the monotonic clock in seconds. */
static double now (void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/*
** Runs the command once and adds its usage of time and memory to *sum. Returns 0, or -1 with
** errno set.
*/
static int run_once (char **command, Usage *sum) {
  struct rusage used;
  int status;
  double start = now();
  pid_t child = fork();
  if (child < 0) return -1;
  if (child == 0) {
    execvp(command[0], command);
    fprintf(stderr, "runstat: cannot run '%s': %s\n", command[0], strerror(errno));
    _exit(127);
  }
  while (wait4(child, &status, 0, &used) < 0)
    if (errno != EINTR) return -1;
  sum->wall += now() - start;
  sum->user += seconds(used.ru_utime);
  sum->sys += seconds(used.ru_stime);
  if (used.ru_maxrss > sum->rss) sum->rss = used.ru_maxrss;
  sum->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return 0;
}

int main (int argc, char **argv) {
  Usage sum = {0, 0, 0, 0, 0};
  long count = 1;
  int option;
  FILE *result;
  errno = 0;
  while ((option = getopt(argc, argv, "+n:e:")) != -1) {
    if (option == 'n') {
      char *end;
      count = strtol(optarg, &end, 10);
      if (*end != '\0' || count < 1) return fail("COUNT must be a positive integer, got", optarg);
    }
    else if (option == 'e') {
      if (strchr(optarg, '=') == NULL) return fail("no '=' in", optarg);
      if (putenv(optarg) != 0) return fail("cannot set", optarg);
    }
    else return 2;
  }
  if (argc - optind < 2) return fail("no command in", argv[0]);
  while (count-- > 0 && sum.status == 0)
    if (run_once(argv + optind + 1, &sum) != 0) return fail("cannot start", argv[optind + 1]);
  result = fopen(argv[optind], "w");
  if (result == NULL) return fail("cannot write", argv[optind]);
  fprintf(result, "%.6f %.6f %.6f %ld %d\n", sum.wall, sum.user, sum.sys, sum.rss, sum.status);
  if (fclose(result) != 0) return fail("cannot write", argv[optind]);
  return 0;
}
