/* SPDX-License-Identifier: MIT */
/* Copies the intact part of a log and adds an end (repair.h has the rules). */
#include "repair.h"
#include "objects.h"
#include "output.h"
#include "reader.h"
#include "source.h"
#include "temporary.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define PIECE		65536    /* bytes copied at a time */
#define UNKNOWNTYPE	0xffffu  /* type of the objects that putobjects adds; its name is
                                    "unknown" */

/* A client of the reader that counts allocation samples without an outcome: the log does not record
   whether their blocks survived a collection. */
typedef struct Counter {
  ReaderClient client;
  uint64_t undecided;
} Counter;

static void repair_fate (void *ud, const ReadSample *s, int fate, uint64_t time) {
  Counter *c = ud;
  (void)s; (void)time;
  c->undecided += fate == READER_UNDECIDED;
}

/* Writes the bytes of 'from' and empties it. */
static void flush (Bytes *from, Output *o) {
  output_bytes(o, from->data, from->n);
  from->n = 0;
}

/* Completes the object records of a truncated log: for each stack record of an allocation sample
   whose object the log lacks, writes a dead object of type "unknown". An object record ends with
   r->end.statistics words about the collection, such as the bytes in use; writes 0 for them. If
   these words are more than half of the largest record, writes nothing: each record would have few
   objects, so a damaged log could grow without bound. */
static void putobjects (const ReadProfile *r, Bytes *to, Output *o) {
  uint64_t left = r->end.unpaired, most = VMPROF_MAXWORDS - r->end.statistics, i;
  char key[32];
  if (left == 0 || !(r->own || r->fates) || r->end.statistics > VMPROF_MAXWORDS / 2)
    return;
  while (left > 0) {
    uint64_t n = left < most ? left : most;
    vmprof_timed(to, VMPROF_OBJECTS, r->end.seconds, n + r->end.statistics);
    for (i = 0; i < n + r->end.statistics; i++)
      vmprof_word(to, i < n ? (uint64_t)UNKNOWNTYPE << 2 : 0);
    left -= n;
    flush(to, o);
  }
  sprintf(key, "__rtype_%u", UNKNOWNTYPE);
  vmprof_meta(to, key, "unknown", strlen("unknown"));
}

/* Writes the records that the intact part of a log lacks: objects, required meta records and the
   trailer. Returns 0 or an errno. */
static int putend (const ReadProfile *r, uint64_t undecided, Output *o) {
  Bytes end = {0}, *to = &end;
  char text[24];
  int error;
  putobjects(r, to, o);
  if (r->own && !r->end.period)
    vmprof_meta(to, "period", "0.0", 3);
  if (r->own && !r->end.undecided) {
    sprintf(text, "%llu", (unsigned long long)undecided);
    vmprof_meta(to, "asamp.undecided", text, strlen(text));
  }
  if (r->version >= 5)
    vmprof_time(to, VMPROF_TRAILER, r->started + r->duration);
  else
    bytes_char(to, VMPROF_TRAILER);
  flush(to, o);
  error = end.failed ? ENOMEM : 0;
  bytes_free(&end);
  return error;
}

/* Copies the next n bytes of the log to the output, or skips them if 'o' is NULL. Returns the
   number of bytes copied or skipped, which is less than n if the file ends before. */
static uint64_t copied (Source *s, uint64_t n, Output *o) {
  unsigned char piece[PIECE];
  uint64_t done = 0, step = 1;
  while (done < n && step > 0) {
    step = source_read(s, piece, n - done < PIECE ? n - done : PIECE);
    if (o != NULL)
      output_bytes(o, piece, step);
    done += step;
  }
  return done;
}

/* Writes the new file and sets the sizes in *to. Returns 0 or an errno. */
static int repair_write (const ReadProfile *r, uint64_t undecided, const char *path,
                         const char *out, RepairResult *to) {
  Output *o = malloc(sizeof(*o));
  Source *s = o != NULL ? source_open(path) : NULL;
  struct stat file;
  int error = s == NULL ? errno : output_open(o, out, OUTPUT_SMALL), late;
  if (error == 0 && copied(s, r->end.intact, o) < r->end.intact)
    error = ESTALE;  /* another program has changed the file */
  if (error == 0) {
    to->cut = copied(s, UINT64_MAX, NULL);
    error = putend(r, undecided, o);
  }
  if (s != NULL) {
    late = output_close(o, error == 0);
    error = error != 0 ? error : late;
    source_close(s);
  }
  to->size = stat(out, &file) == 0 ? (uint64_t)file.st_size : 0;
  free(o);
  return error;
}

int repair_file (const char *path, const char *out, int inplace,
                 RepairResult *to, char *err, size_t errsize) {
  Counter c;
  ReadProfile *r;
  struct stat file, other;
  int result = REPAIR_DONE, error;
  memset(to, 0, sizeof(*to));
  memset(&c, 0, sizeof(c));
  if (!inplace && stat(path, &file) == 0 && stat(out, &other) == 0 &&
      file.st_dev == other.st_dev && file.st_ino == other.st_ino)
    return REPAIR_SAME;
  if (stat(path, &file) == 0 && S_ISFIFO(file.st_mode)) {
    snprintf(err, errsize, "cannot repair '%s': the file is a pipe, which can be read only once; "
                           "give - as the path, and the pipe as standard input", path);
    return REPAIR_UNREADABLE;
  }
  c.client.ud = &c;
  c.client.fate = repair_fate;
  r = reader_read(path, &c.client, err, errsize);
  if (r == NULL)
    return REPAIR_UNREADABLE;
  to->whole = r->complete;
  to->samples = r->samples;
  to->timesamples = r->timesamples;
  to->kept = r->end.intact;
  to->live = r->live;
  memcpy(to->message, r->message, sizeof(to->message));
  if (inplace && r->live)
    result = REPAIR_LIVE;
  else if (!r->complete && r->samples + r->timesamples == 0) {
    snprintf(err, errsize, "cannot repair '%s': its readable part contains no sample that could be "
                           "kept; make a new profile", path);
    result = REPAIR_UNREADABLE;
  }
  else if (!r->complete && (error = repair_write(r, c.undecided, path, out, to)) != 0) {
    snprintf(err, errsize, "cannot write '%s': %s", out, temporary_reason(error));
    result = REPAIR_UNWRITABLE;
  }
  readprofile_free(r);
  return result;
}
