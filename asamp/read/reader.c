/* SPDX-License-Identifier: MIT */
/* Reads the records of a log (reader.h). Record types are in vmprof.h, limits in bounds.h. */
#include "reader.h"
#include "sample.h"
#include "bytes.h"
#include "frameids.h"
#include "readeremit.h"
#include "readerholders.h"
#include "readerlife.h"
#include "readermeta.h"
#include "readername.h"
#include "readerstack.h"
#include "source.h"
#include "vmprof.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Smallest number of bytes of the log between two calls of the client's callback 'progress'. */
#define PROGRESS	(4u << 20)

/* A frame of the stack that was read last. */
typedef struct PathFrame {
  uint64_t id;         /* id of the frame; in asamp's files the id of the first function with the
                          same name (aliases.h) */
  uint32_t line;
  uint32_t node;       /* call tree node of the frame */
} PathFrame;

/* Direct-mapped cache from stacks to call tree nodes. A stack in the cache costs one lookup instead
   of one per frame. */
#define KNOWN		BOUND(1024, 4)  /* number of stacks whose call tree nodes are cached */
/* Longest stack that is cached with its call tree node, words. A longer stack costs a lookup for
   each frame. */
#define KNOWNWORDS	BOUND(128, 16)

typedef struct Known {
  uint32_t node;
  unsigned char words[8 * KNOWNWORDS];
} Known;

/* An open file. Offsets are in the decompressed log. */
typedef struct Input {
  Source *source;
  ReaderState state;
  uint64_t record;     /* offset of the current record, bytes */
  uint64_t progressed;       /* offset at the last call of the callback 'progress', bytes */
  int header;          /* 1: the header record was read */
  /* Layout of all stack records of the file. 0: the records do not have the word.
     memory   1: the last word of a record is the number of resident bytes of the process
     pairs    1: a frame has a word with its kind before the word with its address, as in PyPy's
              files
     threads  1: the word after the frames is the number of the thread (in asamp's files: of the
              Lua state) */
  int memory, pairs, threads;
  size_t word, address;  /* sizes of a number and of an address in the file, bytes */
  unsigned char *wide;   /* buffer for the addresses of a record, extended from 32 to 64 bits */
  PathFrame *path;     /* frames of the stack that was read last, outermost first */
  size_t npath;        /* number of frames in 'path' */
  /* Elements of the cache; 'nknown' shows which of them are in use. The array is not cleared when
     it is allocated, so that a short profile touches few pages. */
  Known *known;
  uint32_t nknown[KNOWN];  /* number of words of each cached stack; 0: no stack */
  char *value;         /* buffer for the value of a meta record */
} Input;

/* Result of reading a record. STOP: the log ends or is damaged. */
typedef enum { STOP, GO } Step;

/* Sets ReadProfile.message from the position of the record that cannot be read, and a reason.
   Returns STOP. */
static Step damaged (Input *in, const char *what) {
  ReadProfile *r = in->state.r;
  snprintf(r->message, sizeof(r->message), "cannot be read after byte %llu of the log: %s",
           (unsigned long long)in->record, what);
  return STOP;
}

/* Sets ReadProfile.message for a log that ends within a record. Returns STOP. */
static Step reader_ended (Input *in) {
  const char *failure = source_failure(in->source);
  return damaged(in, failure != NULL ? failure
                                     : "the file ends inside a record");
}

/* Reads a number of 8 or 4 bytes into *w. Returns 0 at the end of the data. */
static int getnumber (Input *in, size_t size, uint64_t *w) {
  const unsigned char *b = source_take(in->source, size);
  if (b == NULL)
    return 0;
  *w = size == 8 ? bytes_getword(b) : bytes_gethalf(b);
  return 1;
}

/* Reads n addresses and extends them to 8 bytes each. The result is valid until the next read.
   Returns NULL at the end of the data, or if out of memory (then sets 'failed'). */
static const unsigned char *addresses (Input *in, size_t n) {
  const unsigned char *b = source_take(in->source, in->address * n);
  size_t i;
  if (b == NULL || in->address == 8)
    return b;
  if (in->wide == NULL) {
    in->wide = calloc(READER_MAXDEPTH + 2, 8);
    if (in->wide == NULL) {
      in->state.failed = 1;
      return NULL;
    }
  }
  for (i = 0; i < n; i++)
    memcpy(in->wide + 8 * i, b + 4 * i, 4);
  return in->wide;
}

/* Reads a string. Stores its first 'room' bytes in 'to', without a NUL, and skips the rest. Sets *n
   and *left to the numbers of stored and skipped bytes. Returns 0 at the end of the data. */
static int getstring (Input *in, char *to, size_t room, size_t *n, uint64_t *left) {
  uint64_t length;
  if (!getnumber(in, in->word, &length) || length > INT64_MAX)
    return 0;
  *n = length < room ? (size_t)length : room;
  *left = length - *n;
  if (source_read(in->source, to, *n) < *n)
    return 0;
  return source_read(in->source, NULL, *left) == *left;
}

/* Reads the header record. A second header record is damage. */
static Step header (Input *in) {
  ReadProfile *r = in->state.r;
  unsigned char b[3];
  int mode = 0;
  if (in->header)
    return damaged(in, "the log contains a second header");
  if (source_read(in->source, b, 2) < 2)
    return reader_ended(in);
  r->version = b[0] << 8 | b[1];
  if (r->version > 7)
    return damaged(in, "the VMProf version of the file is above 7; use a newer version of asamp");
  if (r->version >= 4) {
    if (source_read(in->source, b, 1) < 1)
      return reader_ended(in);
    mode = b[0];
  }
  else if (r->version == 3)
    mode = VMPROF_MEMORY;
  if (source_read(in->source, b, 1) < 1 || source_read(in->source, r->interpreter, b[0]) < b[0])
    return reader_ended(in);
  r->interpreter[b[0]] = '\0';
  /* clears the cache: stacks that were read before the header may have another layout */
  memset(in->nknown, 0, sizeof(in->nknown));
  in->header = 1;
  in->threads = r->version >= 1;
  in->memory = (mode & VMPROF_MEMORY) != 0;
  in->pairs = (mode & VMPROF_PAIRS) != 0 || strcmp(r->interpreter, "pypy") == 0;
  r->lines = !in->pairs && (mode & VMPROF_LINES) != 0;
  r->native = (mode & VMPROF_NATIVE) != 0;
  return GO;
}

/* Reads a time stamp (seconds, microseconds, time zone) and sets *us to us since the epoch. */
static Step timestamp (Input *in, uint64_t *us) {
  const unsigned char *b = source_take(in->source, 24);
  if (b == NULL)
    return reader_ended(in);
  *us = bytes_getword(b) * 1000000 + bytes_getword(b + 8);
  return GO;
}

/* Reads a meta record, a key and a value. Ignores keys above 63 bytes. */
static Step reader_meta (Input *in) {
  char key[64];
  size_t nkey, nvalue;
  uint64_t leftkey, left;
  if (!getstring(in, key, sizeof(key) - 1, &nkey, &leftkey) ||
      !getstring(in, in->value, READER_MAXMETA - 1, &nvalue, &left))
    return reader_ended(in);
  key[nkey] = '\0';
  in->value[nvalue] = '\0';
  in->state.r->left[LEFT_METAS] += left > 0;
  if (leftkey == 0 && !readermeta_read(&in->state, key, in->value, nvalue))
    return damaged(in, "the details of a sample, such as its size, are malformed");
  return GO;
}

/* Reads the name of a frame id. */
static Step reader_name (Input *in) {
  char text[READER_MAXNAME + 1];
  uint64_t id, left;
  size_t n;
  if (!getnumber(in, in->address, &id) || !getstring(in, text, READER_MAXNAME, &n, &left))
    return reader_ended(in);
  in->state.r->left[LEFT_LONGNAMES] += left > 0;
  readername_add(&in->state, id, text, n);
  return GO;
}

/* Sets in->path[depth] (0: outermost frame) to a frame and its call tree node. 'same' 1: the frames
   path[0] to path[depth - 1] are equal to those of the previous stack. If 'same' is 1 and this
   frame is equal, too, returns 1 and keeps path[depth], which saves a lookup in the tree. */
static int reader_frame (Input *in, size_t depth, uint64_t id, uint32_t line, int same) {
  PathFrame *at = &in->path[depth];
  uint32_t parent;
  if ((id & 7) == 0 && id / 8 < IDMAP_NONE && in->state.r->own)
    id = (uint64_t)aliases_of(&in->state.aliases, (uint32_t)(id / 8)) * 8;
  if (same && depth < in->npath && at->id == id && at->line == line)
    return 1;
  parent = depth > 0 ? at[-1].node : 0;
  at->id = id;
  at->line = line;
  at->node = tree_child(&in->state.r->tree, parent, id, line);
  if (at->node == 0 && (parent != 0 || in->state.r->tree.n < TREE_MAXNODES))
    in->state.failed = 1;
  return 0;
}

/* Returns the call tree node of a stack of n words, innermost frame first; 0 for an empty stack. */
static uint32_t internstack (Input *in, const unsigned char *words, size_t n) {
  size_t i, depth = 0;
  int same = 1;
  if (in->pairs) {
    for (i = n; i > 1; i -= 2) {
      const unsigned char *w = words + 8 * (i - 2);
      if (bytes_getword(w) != 6)  /* 6 is PyPy's kind for assembler code: not a frame */
        same = reader_frame(in, depth++, bytes_getword(w + 8), 0, same);
    }
  }
  else if (in->state.r->lines) {
    for (i = n & ~(size_t)1; i > 1; i -= 2) {
      const unsigned char *w = words + 8 * (i - 2);
      same = reader_frame(in, depth++, bytes_getword(w + 8), (uint32_t)bytes_getword(w), same);
    }
  }
  else {
    for (i = n; i > 0; i--)
      same = reader_frame(in, depth++, bytes_getword(words + 8 * (i - 1)), 0, same);
  }
  in->npath = depth;
  return depth > 0 ? in->path[depth - 1].node : 0;
}

/* Returns the call tree node of a stack like internstack, but searches the stack in the cache
   in->known first. */
static uint32_t stacknode (Input *in, const unsigned char *words, size_t n) {
  Known *known;
  uint64_t hash = n;
  size_t i, at;
  if (n == 0 || n > KNOWNWORDS)
    return internstack(in, words, n);
  for (i = 0; i < n; i++)
    hash = (hash ^ bytes_getword(words + 8 * i)) * 0x9e3779b97f4a7c15u;
  at = hash >> 32 & (KNOWN - 1);
  known = &in->known[at];
  if (in->nknown[at] != n || memcmp(known->words, words, 8 * n) != 0) {
    known->node = internstack(in, words, n);
    in->nknown[at] = (uint32_t)n;
    memcpy(known->words, words, 8 * n);
  }
  return known->node;
}

/* Reads the first part of a stack or object record: a time (in versions below 7 the number 1), a
   number n, and n + 'more' words. Sets *seconds to the time (0 in versions below 7), and *n to n.
   Returns the words, valid until the next read; NULL if the record is damaged. */
static const unsigned char *words (Input *in, double *seconds, size_t *n, size_t more) {
  const unsigned char *b;
  uint64_t lead, depth;
  int timed = in->state.r->version >= 7;
  *seconds = 0;
  if (!getnumber(in, timed ? 8 : in->word, &lead) || !getnumber(in, in->word, &depth)) {
    reader_ended(in);
    return NULL;
  }
  if (timed)
    memcpy(seconds, &lead, sizeof(*seconds));
  else if (lead != 1) {
    damaged(in, "a stack has a count other than 1, the only valid value");
    return NULL;
  }
  if (depth > READER_MAXDEPTH) {
    damaged(in, "a stack has more than 65,536 words, the limit");
    return NULL;
  }
  *n = (size_t)depth;
  b = addresses(in, *n + more);
  if (b == NULL)
    reader_ended(in);
  return b;
}

/* Reads a stack record. 'allocation' 1: its marker is VMPROF_GCSTACK, so the sample is an
   allocation. */
static Step reader_stack (Input *in, int allocation) {
  ReadProfile *r = in->state.r;
  double seconds;
  uint64_t thread = 0;
  uint32_t type = 0;
  size_t n;
  const unsigned char *w = words(in, &seconds, &n, (size_t)in->threads + (size_t)in->memory);
  if (w == NULL)
    return STOP;
  r->end.seconds = seconds;
  r->end.unpaired += allocation && in->word == 8 && r->version >= 7;
  if (in->threads)
    thread = bytes_getword(w + 8 * n);
  if (!allocation && r->own && r->lines && n >= 2 &&
      frameids_istype(bytes_getword(w + 8), &type) &&
      (r->version < 7 || profile_iscopy((int)type))) {
    /* The innermost frame is not a function. Its id represents the type of the sampled block or, in
       a sample of copied bytes, the reason of the copy. */
    w += 16;
    n -= 2;
    allocation = 1;
  }
  readerstack_add(&in->state, stacknode(in, w, n), type, seconds, thread, allocation);
  return GO;
}

/* Reads an object record. */
static Step objects (Input *in) {
  struct ReadEnd *end = &in->state.r->end;
  double seconds;
  size_t n, some;
  const unsigned char *w = words(in, &seconds, &n, 0);
  if (w == NULL)
    return STOP;
  some = n > in->state.nstats ? n - in->state.nstats : 0;
  end->unpaired -= some < end->unpaired ? some : end->unpaired;
  end->seconds = seconds;
  readerstack_objects(&in->state, seconds, w, n);
  return GO;
}

/* Reads the trailer, the last record. Then tries to read one more byte, because source.c verifies
   the checksum of a compressed file at its end. */
static Step trailer (Input *in) {
  ReadProfile *r = in->state.r;
  if (r->version >= 5 && timestamp(in, &r->ended) == STOP)
    return STOP;
  if (source_read(in->source, NULL, 1) == 0 && source_failure(in->source) != NULL)
    return reader_ended(in);
  r->complete = 1;
  return STOP;
}

/* ---------------------------------------------------------------- file -- */

/* Reads the first five words of the file and sets the sizes of numbers and addresses. Returns
   NULL, or the reason why the file cannot be read. */
static const char *firstwords (Input *in) {
  const unsigned char *b = source_take(in->source, 8);
  const char *failure = source_failure(in->source);
  uint64_t w[5] = {0, 0, 0, 0, 0};
  int i;
  if (b == NULL)
    return failure != NULL ? failure
           : source_read(in->source, NULL, 1) == 0
           ? "the file is empty" : "the file is not a VMProf log (too short)";
  in->word = bytes_gethalf(b + 4) == 3 ? 4 : 8;
  w[0] = bytes_gethalf(b);
  w[1] = bytes_gethalf(b + 4);
  if (b[7] == 3)
    return "big-endian VMProf logs cannot be read, only little-endian ones";
  for (i = in->word == 4 ? 2 : 1; i < 5; i++) {
    if (!getnumber(in, in->word, &w[i]))
      return "the file is not a VMProf log (too short)";
    if (i == 1 && w[1] >> 56 == 3)
      return "big-endian VMProf logs cannot be read, only little-endian ones";
  }
  if (w[0] != 0 || w[1] != 3 || w[2] != 0)
    return "the file is not a VMProf log";
  in->address = in->word == 4 && w[4] != 1 ? 4 : 8;
  if (w[3] < READER_MAXTIME)
    in->state.r->timeperiod = w[3] * 1000;
  return NULL;
}

/* Reads the next record. Returns STOP at the end of the log or at damage. */
static Step reader_record (Input *in) {
  const unsigned char *marker;
  in->record = source_offset(in->source);
  marker = source_take(in->source, 1);
  if (marker == NULL)
    return source_failure(in->source) != NULL
           ? reader_ended(in) : damaged(in, "the log ends without its last record, the trailer");
  switch (*marker) {
    case VMPROF_STACK: return reader_stack(in, 0);
    case VMPROF_NAME: case VMPROF_NATIVENAME: return reader_name(in);
    case VMPROF_TRAILER: return trailer(in);
    case VMPROF_HEADER: return header(in);
    case VMPROF_TIME: return timestamp(in, &in->state.r->started);
    case VMPROF_META: return reader_meta(in);
    case VMPROF_GCSTACK: return reader_stack(in, 1);
    case VMPROF_OBJECTS: return objects(in);
    default: {
      char what[40];
      sprintf(what, "a record is of unknown kind (0x%02x)", *marker);
      return damaged(in, what);
    }
  }
}

/* Calls the client's callback 'progress' if PROGRESS bytes were read since its last call. */
static void reader_progress (Input *in) {
  ReaderClient *client = in->state.client;
  if (client->progress != NULL && in->record >= in->progressed + PROGRESS) {
    in->progressed = in->record;
    client->progress(client->progressud, source_fraction(in->source));
  }
}

/* Sets ReadProfile.live and the message if the log has no end because a process is still writing
   it. */
static void live (Input *in) {
  ReadProfile *r = in->state.r;
  char by[40] = "";
  r->live = !r->complete && source_live(in->source);
  if (!r->live)
    return;
  if (r->pid != 0)
    snprintf(by, sizeof(by), " by process %llu", (unsigned long long)r->pid);
  snprintf(r->message, sizeof(r->message), "still being written%s, read up to byte "
           "%llu of the log", by, (unsigned long long)in->record);
}

/* Delivers the events that remain at the end of the file, and completes the ReadProfile. Returns
   NULL or the reason of a failure. */
static const char *reader_finish (ReaderState *s) {
  ReadProfile *r = s->r;
  readeremit_head(s);
  readerstack_giveup(s);
  readerlife_finish(s);
  readerholders_finish(s);
  if (!r->own)
    r->scale = r->period > 0 ? r->period : 1;
  if (s->summed[0] > READER_MAXSUM / r->scale)
    s->toomuch = 1;
  if (r->ended > r->started && (!r->timed || r->ended - r->started > r->duration))
    r->duration = r->ended - r->started;
  if (!readername_finish(s))
    return "not enough memory";
  r->left[LEFT_NODES] = r->tree.left;
  r->left[LEFT_NAMES] = r->text.left;
  r->left[LEFT_ALIASES] = s->aliases.left;
  return readerstate_failure(s);
}

/* Reads the opened file. Returns NULL or the reason why there is no result. */
static const char *readall (Input *in) {
  const char *reason = firstwords(in);
  if (reason != NULL)
    return reason;
  while (reader_record(in) == GO) {
    reason = readerstate_failure(&in->state);
    if (reason != NULL)
      return reason;
    reader_progress(in);
  }
  in->state.r->offset = source_offset(in->source);
  in->state.r->end.intact = in->record;
  in->state.r->end.statistics = in->state.nstats;
  in->state.r->packed = source_packed(in->source);
  live(in);
  if (!in->header)
    return "the file is not a VMProf log (no header)";
  return reader_finish(&in->state);
}

ReadProfile *reader_read (const char *path, ReaderClient *client, char *err, size_t errsize) {
  Input in;
  const char *reason = "not enough memory";
  char other[SOURCE_OTHER] = "";
  memset(&in, 0, sizeof(in));
  in.source = source_open(path);
  if (in.source == NULL)
    reason = strerror(errno);
  else {
    in.path = malloc(READER_MAXDEPTH * sizeof(*in.path));
    in.value = malloc(READER_MAXMETA);
    in.known = malloc(KNOWN * sizeof(*in.known));
    if (in.path != NULL && in.value != NULL && in.known != NULL &&
        readerstate_open(&in.state, client))
      reason = readall(&in);
    if (!in.header)
      source_other(in.source, other);
    source_close(in.source);
  }
  free(in.path);
  free(in.known);
  free(in.wide);
  free(in.value);
  readerstate_close(&in.state);
  if (reason == NULL)
    return in.state.r;
  if (in.state.r != NULL)
    readprofile_free(in.state.r);
  if (*other == '\0' && strncmp(reason, "the ", 4) == 0)
    strcpy(other, "; make a new profile");
  snprintf(err, errsize, "cannot read profile '%s': %s%s", path, reason, other);
  return NULL;
}
