/* SPDX-License-Identifier: MIT */
/* Implements the flight recorder (ring.h). */
#include "ring.h"
#include "bounds.h"
#include "bytes.h"
#include "clock.h"
#include "frameids.h"
#include "idmap.h"
#include "list.h"
#include "past.h"
#include "strtab.h"
#include "zmemory.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define PIECE_BYTES	BOUND(256u << 10, 2048)  /* size of the open buffer, bytes: the events that
                                                    are not compressed yet */
#define PIECES		16            /* a piece of compressed events covers at most 1/PIECES of the
                                         kept period or 1 s, whichever is longer */

/* A piece of the kept period: successive events, usually compressed. */
typedef struct Piece {
  struct Piece *next;
  uint64_t start, end;  /* time range of the events in the piece, ns */
  size_t n, raw;        /* n: bytes of 'data'. raw: bytes of the events before compression. If both
                           are equal, 'data' is not compressed */
  unsigned char data[];
} Piece;

/* Names for a native address: offsets in Ring.texts of its symbol and its object file. */
typedef struct NativeName {
  uint32_t symbol, file;
} NativeName;

struct Ring {
  RingLimits limits;
  Past *past;
  Piece *first, *last;
  size_t bytes;         /* bytes of all pieces in the list from 'first' to 'last', as stored:
                           usually compressed; atomic */
  Bytes open;           /* the newest events, not compressed yet */
  /* Times in ns.
     start  all events in 'open', the buffer of the newest events, happened at this time or later
     now    time of the last call of ring_put, which adds an event */
  uint64_t start, now;
  int isrest;           /* 1: events were dropped. 'past' keeps those of their data to which later
                           events refer, such as names. */
  z_stream pack, unpack;
  int packs, unpacks;
  IdMap natives;        /* maps native addresses to indexes in 'names' */
  NativeName *names;
  size_t nnames, namesize;
  StrTab texts;
  uint64_t left;
  int failed;
  void (*resolve)(void *ud, uint64_t address, char *symbol, size_t symbolsize,
                  char *file, size_t filesize);
  void *resolve_ud;
};

/* -------------------------------------------------------------- names -- */

static uint32_t ring_puttext (Ring *r, const char *text) {
  return strtab_put(&r->texts, text, strlen(text));
}

static void meet (Ring *r, uint64_t id) {
  char symbol[512] = "", file[1024] = "";
  uint64_t address = id & ~(uint64_t)1;
  if ((id & 1) == 0 || frameids_isnobodys(id) || idmap_get(&r->natives, address) != IDMAP_NONE)
    return;
  if (r->nnames == RING_NATIVES) {
    r->left++;
    return;
  }
  if (!list_grow(&r->names, r->nnames, &r->namesize, sizeof(*r->names)) ||
      !idmap_set(&r->natives, address, (uint32_t)r->nnames)) {
    r->failed = 1;
    return;
  }
  r->resolve(r->resolve_ud, address, symbol, sizeof(symbol), file, sizeof(file));
  r->names[r->nnames].symbol = ring_puttext(r, symbol);
  r->names[r->nnames++].file = ring_puttext(r, file);
}

static void ring_known (void *ud, uint64_t address, char *symbol, size_t symbolsize, char *file,
                        size_t filesize) {
  const Ring *r = ud;
  uint32_t i = idmap_get(&r->natives, address);
  if (i == IDMAP_NONE)
    return;
  strncat(symbol, r->texts.text + r->names[i].symbol, symbolsize - 1);
  strncat(file, r->texts.text + r->names[i].file, filesize - 1);
}

static void meetall (Ring *r, const Event *event) {
  const void *body = event + 1;
  const ProfileFrame *frames = event->type == EVENT_SAMPLE ? ((const SampleEvent *)body)->frames
                                                           : ((const TimeEvent *)body)->frames;
  size_t i;
  if (event->type != EVENT_SAMPLE && event->type != EVENT_TIME && event->type != EVENT_STACK)
    return;
  for (i = 0; i < event->n; i++)
    meet(r, frames[i].id);
}

/* ------------------------------------------------------------- pieces -- */

/* Calls f for each event in the n bytes of 'data'. */
static void each (const unsigned char *data, size_t n, void (*f) (void *ud, const Event *e),
                  void *ud) {
  size_t at = 0;
  while (at < n) {
    const Event *event = (const Event *)(data + at);
    f(ud, event);
    at += event->size;
  }
}

static void taken (void *ud, const Event *event) {
  past_take(ud, event);
}

/* Returns the uncompressed events of a piece of the ring: p->data or a copy, which the caller
   frees; NULL if out of memory. */
static unsigned char *unpacked (Ring *r, Piece *p) {
  unsigned char *to;
  if (p->n == p->raw)
    return p->data;
  to = spare_malloc(p->raw);
  if (to == NULL)
    return NULL;
  inflateReset(&r->unpack);
  r->unpack.next_in = p->data;
  r->unpack.avail_in = (uInt)p->n;
  r->unpack.next_out = to;
  r->unpack.avail_out = (uInt)p->raw;
  if (inflate(&r->unpack, Z_FINISH) == Z_STREAM_END)
    return to;
  free(to);
  return NULL;
}

static int eachof (Ring *r, Piece *p, void (*f) (void *ud, const Event *e), void *ud) {
  unsigned char *data = unpacked(r, p);
  if (data == NULL)
    return 0;
  each(data, p->raw, f, ud);
  if (data != p->data)
    free(data);
  return 1;
}

static void setbytes (Ring *r, size_t n) {
  __atomic_store_n(&r->bytes, n, __ATOMIC_RELAXED);
}

/* Passes the events of the oldest piece to 'past' and frees the piece. */
static void dropfirst (Ring *r) {
  Piece *p = r->first;
  if (!eachof(r, p, taken, r->past))
    r->failed = 1;
  r->isrest = 1;
  setbytes(r, r->bytes - p->n);
  r->first = p->next;
  if (r->first == NULL)
    r->last = NULL;
  free(p);
}

/* Passes the oldest pieces to 'past' until the others are within the limits (RG2). */
static void trim (Ring *r, uint64_t now) {
  while (r->first != NULL &&
         (r->bytes > r->limits.most ||
          (r->limits.ns > 0 && clock_between(r->first->end, now) > r->limits.ns)))
    dropfirst(r);
}

/* Returns a new piece with the events of the open buffer, compressed if that saves bytes. Returns
   NULL if out of memory. */
static Piece *makepiece (Ring *r) {
  size_t raw = r->open.n;
  Piece *p = malloc(sizeof(*p) + raw), *less;
  if (p == NULL)
    return NULL;
  deflateReset(&r->pack);
  r->pack.next_in = r->open.data;
  r->pack.avail_in = (uInt)raw;
  r->pack.next_out = p->data;
  r->pack.avail_out = (uInt)(raw - 1);
  p->raw = raw;
  if (deflate(&r->pack, Z_FINISH) == Z_STREAM_END)
    p->n = raw - 1 - r->pack.avail_out;
  else {
    memcpy(p->data, r->open.data, raw);
    p->n = raw;
  }
  less = realloc(p, sizeof(*p) + p->n);
  return less != NULL ? less : p;
}

/* Moves the events of the open buffer to a new compressed piece. If there is not enough memory,
   passes all kept events to 'past'. */
static void closepiece (Ring *r) {
  Piece *p;
  if (r->open.n == 0)
    return;
  p = makepiece(r);
  if (p == NULL) {
    while (r->first != NULL)
      dropfirst(r);
    each(r->open.data, r->open.n, taken, r->past);
    r->isrest = 1;
  }
  else {
    p->next = NULL;
    p->start = r->start;
    p->end = r->now;
    *(r->last != NULL ? &r->last->next : &r->first) = p;
    r->last = p;
    setbytes(r, r->bytes + p->n);
  }
  r->open.n = 0;
}

/* --------------------------------------------------------------- whole -- */

void ring_put (Ring *r, const Event *event, uint64_t now) {
  uint64_t part = r->limits.ns / PIECES, longest = part > CLOCK_SECOND ? part : CLOCK_SECOND;
  if (r->open.n > 0 &&
      (r->open.n + event->size > PIECE_BYTES || clock_between(r->start, now) > longest)) {
    closepiece(r);
    trim(r, now);
  }
  if (r->open.n == 0)
    r->start = r->now;
  if (r->resolve != NULL)
    meetall(r, event);
  bytes_add(&r->open, event, event->size);
  r->now = now;
}

uint64_t ring_since (Ring *r, uint64_t now) {
  if (r->limits.ns > 0 && clock_between(r->now, now) > r->limits.ns)
    closepiece(r);
  trim(r, now);
  return r->first != NULL ? r->first->start : r->open.n > 0 ? r->start : now;
}

typedef struct Telling {
  Encoder *e;
  /* 1: leaves out the allocated bytes of states and label sets, because these totals include bytes
     that were allocated before the kept period */
  int isrest;
} Telling;

static void encoded (void *ud, const Event *event) {
  const Telling *t = ud;
  if (t->isrest && (event->type == EVENT_ALLOCATED || event->type == EVENT_LABELLED))
    return;
  if (t->isrest && event->type == EVENT_END) {
    const EndEvent *end = (const EndEvent *)(event + 1);
    encoder_of(t->e, event->state, event->thread);
    encoder_end(t->e, end->time, 0, end->orphans);
  }
  else
    event_encode(event, t->e);
  if (encoder_full(t->e))
    encoder_batch(t->e);
}

void ring_emit (Ring *r, Encoder *e, uint64_t now, RingTotals *totals) {
  Telling t = {e, 0};
  PastTotals past;
  Piece *p;
  totals->ns = clock_between(ring_since(r, now), now);
  t.isrest = r->isrest;
  past_emit(r->past, e, &past);
  totals->samples = past.samples;
  totals->bytes = past.bytes;
  for (p = r->first; p != NULL; p = p->next)
    if (!eachof(r, p, encoded, &t))
      r->failed = 1;
  each(r->open.data, r->open.n, encoded, &t);
}

Ring *ring_new (const RingLimits *limits, EncoderConfig *config, uint64_t now) {
  Ring *r = spare_calloc(1, sizeof(*r));
  if (r == NULL)
    return NULL;
  r->limits = *limits;
  r->now = now;
  r->resolve = config->resolve;
  r->resolve_ud = config->resolve_ud;
  r->past = past_new(config->period, config->mallocs);
  zmemory(&r->pack);
  zmemory(&r->unpack);
  r->packs = deflateInit(&r->pack, 1) == Z_OK;
  r->unpacks = inflateInit(&r->unpack) == Z_OK;
  if (r->past == NULL || !r->packs || !r->unpacks || !strtab_init(&r->texts, PAST_TEXTS)) {
    ring_free(r);
    return NULL;
  }
  if (r->resolve != NULL) {
    config->resolve = ring_known;
    config->resolve_ud = r;
  }
  return r;
}

void ring_free (Ring *r) {
  if (r == NULL)
    return;
  while (r->first != NULL) {
    Piece *next = r->first->next;
    free(r->first);
    r->first = next;
  }
  if (r->packs)
    deflateEnd(&r->pack);
  if (r->unpacks)
    inflateEnd(&r->unpack);
  past_free(r->past);
  bytes_free(&r->open);
  idmap_free(&r->natives);
  free(r->names);
  strtab_free(&r->texts);
  free(r);
}

uint64_t ring_bytes (const Ring *r) {
  return __atomic_load_n(&r->bytes, __ATOMIC_RELAXED);
}

uint64_t ring_left (const Ring *r) {
  return past_left(r->past) + r->left + r->texts.left;
}

int ring_failed (const Ring *r) {
  return r->failed || r->open.failed || r->texts.failed || past_failed(r->past);
}
