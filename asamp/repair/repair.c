/* SPDX-License-Identifier: MIT */
/* Writes the repaired log (repair.h). */
#include "repair.h"
#include "decimal.h"
#include "objects.h"
#include "livefile.h"
#include "repairrecord.h"
#include "sample.h"
#include "temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define PIECE		65536    /* bytes skipped at a time after the damage */

/* ----------------------------------------------------------------- end -- */

/* Writes a meta record unless the log has one with this key. */
static void putmeta (Repair *p, const char *key, const char *value) {
  if (!repair_haskey(p, key))
    vmprof_meta(&p->record, key, value, strlen(value));
}

/* Writes an object record with dead objects of type "unknown" for the stacks without an object
   (X2). */
static void putobjects (Repair *p, LiveFile *file) {
  uint64_t left = p->stacks > p->objects ? p->stacks - p->objects : 0;
  if (p->nstats == 0 && p->objects == 0)
    return;  /* no objects: readers require none */
  while (left > 0) {
    uint64_t most = VMPROF_MAXWORDS - p->nstats;
    uint64_t n = left < most ? left : most, i;
    vmprof_timed(&p->record, VMPROF_OBJECTS, p->lead, n + p->nstats);
    for (i = 0; i < n; i++)
      vmprof_word(&p->record, (uint64_t)REPAIR_UNKNOWNTYPE << 2);
    for (i = 0; i < p->nstats; i++)
      vmprof_word(&p->record, 0);
    left -= n;
    livefile_put(file, p->record.data, p->record.n);
    p->record.n = 0;
  }
}

/* Writes the missing meta records of version 7: the type "unknown", and in asamp's logs names
   of types and statistics and the start time. */
static void putextended (Repair *p) {
  char key[32], text[32];
  int i;
  sprintf(key, "__rtype_%u", REPAIR_UNKNOWNTYPE);
  if (p->own || (p->stacks > p->objects && p->objects > 0))
    putmeta(p, key, "unknown");
  if (!p->own)
    return;
  for (i = 0; i < KIND_COUNT; i++) {
    sprintf(key, "__rtype_%d", i);
    putmeta(p, key, profile_kindname(i));
  }
  for (i = 0; i < OBJECTS_NSTATS; i++) {
    sprintf(key, "gc_stats__%d", i);
    putmeta(p, key, objects_stats[i]);
  }
  decimal_print(text, sizeof(text), "%.6f", p->first);
  putmeta(p, "start_time_offset", text);
}

/* Returns the duration in us, to the latest time, or one period per stack if there are no
   times. */
static uint64_t length (const Repair *p) {
  uint64_t us = p->known;
  if (p->version >= 7 && p->lead * 1e6 > (double)p->start &&
      p->lead * 1e6 - (double)p->start < (double)REPAIR_CENTURY_US &&
      p->start > 0)
    us = (uint64_t)(p->lead * 1e6) - p->start;
  if (us == 0)
    us = (p->samples + p->timesamples) *
         (p->period > 0 && p->period < 1000000 ? p->period : 1000);
  return us > p->known ? us : p->known;
}

/* Writes the end of the new file: objects, meta records, trailer (X2). */
static void repair_finish (Repair *p, LiveFile *file) {
  p->record.n = 0;
  putobjects(p, file);
  if (p->version >= 7)
    putextended(p);
  if (p->own) {
    char text[24];
    uint64_t open = p->allocations > p->fates ? p->allocations - p->fates : 0;
    putmeta(p, "os", "linux");
    putmeta(p, "bits", "64");
    putmeta(p, "period", "0.0");
    sprintf(text, "%llu", (unsigned long long)open);
    putmeta(p, "asamp.undecided", text);
  }
  if (p->version >= 5)
    vmprof_time(&p->record, VMPROF_TRAILER, p->started + length(p));
  else
    bytes_char(&p->record, VMPROF_TRAILER);
  livefile_put(file, p->record.data, p->record.n);
  livefile_flush(file, 1);
}

/* ---------------------------------------------------------------- file -- */

/* Copies the records before the damage and describes it in *r. Returns NULL (a failed write is
   in file->error), or why the log cannot be repaired. */
static const char *repair_copy (Repair *p, RepairResult *r, LiveFile *file) {
  Verdict v;
  if (!repair_firstwords(p))
    return p->record.failed ? "not enough memory"
         : source_failure(p->source) != NULL ? source_failure(p->source)
         : source_offset(p->source) == 0 &&
           source_read(p->source, NULL, 1) == 0 ? "the file is empty"
         : "not a VMProf log of 64 bits, little-endian";
  livefile_put(file, p->record.data, p->record.n);
  r->kept = source_offset(p->source);
  while ((v = repair_record(p)) != REPAIR_DAMAGE && v != REPAIR_END &&
         file->error == 0) {
    if (v != REPAIR_OMIT)
      livefile_put(file, p->record.data, p->record.n);
    r->mended += v != REPAIR_KEEP;
    r->kept = source_offset(p->source);
  }
  if (file->error != 0)
    return NULL;
  if (p->record.failed)
    return "not enough memory";
  if (!p->header)
    return "not a VMProf log (no header)";
  if (v == REPAIR_DAMAGE)
    snprintf(r->message, sizeof(r->message), "cannot be read after byte %llu of the log: %s",
             (unsigned long long)p->offset, p->fault);
  else if (v == REPAIR_END && r->mended == 0)
    r->whole = 1;
  while (source_read(p->source, NULL, PIECE) == PIECE) { }
  r->cut = v == REPAIR_DAMAGE ? source_offset(p->source) - r->kept : 0;
  if (!r->whole && p->samples + p->timesamples == 0)
    return "no sample is left in it";
  return NULL;
}

/* Repairs the open log p->source; with 'inplace' it is locked. Returns like repair_file. */
static int through (Repair *p, RepairResult *r, LiveFile *file,
                    const char *path, const char *out, int inplace, char *err,
                    size_t errsize) {
  Temporary part;
  const char *reason = NULL;
  int error = temporary_start(&part, out, inplace), unnamed;
  if (error == 0) {
    error = livefile_open(file, fcntl(part.fd, F_DUPFD_CLOEXEC, 3),
                          LIVEFILE_SMALL);
    if (error == 0)
      reason = repair_copy(p, r, file);
    if (error == 0 && reason == NULL && !r->whole)
      repair_finish(p, file);
    if (p->record.failed)
      livefile_fail(file, ENOMEM);
    livefile_close(file);
    r->size = file->written;
    if (error == 0)
      error = file->error;
    unnamed = temporary_end(&part, error == 0 && reason == NULL && !r->whole);
    if (error == 0)
      error = unnamed;
  }
  if (reason != NULL) {
    snprintf(err, errsize, "cannot repair '%s': %s", path, reason);
    return REPAIR_UNREADABLE;
  }
  if (error == 0)
    return REPAIR_DONE;
  snprintf(err, errsize, "cannot write '%s': %s", out, temporary_reason(error));
  return REPAIR_UNWRITABLE;
}

/* Returns 1 if both paths are one existing file. */
static int samefile (const char *a, const char *b) {
  struct stat x, y;
  return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev &&
         x.st_ino == y.st_ino;
}

int repair_file (const char *path, const char *out, int inplace,
                 RepairResult *r, char *err, size_t errsize) {
  char other[SOURCE_OTHER] = "";
  Repair p;
  LiveFile *file = malloc(sizeof(*file));
  int result = REPAIR_UNREADABLE;
  memset(&p, 0, sizeof(p));
  memset(r, 0, sizeof(*r));
  errno = ENOMEM;
  if (!inplace && samefile(path, out))
    result = REPAIR_SAME;
  else if (file == NULL || (p.source = source_open(path)) == NULL)
    snprintf(err, errsize, "cannot read '%s': %s", path, strerror(errno));
  else {
    r->live = inplace ? !source_lock(p.source) : source_live(p.source);
    if (inplace && r->live)
      result = REPAIR_LIVE;
    else
      result = through(&p, r, file, path, out, inplace, err, errsize);
    if (!p.header && result == REPAIR_UNREADABLE) {
      size_t n = strlen(err);
      source_other(p.source, other);
      snprintf(err + n, errsize - n, "%s", other);
    }
    source_close(p.source);
  }
  r->samples = p.samples;
  r->timesamples = p.timesamples;
  free(file);
  bytes_free(&p.record);
  idmap_free(&p.keys);
  idmap_free(&p.ids);
  repairruns_free(&p.runs);
  return result;
}
