/* SPDX-License-Identifier: MIT */
/*
** The reader's way through the records of a log. Rules and limits are in
** reader.h, the layout of the records in doc/profile-format.md. What the
** records mean for the totals is in readersum.c.
*/
#include "readersum.h"
#include "source.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MODE_MEMORY = 1, MODE_LINES = 2, MODE_PAIRS = 8 };

typedef struct Input {
  Source *source;
  ReaderSum sum;
  uint64_t record;     /* where the current record starts */
  int header;          /* 1: the header record was read */
  int memory, pairs, threads;
  uint64_t *words;     /* READER_MAXDEPTH of them */
  char *value;         /* READER_MAXMETA bytes of a meta */
} Input;

/* What became of a record. */
typedef enum { STOP, GO } Step;

static Step damaged (Input *in, const char *what) {
  Reading *r = in->sum.r;
  snprintf(r->message, sizeof(r->message), "%s at byte %llu of the log", what,
           (unsigned long long)in->record);
  return STOP;
}

/* The bytes ran out within a record. */
static Step ended (Input *in) {
  const char *failure = source_failure(in->source);
  return damaged(in, failure != NULL ? failure
                                     : "the file ends in a record");
}

static int getword (Input *in, uint64_t *w) {
  unsigned char b[8];
  int i;
  if (source_read(in->source, b, 8) < 8)
    return 0;
  *w = 0;
  for (i = 7; i >= 0; i--)
    *w = *w << 8 | b[i];
  return 1;
}

/* n <= READER_MAXDEPTH words to 'words'. */
static int getwords (Input *in, size_t n) {
  size_t k;
  unsigned char *b = (unsigned char *)in->words;
  if (source_read(in->source, b, 8 * n) < 8 * n)
    return 0;
  for (k = 0; k < n; k++) {
    uint64_t w = 0;
    int i;
    for (i = 7; i >= 0; i--)
      w = w << 8 | b[8 * k + (size_t)i];
    in->words[k] = w;
  }
  return 1;
}

/*
** A string: its first 'room' bytes to 'to', the rest is skipped. *n: bytes
** kept, *left: bytes skipped.
*/
static int getstring (Input *in, char *to, size_t room, size_t *n,
                      uint64_t *left) {
  uint64_t length;
  if (!getword(in, &length) || length > INT64_MAX)
    return 0;
  *n = length < room ? (size_t)length : room;
  *left = length - *n;
  if (source_read(in->source, to, *n) < *n)
    return 0;
  return source_read(in->source, NULL, (size_t)*left) == *left;
}

/* ------------------------------------------------------------- records -- */

static Step header (Input *in) {
  Reading *r = in->sum.r;
  unsigned char b[3];
  int mode = 0;
  if (in->header)
    return damaged(in, "a second header");
  if (source_read(in->source, b, 2) < 2)
    return ended(in);
  r->version = b[0] << 8 | b[1];
  if (r->version > 7)
    return damaged(in, "a VMProf version above 7");
  if (r->version >= 4) {
    if (source_read(in->source, b, 1) < 1)
      return ended(in);
    mode = b[0];
  }
  else if (r->version == 3)
    mode = MODE_MEMORY;
  if (source_read(in->source, b, 1) < 1 ||
      source_read(in->source, r->interpreter, b[0]) < b[0])
    return ended(in);
  r->interpreter[b[0]] = '\0';
  in->header = 1;
  in->threads = r->version >= 1;
  in->memory = (mode & MODE_MEMORY) != 0;
  in->pairs = (mode & MODE_PAIRS) != 0 || strcmp(r->interpreter, "pypy") == 0;
  r->lines = !in->pairs && (mode & MODE_LINES) != 0;
  return GO;
}

/* Seconds, microseconds, zone. */
static Step timestamp (Input *in, uint64_t *us) {
  uint64_t seconds, micro;
  if (!getword(in, &seconds) || !getword(in, &micro) ||
      source_read(in->source, NULL, 8) < 8)
    return ended(in);
  *us = seconds * 1000000 + micro;
  return GO;
}

static Step meta (Input *in) {
  char key[64];
  size_t nkey, nvalue;
  uint64_t leftkey, left;
  if (!getstring(in, key, sizeof(key) - 1, &nkey, &leftkey) ||
      !getstring(in, in->value, READER_MAXMETA - 1, &nvalue, &left))
    return ended(in);
  key[nkey] = '\0';
  in->value[nvalue] = '\0';
  if (leftkey == 0 && !readersum_meta(&in->sum, key, in->value, nvalue))
    return damaged(in, "bad details");
  return GO;
}

static Step name (Input *in) {
  char text[READER_MAXNAME + 1];
  uint64_t id, left;
  size_t n;
  if (!getword(in, &id) || !getstring(in, text, READER_MAXNAME, &n, &left))
    return ended(in);
  text[n] = '\0';
  readersum_name(&in->sum, id, text);
  return GO;
}

/* Interns the 'n' words of a stack (innermost first in the file). */
static uint32_t stacknode (Input *in, size_t n) {
  Reading *r = in->sum.r;
  const uint64_t *w = in->words;
  uint32_t node = 0;
  size_t i;
  if (in->pairs) {
    for (i = n; i > 1; i -= 2) {
      if (w[i - 2] != 6)  /* assembler: within the frame before */
        node = readersum_frame(&in->sum, node, w[i - 1], 0);
    }
  }
  else if (r->lines) {
    for (i = n & ~(size_t)1; i > 1; i -= 2)
      node = readersum_frame(&in->sum, node, w[i - 1], (uint32_t)w[i - 2]);
  }
  else {
    for (i = n; i > 0; i--)
      node = readersum_frame(&in->sum, node, w[i - 1], 0);
  }
  return node;
}

/* The word before the depth: a count of 1, or from version 7 a time in us. */
static int lead (Input *in, uint64_t *us) {
  uint64_t w;
  double seconds;
  *us = 0;
  if (!getword(in, &w))
    return -1;
  if (in->sum.r->version < 7)
    return w == 1;
  memcpy(&seconds, &w, sizeof(seconds));
  if (seconds > 0 && seconds < 1e12)
    *us = (uint64_t)(seconds * 1e6);
  return 1;
}

static Step stack (Input *in, int allocation) {
  uint64_t us, depth, ignored;
  uint32_t kind = READER_UNKNOWN;
  size_t n;
  int ok = lead(in, &us);
  if (ok <= 0)
    return ok < 0 ? ended(in) : damaged(in, "a stack whose count is not 1");
  if (!getword(in, &depth))
    return ended(in);
  if (depth > READER_MAXDEPTH)
    return damaged(in, "a stack deeper than 65536 words");
  n = (size_t)depth;
  if (!getwords(in, n) || (in->threads && !getword(in, &ignored)) ||
      (in->memory && !getword(in, &ignored)))
    return ended(in);
  if (!allocation && in->sum.r->own && in->sum.r->lines && n >= 2 &&
      readersum_typeframe(in->words[1], &kind)) {
    /* the leaf is the type */
    memmove(in->words, in->words + 2, (n - 2) * sizeof(*in->words));
    n -= 2;
    allocation = 1;
  }
  readersum_stack(&in->sum, stacknode(in, n), kind, us, allocation);
  return GO;
}

static Step objects (Input *in) {
  uint64_t us, depth;
  int ok = lead(in, &us);
  if (ok <= 0)
    return ok < 0 ? ended(in) : damaged(in, "a record whose count is not 1");
  if (!getword(in, &depth))
    return ended(in);
  if (depth > READER_MAXDEPTH)
    return damaged(in, "a record of more than 65536 words");
  if (!getwords(in, (size_t)depth))
    return ended(in);
  readersum_objects(&in->sum, us, in->words, (size_t)depth);
  return GO;
}

/* What follows the trailer is no part of the log, but for its checksum. */
static Step trailer (Input *in) {
  Reading *r = in->sum.r;
  if (r->version >= 5 && timestamp(in, &r->ended) == STOP)
    return STOP;
  if (source_read(in->source, NULL, 1) == 0 &&
      source_failure(in->source) != NULL)
    return ended(in);
  r->complete = 1;
  return STOP;
}

/* ---------------------------------------------------------------- file -- */

/* The five words. Returns a reason why this is no log to read, or NULL. */
static const char *firstwords (Input *in) {
  unsigned char b[16];
  uint64_t w[3];
  size_t n = source_read(in->source, b, 16);
  const char *failure = source_failure(in->source);
  if (n < 16)
    return failure != NULL ? failure
           : n == 0 ? "the file is empty" : "not a VMProf log (too short)";
  if (b[4] == 3)
    return "a 32-bit VMProf log; only 64-bit ones can be read";
  if (b[7] == 3 || b[15] == 3)
    return "a big-endian VMProf log; only little-endian ones can be read";
  if (memcmp(b, "\0\0\0\0\0\0\0\0\3\0\0\0\0\0\0\0", 16) != 0)
    return "not a VMProf log";
  if (!getword(in, &w[0]) || !getword(in, &w[1]) || !getword(in, &w[2]) ||
      w[0] != 0)
    return "not a VMProf log";
  return NULL;
}

static Step record (Input *in) {
  unsigned char marker;
  in->record = source_offset(in->source);
  if (source_read(in->source, &marker, 1) < 1)
    return source_failure(in->source) != NULL
           ? ended(in) : damaged(in, "the log ends without its trailer");
  switch (marker) {
    case 0x01: return stack(in, 0);
    case 0x02: case 0x08: return name(in);
    case 0x03: return trailer(in);
    case 0x05: return header(in);
    case 0x06: return timestamp(in, &in->sum.r->started);
    case 0x07: return meta(in);
    case 0x09: return stack(in, 1);
    case 0x0a: return objects(in);
    default: {
      char what[40];
      sprintf(what, "an unknown record (0x%02x)", marker);
      return damaged(in, what);
    }
  }
}

/* Everything after opening; a reason why nothing was read, or NULL. */
static const char *readall (Input *in) {
  const char *reason = firstwords(in);
  if (reason != NULL)
    return reason;
  while (record(in) == GO) {
    if (readersum_failed(&in->sum))
      return "not enough memory";
  }
  in->sum.r->offset = source_offset(in->source);
  in->sum.r->packed = source_packed(in->source);
  if (!in->header)
    return "not a VMProf log (no header)";
  return readersum_finish(&in->sum) ? NULL : "not enough memory";
}

Reading *reader_read (const char *path, char *err, size_t errsize) {
  Input in;
  const char *reason = "not enough memory";
  memset(&in, 0, sizeof(in));
  in.source = source_open(path);
  if (in.source == NULL)
    reason = strerror(errno);
  else {
    in.words = malloc(READER_MAXDEPTH * sizeof(*in.words));
    in.value = malloc(READER_MAXMETA);
    if (in.words != NULL && in.value != NULL && readersum_start(&in.sum))
      reason = readall(&in);
    source_close(in.source);
  }
  free(in.words);
  free(in.value);
  readersum_end(&in.sum);
  if (reason == NULL)
    return in.sum.r;
  if (in.sum.r != NULL)
    reader_free(in.sum.r);
  snprintf(err, errsize, "cannot read profile '%s': %s", path, reason);
  return NULL;
}
