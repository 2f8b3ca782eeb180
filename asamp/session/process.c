/* SPDX-License-Identifier: MIT */
/* Makes, switches and ends the profile of a process (process.h). */
#define _GNU_SOURCE
#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "complain.h"
#include "descriptor.h"
#include "dying.h"
#include "mallocs.h"
#include "mappings.h"
#include "uncancelled.h"

#define RETRY_NS	1000000000	/* ns between two attempts to make the file */
#define FILES	5	/* free descriptors that a profile needs: one for its file, four for two
                           pipes of libunwind */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static Profile *profile;
static pid_t pid;		/* Process that has opened 'profile', or has failed to open it. */
static int failed;
/* Time of the next attempt to make the file, ns; 0: none. Atomic. */
static uint64_t retry;
/* Number (%n in the path) of the file that the attempt at the time 'retry' makes. */
static unsigned next;
static char *path;		/* path of the current or the last profile */
static SamplerShared with;
static int isset;
static char *pattern;
/* Device and inode of the profiles' folder, to check whether the descriptor with.options.folder
   still refers to it. */
static struct stat folder;
static uid_t user;		/* Effective user when process_setup was called. */
static uint64_t epoch;		/* time of process_setup, us since 1970 (%t in the path) */
static char *command;
/* 1: no samples are requested now, so no file is made. Atomic. */
static int idle;
static int temporary;
static int cut;			/* errno with which writing the last recording failed, or 0 */
static int numbered;		/* number (%n in the path) of the last profile */
/* 1: this is a forked child in which the function runs() was not called yet. Atomic. */
static int parted;
static void (*control) (void);	/* The function set by process_controlled; NULL: none. */
static SamplerRate standing;	/* Rates of process_setup, restored after a recording. */

/* A profile that has ended. A state that has not run since the end of the profile may still use
   it. */
typedef struct Old {
  struct Old *next;
  Profile *p;
} Old;
static Old *olds;

/* {== names ============================================================ */

static void process_put (char *to, size_t size, size_t *n, const char *text) {
  size_t m = strlen(text);
  if (*n + m < size) memcpy(to + *n, text, m + 1);
  *n += m;
}

char *process_path (const char *from, unsigned long number, unsigned session,
                    uint64_t when) {
  char to[PATH_MAX * 2], text[HOST_NAME_MAX + 32];
  time_t seconds = (time_t)(when / 1000000);
  struct tm tm;
  size_t n = 0;
  to[0] = '\0';
  for (; *from != '\0'; from++) {
    if (*from == '%') from++;
    else {
      snprintf(text, sizeof(text), "%c", *from);
      process_put(to, sizeof(to), &n, text);
      continue;
    }
    switch (*from) {
      case 'p': snprintf(text, sizeof(text), "%lu", number); break;
      case 'n': snprintf(text, sizeof(text), "%u", session); break;
      case 't':
        gmtime_r(&seconds, &tm);
        strftime(text, sizeof(text), "%Y%m%dT%H%M%S", &tm);
        break;
      case 'h':
        if (gethostname(text, HOST_NAME_MAX) != 0) strcpy(text, "localhost");
        text[HOST_NAME_MAX] = '\0';
        break;
      case '%': strcpy(text, "%"); break;
      case '\0': from--;  /* FALLTHROUGH */
      default: snprintf(text, sizeof(text), "%%%.1s", from[0] == '%' ? "" : from); break;
    }
    process_put(to, sizeof(to), &n, text);
  }
  return (n < sizeof(to)) ? strdup(to) : NULL;
}

/* Returns 'text' with each % doubled, so that process_path expands it to 'text'; the caller frees
   it. NULL: not enough memory. */
static char *process_literal (const char *text) {
  char *to = malloc(2 * strlen(text) + 1), *end = to;
  if (to == NULL) return NULL;
  do {
    if (*text == '%') *end++ = '%';
    *end++ = *text;
  } while (*text++ != '\0');
  return to;
}

/* Returns the command line, up to 4,095 bytes; the program's name if it cannot be read. */
static char *commandline (void) {
  char text[4096];
  size_t i, n = descriptor_text("/proc/self/cmdline", text, sizeof(text));
  if (n == 0) return strdup(program_invocation_name);
  for (i = 0; i < n - 1; i++)
    if (text[i] == '\0') text[i] = ' ';
  return strdup(text);
}

/* Writes to 'err' that there is not enough memory. Returns 0. */
static int process_nomemory (char *err, size_t errsize) {
  snprintf(err, errsize, "cannot write a profile: not enough memory; raise ulimit -v");
  return 0;
}

/* Opens the profiles' folder and makes the path in 'pattern' absolute. Returns 0 with a message in
   'err' on failure. */
static int findfolder (char *err, size_t errsize) {
  char *slash = strrchr(pattern, '/'), *whole, *where, *literal, real[PATH_MAX], few[128];
  int fd, n;
  where = (slash == NULL) ? strdup(".") : strndup(pattern, (size_t)(slash - pattern) + 1);
  if (where == NULL || realpath(where, real) == NULL ||
      (fd = descriptor_open(real, O_PATH | O_DIRECTORY, 0)) < 0) {
    const int isrefused = (errno == EPERM || errno == ENOSYS) && *pattern != '/';
    snprintf(err, errsize, "cannot write profile '%s': %s%s", pattern, strerror(errno), !isrefused
             ? "" : "; permit the system call getcwd, or set out= to a path that starts with /");
    free(where);
    return 0;
  }
  free(where);
  if (!descriptor_spare(fd, FILES)) {
    close(fd);
    descriptor_few(few, sizeof(few));
    snprintf(err, errsize, "cannot write profile '%s': %s", pattern, few);
    return 0;
  }
  fstat(fd, &folder);
  with.options.folder = fd;
  literal = process_literal(strcmp(real, "/") == 0 ? "" : real);
  n = literal == NULL ? -1
    : asprintf(&whole, "%s/%s", literal, slash == NULL ? pattern : slash + 1);
  free(literal);
  if (n < 0) return process_nomemory(err, errsize);
  free(pattern);
  pattern = whole;
  return 1;
}

/* }===================================================================== */

/* {== the file ========================================================= */

/* Returns 1 if with.options.folder is still a descriptor of the profiles' folder, and the folder
   was not removed. */
static int hasfolder (void) {
  struct stat s;
  return with.options.folder > 0 && fstat(with.options.folder, &s) == 0 &&
         s.st_dev == folder.st_dev && s.st_ino == folder.st_ino && s.st_nlink > 0;
}

static void cannot (int error, const char *why) {
  if (error == EACCES && geteuid() != user)
    complain("%s; the process started as user %u and changed to user %u: set out= to a path where "
             "that user may write", why, (unsigned)user, (unsigned)geteuid());
  else complain("%s", why);
}

/* Opens a profile at 'to'; if 'to' is NULL, at the path that 'pattern' and 'number' give. Returns
   NULL with the reason in 'err' on failure. Lock held. */
static Profile *process_make (const char *to, unsigned number, char *err, size_t errsize) {
  SamplerOptions o = with.options;
  int isown = (to != NULL);
  char *name = isown ? strdup(to) : process_path(pattern, (unsigned long)getpid(), number, epoch);
  Profile *p = NULL;
  if (name == NULL && !process_nomemory(err, errsize)) return NULL;
  o.out = name;
  o.command = command;
  /* o.number 1 adds no number: neither the path 'to' nor a pattern with %n needs one */
  o.number = (isown || strstr(pattern, "%n") != NULL) ? 1 : number;
  o.timeperiod = with.rates.timens;
  o.made = !isown && (o.made || number > 1);
  if (isown || !hasfolder()) o.folder = 0;
  if (isown) o.ring.most = 0;  /* a profile with a requested path is not a flight recorder */
  p = sampler_openshared(&o, with.rates.period, err, errsize);
  if (p != NULL) {
    char *last = path;
    path = strdup(profile_path(p));
    free(last);  /* only after 'path' was changed: otherwise a child forked in between could free
                    the old text a second time */
    if (!o.made && profile_elsewhere(p) != NULL)
      complain("'%s' %s; this profile is written to '%s'", name, profile_elsewhere(p), path);
  }
  free(name);
  return p;
}

/* Returns 1 if the cause of the error, such as a full disk, may pass without a change of
   options. */
static int ispassing (int error) {
  return error == ENOSPC || error == EDQUOT || error == EMFILE || error == ENFILE ||
         error == ENOMEM;
}

/* Schedules the next attempt to make the file 'number', if the cause of 'error' may pass. Lock
   held. */
static void setretry (int error, unsigned number) {
  next = number;
  __atomic_store_n(&retry, ispassing(error) ? clock_now() + RETRY_NS : 0, __ATOMIC_RELAXED);
}

/* Opens the file with number 1 of the option 'out'. If the last attempt of this process has failed,
   opens the file with number 'next' instead. Lock held. */
static void process_openfile (void) {
  char err[1024];
  const int isagain = failed && pid == getpid();
  const unsigned number = isagain ? next : 1;
  sigset_t before;
  Profile *p;
  int error;
  dying_hold(&before);
  p = process_make(NULL, number, err, sizeof(err));
  error = (p == NULL) ? errno : 0;
  failed = (p == NULL);
  pid = getpid();
  if (p != NULL) numbered = (int)number;
  setretry(error, number);
  __atomic_store_n(&profile, p, __ATOMIC_RELEASE);
  dying_release(&before);
  if (p == NULL && !isagain) cannot(error, err);
}

/* Returns 1 if the file of the profile could not be made, and the next attempt is due. */
static int isretry (void) {
  const uint64_t due = __atomic_load_n(&retry, __ATOMIC_RELAXED);
  return due != 0 && clock_now() >= due;
}

static Profile *process_current (int isopen) {
  Profile *p = __atomic_load_n(&profile, __ATOMIC_ACQUIRE);
  if (p != NULL || !isopen || __atomic_load_n(&idle, __ATOMIC_ACQUIRE)) return p;
  UNCANCELLED;
  pthread_mutex_lock(&lock);
  if (profile == NULL && !idle && (!failed || pid != getpid() || isretry())) process_openfile();
  p = profile;
  pthread_mutex_unlock(&lock);
  return p;
}

static int isidle (void) {
  return __atomic_load_n(&idle, __ATOMIC_ACQUIRE) || __atomic_load_n(&retry, __ATOMIC_RELAXED) != 0;
}

/* Returns 1 if process_setup has requested samples of any kind. */
static int isstanding (void) {
  return standing.alloc || standing.timens > 0 || with.options.mallocs > 0;
}

/* Number of threads that the function 'control' needs in a forked child: a control thread, and a
   second writer thread while process_switch replaces the profile. */
#define CONTROL_THREADS	2

static unsigned process_forked (void) {
  Profile *parents = profile;
  pthread_mutex_init(&lock, NULL);
  profile = NULL;
  failed = temporary = cut = 0;
  retry = 0;
  with.rates = standing;
  idle = !isstanding();
  if (parents != NULL) profile_abandon(parents);
  parted = 1;
  return (unsigned)isstanding() + (control != NULL ? CONTROL_THREADS : 0);
}

/* Called after a collection (SamplerShared.runs). If the file could not be made and the next
   attempt is due (isretry), tries again. The first call in a forked child also calls 'control'. */
static void runs (void) {
  UNCANCELLED;
  if (isretry()) (void)process_current(1);
  if (__atomic_load_n(&parted, __ATOMIC_RELAXED) &&
      __atomic_exchange_n(&parted, 0, __ATOMIC_ACQ_REL) && control != NULL) control();
}

static void process_ended (const ProfileTotals *t, const SharedTotals *sum) {
  const char *path = profile_path(profile);
  SharedTotals all = *sum;
  event_add(&all.missing, &t->missing);
  if (with.options.summary)
    sampler_summary(&all, with.rates.most > 0 ? 0 : with.rates.period, with.options.random,
                    with.rates.timens > 0, t->error != 0 || with.options.summary == 2, path);
  sampler_loss(t->error, sum->lost + t->lost, with.options.summary, with.rates.timens > 0, path);
}

/* }===================================================================== */

/* Makes the default of 'pattern', PROGRAM.%p.vmprof. Returns NULL if out of memory. */
static char *defaultpattern (void) {
  char *to, *literal, name[200];
  snprintf(name, sizeof(name), "%s", program_invocation_short_name);
  literal = process_literal(name);
  if (literal == NULL || asprintf(&to, "%s.%%p.vmprof", literal) < 0) to = NULL;
  free(literal);
  return to;
}

int process_setup (const SamplerShared *from, char *err, size_t errsize) {
  if (isset) {
    snprintf(err, errsize, "this process has two copies of Lua with a profiler; link all code to "
                           "one liblua5.4.so.0");
    return 0;
  }
  with = *from;
  with.profile = process_current;
  with.forked = process_forked;
  with.runs = runs;
  with.ended = process_ended;
  with.isidle = isidle;
  standing = with.rates;
  idle = !isstanding();
  with.options.made = from->options.out == NULL || strchr(from->options.out, '%') != NULL;
  user = geteuid();
  epoch = clock_read(CLOCK_REALTIME) / 1000;
  command = commandline();
  if (from->options.out != NULL) pattern = strdup(from->options.out);
  else pattern = defaultpattern();
  with.options.out = with.options.command = NULL;
  if (pattern == NULL) return process_nomemory(err, errsize);
  if (!findfolder(err, errsize)) return 0;
  if (with.options.mallocs > 0 && !mallocs_there(err, errsize)) {
    complain("%s", err);
    with.options.mallocs = 0;
  }
  isset = 1;
  return 1;
}

void process_controlled (void (*start) (void)) {
  control = start;
}

void process_join (lua_State *L) {
  if (isset) (void)sampler_attach(L, &with);
}

/* {== operations on the running profile ================================ */

/* Adds 'one' to the list of ended profiles. Frees all profiles in the list that no state uses. */
static void sweep (Profile *one) {
  Old **at = &olds, *o = malloc(sizeof(*o));
  /* if malloc fails, the profile 'one' is not added to the list and is never freed, because states
     may still use it */
  if (o != NULL) {
    o->p = one;
    o->next = olds;
    olds = o;
  }
  while ((o = *at) != NULL) {
    if (sampler_usesshared(o->p)) at = &o->next;
    else {
      *at = o->next;
      profile_close(o->p, NULL);
      free(o);
    }
  }
}

/* Sets the sampling rates. Lock held; states read the rates without the lock. */
static void setrates (const ProcessRate *rate) {
  __atomic_store_n(&with.rates.alloc, rate->period > 0, __ATOMIC_RELAXED);
  if (rate->period > 0) __atomic_store_n(&with.rates.period, rate->period, __ATOMIC_RELAXED);
  __atomic_store_n(&with.rates.timens, rate->timens, __ATOMIC_RELAXED);
  __atomic_store_n(&with.rates.most, rate->most, __ATOMIC_RELAXED);
}

/* Ends the profile 'old', if it is not NULL. 'isrecording' 1: 'old' is a recording
   (process_switch), so stores the errno of its failure, or 0, in 'cut'. */
static void leavefile (Profile *old, int isrecording) {
  int error;
  if (old == NULL) return;
  error = sampler_endshared(old);
  if (isrecording) cut = error;
  sweep(old);
}

int process_switch (const char *to, const ProcessRate *rate, int istemporary, char *err,
                    size_t errsize) {
  const ProcessRate before = {with.rates.period, with.rates.timens, with.rates.most};
  const int alloc = with.rates.alloc, count = numbered, isrecording = temporary;
  sigset_t signals;
  Profile *old, *p;
  int error;
  pthread_mutex_lock(&lock);
  dying_hold(&signals);
  old = profile;
  if (rate != NULL) setrates(rate);
  if (old != NULL && profile_isring(old)) numbered = (int)profile_number(old);
  p = process_make(to, to == NULL ? (unsigned)++numbered : 1, err, errsize);
  error = errno;
  if (p != NULL) {
    temporary = istemporary;
    failed = 0;
    __atomic_store_n(&retry, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&profile, p, __ATOMIC_RELEASE);
    __atomic_store_n(&idle, 0, __ATOMIC_RELEASE);
  }
  else {  /* on failure, the current file continues with the old rates */
    setrates(&before);
    __atomic_store_n(&with.rates.alloc, alloc, __ATOMIC_RELAXED);
    numbered = count;
  }
  dying_release(&signals);
  pthread_mutex_unlock(&lock);
  errno = error;
  if (p == NULL) return 0;
  leavefile(old, isrecording);
  return 1;
}

int process_isring (void) {
  Profile *p = process_current(0);
  return p != NULL && profile_isring(p);
}

int process_dump (const char *to, char *where, size_t size, char *err, size_t errsize) {
  Profile *p = process_current(0);
  if (p != NULL && profile_isring(p)) return profile_dump(p, to, 0, where, size, err, errsize);
  snprintf(err, errsize, "the process has no flight recorder; start the process with ASAMP=ring%s",
           temporary ? ", or wait until the recording has ended" : "");
  return 0;
}

int process_stop (char *err, size_t errsize) {
  const ProcessRate rate = {standing.alloc ? standing.period : 0, standing.timens,
                            standing.most};
  const int goeson = isstanding();
  char why[512];
  Profile *old;
  int error;
  if (!temporary) {
    snprintf(err, errsize, "no recording is running, so none was stopped");
    return 0;
  }
  if (goeson && process_switch(NULL, &rate, 0, why, sizeof(why))) return 1;
  error = errno;
  pthread_mutex_lock(&lock);
  setrates(&rate);
  old = profile;
  temporary = 0;
  failed = goeson;
  setretry(goeson ? error : 0, (unsigned)numbered + 1);
  pid = getpid();
  if (!goeson) __atomic_store_n(&idle, 1, __ATOMIC_RELEASE);
  __atomic_store_n(&profile, NULL, __ATOMIC_RELEASE);
  pthread_mutex_unlock(&lock);
  leavefile(old, 1);
  if (!goeson) return 1;
  snprintf(err, errsize, "the recording has ended, but the next profile cannot be written: %s; "
           "remove the cause%s", why, ispassing(error) ? "; writing is tried again each second"
           : ", then send the request 'rotate' to the socket of this process");
  return 0;
}

uint64_t process_size (void) {
  ProfileTotals t = {0};
  Profile *p = process_current(0);
  if (p != NULL) profile_totals(p, &t);
  return t.bytes;
}

/* Prepares a call such as fstatat for the profile with the absolute path 'whole': stores the
   descriptor of the profiles' folder in *at, and returns the profile's name in the folder. If the
   descriptor cannot be used any more (hasfolder), stores AT_FDCWD and returns 'whole'. */
static const char *process_nameof (const char *whole, int *at) {
  const char *slash = strrchr(whole, '/');
  *at = hasfolder() ? with.options.folder : AT_FDCWD;
  return (*at != AT_FDCWD && slash != NULL) ? slash + 1 : whole;
}

/* Returns 2 if the file was removed, 1 if it was renamed, else 0. */
static int isgone (const Profile *p) {
  struct stat file, now;
  int at = AT_FDCWD;
  const char *name = temporary ? path : process_nameof(path, &at);
  profile_file(p, &file);
  if (file.st_nlink == 0) return profile_isring(p) ? 0 : 2;
  return fstatat(at, name, &now, 0) != 0 || now.st_dev != file.st_dev || now.st_ino != file.st_ino;
}

void process_stats (ProcessStats *s) {
  ProfileTotals t = {0};
  Profile *p = process_current(0);
  memset(s, 0, sizeof(*s));
  if (p != NULL) profile_totals(p, &t);
  s->path = (p != NULL) ? path : NULL;
  s->isgone = (p != NULL && path != NULL) ? isgone(p) : 0;
  s->failed = failed && pid == getpid();
  s->temporary = temporary;
  s->cut = cut;
  s->isring = p != NULL && profile_isring(p);
  s->period = with.rates.alloc ? with.rates.period : 0;
  s->timens = with.rates.timens;
  s->bytes = t.bytes;
  s->error = t.error;
  sampler_shared(&s->sum, &s->heaps);
  s->rss = mappings_rss();
}

int process_identify (const char *whole, struct stat *id) {
  int at;
  const char *name = process_nameof(whole, &at);
  return fstatat(at, name, id, AT_SYMLINK_NOFOLLOW) == 0;
}

void process_remove (const char *whole, const struct stat *id) {
  struct stat now;
  int at;
  const char *name = process_nameof(whole, &at);
  if (fstatat(at, name, &now, AT_SYMLINK_NOFOLLOW) == 0 && now.st_dev == id->st_dev &&
      now.st_ino == id->st_ino) unlinkat(at, name, 0);
}

int process_mark (const char *name, const char *value) {
  Profile *p = process_current(0);
  return p != NULL && sampler_markshared(p, name, value);
}

/* }===================================================================== */
