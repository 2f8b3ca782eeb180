/* SPDX-License-Identifier: MIT */
/* The requests of the protocol (requests.h). */
#define _GNU_SOURCE
#include "requests.h"
#include "keptfiles.h"
#include "server.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bounds.h"
#include "clock.h"
#include "complain.h"
#include "heaprequest.h"
#include "interval.h"
#include "labels.h"
#include "process.h"
#include "resident.h"
#include "timing.h"

#define MAX_RECORD_S		(366 * 86400)	/* longest recording, seconds */
#define STATE_ROWS	16	/* limit of rows in an answer to "states" */
#define SET_ROWS	256	/* limit of rows in an answer to "labels" */
#define NAME_BYTES	1023	/* longest name in an answer, bytes */
#define NOPROFILE	"no profile is being written; asamp record starts one"

static uint64_t due;		/* time at which the recording ends (clock_now, ns); 0: none */

static int say (Request *r, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Appends formatted text, cut to 8,191 bytes, to the answer. Returns 0 if out of memory. */
static int say (Request *r, const char *format, ...) {
  char text[2 * 4096];
  va_list args;
  int n;
  va_start(args, format);
  n = vsnprintf(text, sizeof(text), format, args);
  va_end(args);
  if (n < 0) return 0;
  bytes_add(&r->answer, text, (size_t)n < sizeof(text) ? (size_t)n : sizeof(text) - 1);
  return !r->answer.failed;
}

int request_send (Request *r) {
  while (r->sent < r->answer.n) {
    ssize_t m;
    if (!server_has(r->fd)) return 0;
    m = send(r->fd, r->answer.data + r->sent, r->answer.n - r->sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (m < 0 && (errno == EAGAIN || errno == EINTR)) return 1;
    if (m <= 0) return 0;
    r->sent += (size_t)m;
  }
  bytes_free(&r->answer);
  r->sent = 0;
  return 1;
}

int request_refuse (Request *r, const char *why) {
  return say(r, "error %s\n", why);
}

void request_start (Request *r, int fd) {
  memset(r, 0, sizeof(*r));
  r->fd = fd;
}

static void requests_forget (Request *r) {
  if (r->heap != NULL) heaprequest_end(r->heap);
  r->heap = NULL;
}

/* Returns the next word of *line, NUL-terminated in place, or "". Moves *line after the word. */
static char *requests_word (char **line) {
  char *from = *line + strspn(*line, " ");
  char *end = from + strcspn(from, " ");
  *line = (*end != '\0') ? end + 1 : end;
  *end = '\0';
  return from;
}

/* Parses 'text', a decimal number up to 'most', into *to. Returns 1, or 0 if the text is anything
   else. */
static int requests_number (const char *text, uint64_t most, uint64_t *to) {
  char *end;
  if (*text < '0' || *text > '9') return 0;
  errno = 0;
  *to = strtoull(text, &end, 10);
  return errno == 0 && *end == '\0' && *to <= most;
}

static int isabsolute (const char *path) {
  return *path == '/';
}

/* Appends the histogram of the collector's pauses (SharedHeaps.bins) to the answer. */
static int pauses (Request *r, const uint64_t bins[SAMPLER_PAUSES]) {
  char text[SAMPLER_PAUSES * 21 + 1];
  size_t n = 0;
  int k;
  for (k = 0; k < SAMPLER_PAUSES; k++)
    n += (size_t)sprintf(text + n, " %llu", (unsigned long long)bins[k]);
  return say(r, "pausebins%s\n", text);
}

static int stats (Request *r) {
  ProcessStats s;
  const uint64_t *heaps = s.heaps.sums;
  char why[256];
  uint64_t untimed = sampler_untimed(why);
  process_stats(&s);
#define FIELD(key,n)	say(r, "%s %llu\n", key, (unsigned long long)(n))
  return say(r, "version 1\n") && FIELD("pid", getpid()) && FIELD("now", clock_now() / 1000) &&
         (s.path == NULL || say(r, "file %s\n", s.path)) && (!s.isgone || FIELD("gone", 1)) &&
         FIELD("filebytes", s.bytes) &&
         FIELD("alloc", s.period) && FIELD("time", s.timens > 0 ? CLOCK_SECOND / s.timens : 0) &&
         FIELD("recording", s.temporary) && (!s.isring || FIELD("ring", 1)) &&
         FIELD("states", s.heaps.open) && FIELD("made", s.sum.states) &&
         FIELD("samples", s.sum.samples) && FIELD("timesamples", s.sum.timesamples) &&
         FIELD("allocated", s.sum.bytes) && FIELD("lost", s.sum.lost) &&
         FIELD("unfollowed", s.sum.unfollowed) && FIELD("inuse", heaps[SEEN_INUSE]) &&
         FIELD("held", heaps[SEEN_HELD]) && FIELD("rss", s.rss) &&
         FIELD("minors", heaps[SEEN_MINORS]) && FIELD("majors", heaps[SEEN_MAJORS]) &&
         FIELD("pauses", heaps[SEEN_PAUSES]) && FIELD("longest", s.heaps.longest) &&
         FIELD("tenured", heaps[SEEN_TENURED]) && pauses(r, s.heaps.bins) &&
         (untimed == 0 || (FIELD("untimed", untimed) && say(r, "untimedwhy %s\n", why))) &&
         (s.error == 0 || say(r, "full %s\n", strerror(s.error))) &&
         (s.cut == 0 || say(r, "cut %s\n", strerror(s.cut))) && say(r, "ok\n");
}

/* Appends a line "row NUMBERS NAME", with n numbers, and with the name truncated to NAME_BYTES. */
static int sayrow (Request *r, const uint64_t *numbers, size_t n, const char *name) {
  Bytes line = {0};
  size_t k;
  int ok;
  bytes_add(&line, "row", 3);
  for (k = 0; k < n; k++) bytes_decimal(&line, ' ', numbers[k]);
  bytes_char(&line, ' ');
  bytes_text(&line, name, strnlen(name, NAME_BYTES), 1);
  bytes_char(&line, '\n');
  bytes_char(&line, '\0');
  ok = !line.failed && say(r, "%s", (const char *)line.data);
  bytes_free(&line);
  return ok;
}

/* Appends a line "row OPEN MADE INUSE HELD ALLOCATED SAMPLES MINORS MAJORS PAUSES NAME" for each
   name of Lua states. The numbers are those of SeenNamed (seen.h). */
static int names (Request *r) {
  SeenNamed *rows = calloc(SEEN_NAMES, sizeof(*rows));
  unsigned i, n = rows != NULL ? sampler_named(rows) : 0;
  int ok = say(r, "version 1\n") && say(r, "pid %llu\n", (unsigned long long)getpid());
  for (i = 0; i < n && ok; i++) {
    const SeenNamed *s = &rows[i];
    const uint64_t *sums = s->sums, numbers[] = {s->open, s->made, sums[SEEN_INUSE],
      sums[SEEN_HELD], sums[SEEN_BYTES], sums[SEEN_SAMPLES], sums[SEEN_MINORS], sums[SEEN_MAJORS],
      sums[SEEN_PAUSES]};
    if (s->open + s->made > 0) ok = sayrow(r, numbers, sizeof(numbers) / sizeof(*numbers), s->name);
  }
  free(rows);
  return ok && say(r, "ok\n");
}

static int byset (const void *a, const void *b) {
  const SamplerSet *x = a, *y = b;
  if (x->bytes != y->bytes) return x->bytes < y->bytes ? 1 : -1;
  return x->set < y->set ? -1 : 1;
}

/* Appends a line "row BYTES NAME=VALUE<tab>NAME=VALUE ..." for a label set, with which BYTES bytes
   were allocated. */
static int sayset (Request *r, const SamplerSet *s) {
  ProfileLabel labels[PROFILE_LABELS];
  Bytes text = {0};
  size_t k, n = labels_of(NULL, s->set, labels);
  bytes_add(&text, "row", 3);
  bytes_decimal(&text, ' ', s->bytes);
  bytes_char(&text, ' ');
  for (k = 0; k < n; k++) {
    if (k > 0) bytes_char(&text, '\t');
    bytes_text(&text, labels[k].name, strlen(labels[k].name), 1);
    bytes_char(&text, '=');
    bytes_text(&text, labels[k].value, strlen(labels[k].value), 1);
  }
  bytes_char(&text, '\n');
  bytes_add(&r->answer, text.data, text.failed ? 0 : text.n);
  r->answer.failed |= text.failed;
  bytes_free(&text);
  return !r->answer.failed;
}

/* Appends a row for each of the SET_ROWS label sets with the most allocated bytes, and a line with
   the bytes of the other sets. Appends no rows if the program has set no labels. */
static int labelsets (Request *r) {
  SamplerSet *rows = malloc(LABELS_MOST * sizeof(*rows));
  uint32_t i, n = rows != NULL ? sampler_sharedsets(rows, LABELS_MOST) : 0;
  uint64_t others = 0;
  int ok = say(r, "version 1\n") && say(r, "pid %llu\n", (unsigned long long)getpid());
  if (n == 1 && rows[0].set == 0) n = 0;
  if (n > 0) qsort(rows, n, sizeof(*rows), byset);
  for (i = 0; i < n && ok; i++) {
    if (i < SET_ROWS) ok = sayset(r, &rows[i]);
    else others += rows[i].bytes;
  }
  free(rows);
  return ok && (others == 0 || say(r, "others %llu\n", (unsigned long long)others)) &&
         say(r, "ok\n");
}

/*
** Appends a line "row NUMBER INUSE COLLECTIONS NAME" for each of the STATE_ROWS states with the
** most collections.
*/
static int states (Request *r) {
  SamplerRow rows[STATE_ROWS];
  unsigned i, n = sampler_states(rows, STATE_ROWS);
  int ok = say(r, "version 1\n") && say(r, "pid %llu\n", (unsigned long long)getpid());
  for (i = 0; i < n && ok; i++) {
    const SamplerRow *s = &rows[i];
    const uint64_t numbers[] = {s->number, s->inuse, s->collections};
    ok = sayrow(r, numbers, sizeof(numbers) / sizeof(*numbers), s->name);
  }
  return ok && say(r, "ok\n");
}

/* Appends resident memory by use: "row BYTES USE [TEXT]". */
static int requests_memory (Request *r) {
  size_t i, n;
  ResidentRow *rows = resident_rows(&n);
  int ok = say(r, "version 1\n") && say(r, "pid %llu\n", (unsigned long long)getpid());
  for (i = 0; i < n && ok; i++)
    ok = say(r, "row %lld %s%s%s\n", (long long)rows[i].bytes, rows[i].what,
             rows[i].text[0] != '\0' ? " " : "", rows[i].text);
  free(rows);
  return ok && say(r, "ok\n");
}

static int requests_mark (Request *r, char *rest) {
  char *name = requests_word(&rest);
  ProcessStats s;
  if (*name == '\0') return request_refuse(r, "the mark has no name; give one");
  process_stats(&s);
  if (s.isgone == 2) return request_refuse(r, "the profile was removed, so the mark would be lost; "
                                              "start another profile with asamp record");
  if (process_mark(name, rest)) return say(r, "ok\n");
  return request_refuse(r, s.path == NULL && !process_isring() ? NOPROFILE
                           : "the process has no Lua state now; try again later");
}

/* Appends the path of the file being written. */
static int sayfile (Request *r) {
  ProcessStats s;
  process_stats(&s);
  return say(r, "file %s\nok\n", s.path != NULL ? s.path : "");
}

/* Refuses a request because a recording is running. */
static int refusefornow (Request *r) {
  uint64_t now = clock_now();
  char why[100];
  snprintf(why, sizeof(why), "a recording is running for another %llu s; asamp record --stop ends "
                             "it",
           (unsigned long long)(due > now ? (due - now + CLOCK_SECOND - 1) / CLOCK_SECOND : 0));
  return request_refuse(r, why);
}

/* Starts a recording. 'rest': the words after "record" (requests.h). Appends the path of the
   recording's file to the answer, or refuses the request if a word is invalid or if a recording
   runs. Returns 0 if out of memory. */
static int requests_record (Request *r, char *rest) {
  char err[1024];
  const char *seconds = requests_word(&rest);
  char *alloc = requests_word(&rest);
  const char *rate = requests_word(&rest);
  char *bound = strchr(alloc, '/');
  uint64_t n, bytes, hertz, most = 0;
  ProcessRate wanted;
  if (bound != NULL) *bound++ = '\0';
  if (!requests_number(seconds, MAX_RECORD_S, &n) || n == 0)
    return request_refuse(r, "a recording must last 1 to 31622400 seconds (366 days)");
  if (!requests_number(alloc, INTERVAL_MAX, &bytes) || (bytes > 0 && bytes < INTERVAL_MIN))
    return request_refuse(r, "the sampling period must be 64 to 2^62 bytes, or 0 for none");
  if (bound != NULL && (!requests_number(bound, 1000000, &most) || most == 0))
    return request_refuse(r, "the limit of allocation samples must be 1 to 1000000 a second");
  if (!requests_number(rate, TIMING_MAX, &hertz))
    return request_refuse(r, "the rate must be 1 to 30000 time samples a second, or 0 for none");
  if (bytes == 0 && hertz == 0)
    return request_refuse(r, "nothing to sample: the period and the rate are 0; set one of them");
  if (!isabsolute(rest)) return request_refuse(r, "the path of the profile must start with a /");
  if (due > 0) return refusefornow(r);
  wanted.period = bytes;
  wanted.most = most;
  wanted.timens = (hertz > 0) ? CLOCK_SECOND / hertz : 0;
  keptfiles_current();
  if (!process_switch(rest, &wanted, 1, err, sizeof(err))) return request_refuse(r, err);
  due = clock_now() + n * CLOCK_SECOND;
  return sayfile(r);
}

/* Ends the recording and restores the sampling rates that process_setup has set. Returns 0 with the
   reason in 'err' on failure. */
static int requests_end (char *err, size_t errsize) {
  int ok;
  due = 0;
  ok = process_stop(err, errsize);
  keptfiles_current();
  return ok;
}

static int requests_stop (Request *r) {
  char err[1024];
  if (!requests_end(err, sizeof(err))) return request_refuse(r, err);
  return say(r, "ok\n");
}

/* Writes the flight recorder's content to the file 'to', for the requests "dump" and "rotate". If
   'to' is NULL, writes it to a new file, whose path is made from the option 'out' and the number of
   the file. */
static int dump (Request *r, const char *to) {
  char err[1024], path[4096];
  if (to != NULL && !isabsolute(to))
    return request_refuse(r, "the path of the profile must start with a /");
  if (!process_dump(to, path, sizeof(path), err, sizeof(err))) return request_refuse(r, err);
  return say(r, "file %s\nok\n", path);
}

/* Executes the request "rotate": ends the profile's current file and continues the profile in a new
   file, whose path is made from the option 'out' and the number of the file. If the profile is a
   flight recorder, writes its content to such a file instead. */
static int rotate (Request *r) {
  char err[1024];
  ProcessStats s;
  if (due > 0) return refusefornow(r);
  process_stats(&s);
  if (s.path == NULL && !s.failed) return request_refuse(r, NOPROFILE);
  if (process_isring()) return dump(r, NULL);
  keptfiles_current();
  if (!process_switch(NULL, NULL, 0, err, sizeof(err))) return request_refuse(r, err);
  keptfiles_current();
  return sayfile(r);
}

static int heap (Request *r, char *rest) {
  const char *state = requests_word(&rest), *why;
  uint64_t id = UINT64_MAX;
  if (strcmp(state, "-") != 0 && !requests_number(state, UINT32_MAX, &id))
    return request_refuse(r, "the Lua state must be given as a number, or as - for the first state "
                             "that runs a collection");
  if (!isabsolute(rest)) return request_refuse(r, "the path of the snapshot must start with a /");
  r->heap = heaprequest_start(id, rest, &why);
  return r->heap != NULL || request_refuse(r, why);
}

int request_continue (Request *r) {
  const char *text;
  uint64_t state;
  int answered;
  switch (heaprequest_poll(r->heap, &text, &state)) {
    case HEAPREQUEST_WAITS: return 1;
    case HEAPREQUEST_TAKEN:
      answered = say(r, "file %s\nstate %llu\nok\n", text, (unsigned long long)state);
      break;
    default: answered = request_refuse(r, text); break;
  }
  requests_forget(r);
  return answered;
}

void request_end (Request *r) {
  requests_forget(r);
  bytes_free(&r->answer);
}

int request_answer (Request *r, size_t n) {
  char *rest = r->line;
  const char *what;
  if (strlen(r->line) != n) return request_refuse(r, "the request has a zero byte; remove it");
  what = requests_word(&rest);
  if (strcmp(what, "stats") == 0) return stats(r);
  if (strcmp(what, "memory") == 0) return requests_memory(r);
  if (strcmp(what, "names") == 0) return names(r);
  if (strcmp(what, "labels") == 0) return labelsets(r);
  if (strcmp(what, "states") == 0) return states(r);
  if (strcmp(what, "mark") == 0) return !r->isgone && requests_mark(r, rest);
  if (strcmp(what, "record") == 0) return !r->isgone && requests_record(r, rest);
  if (strcmp(what, "stop") == 0) return requests_stop(r);
  if (strcmp(what, "rotate") == 0) return rotate(r);
  if (strcmp(what, "dump") == 0) return dump(r, *rest != '\0' ? rest : NULL);
  if (strcmp(what, "heap") == 0) return !r->isgone && heap(r, rest);
  return request_refuse(r, "unknown request (known: dump, heap, labels, mark, memory, names, "
                           "record, rotate, states, stats, stop)");
}

uint64_t requests_due (void) {
  return due;
}

void requests_expire (void) {
  char err[1024];
  if (!requests_end(err, sizeof(err))) complain("%s", err);
}

void requests_forked (void) {
  due = 0;
}
