/* SPDX-License-Identifier: MIT */
/* Encodes heap snapshots (dump.h). */
#include "heapformat.h"
#include "dump.h"
#include "mallocs.h"
#include "tracker.h"

#include <stdio.h>
#include <string.h>

#include "binding.h"

/* Passes the buffer to the sink. Returns 0 if the sink stops the walk. */
static int dump_drain (Dump *d) {
  int ok = d->n == 0 || d->sink(d->ud, d->buffer, d->n);
  d->n = 0;
  return ok;
}

/* Makes space for DUMP_LONGEST bytes. Returns 0 if the sink stops the walk. */
static int dump_room (Dump *d) {
  return d->n + DUMP_LONGEST <= sizeof(d->buffer) || dump_drain(d);
}

static void byte (Dump *d, unsigned b) {
  d->buffer[d->n++] = (unsigned char)b;
}

/* Writes a number in LEB128. */
static void dump_varint (Dump *d, uint64_t n) {
  for (; n >= 0x80; n >>= 7)
    byte(d, (unsigned)n | 0x80);
  byte(d, (unsigned)n);
}

/* Writes a signed number in zigzag encoding: 0, -1, 1, -2 become 0, 1, 2, 3. */
static void distance (Dump *d, int64_t n) {
  dump_varint(d, ((uint64_t)n << 1) ^ (uint64_t)(n >> 63));
}

static uint64_t dump_word (const void *p) {
  return (uint64_t)(uintptr_t)p;
}

/* Writes the address p as its distance from the address 'from', in units of 8 bytes. */
static void address (Dump *d, uint64_t p, uint64_t from) {
  distance(d, (int64_t)(p >> 3) - (int64_t)(from >> 3));
}

/* Writes HEAP_NONE if p is NULL, else 1 + the zigzag-encoded distance of p from the address 'from',
   in units of 8 bytes. */
static void optional (Dump *d, const void *p, uint64_t from) {
  if (p == NULL)
    byte(d, HEAP_NONE);
  else
    dump_varint(d, 1 + (((uint64_t)((int64_t)(dump_word(p) >> 3) - (int64_t)(from >> 3)) << 1) ^
                        (uint64_t)(((int64_t)(dump_word(p) >> 3) - (int64_t)(from >> 3)) >> 63)));
}

/* Writes the length of a text, then its bytes. Truncates the text to HEAP_TEXT bytes. */
static void dump_text (Dump *d, const char *s, size_t n) {
  if (n > HEAP_TEXT)
    n = HEAP_TEXT;
  dump_varint(d, n);
  memcpy(d->buffer + d->n, s, n);
  d->n += n;
}

void dump_start (Dump *d) {
  memcpy(d->buffer, HEAPFORMAT_MAGIC, HEAPFORMAT_MAGICSIZE);
  d->n = HEAPFORMAT_MAGICSIZE;
}

void dump_meta (Dump *d, const char *key, const char *value) {
  if (!dump_room(d))
    return;
  byte(d, HEAP_META);
  dump_text(d, key, strlen(key) < 32 ? strlen(key) : 32);
  dump_text(d, value, strlen(value));
}

void dump_number (Dump *d, const char *key, uint64_t n) {
  char digits[24];
  snprintf(digits, sizeof(digits), "%llu", (unsigned long long)n);
  dump_meta(d, key, digits);
}

void dump_code (Dump *d, const void *code, const char *name) {
  if (!dump_room(d)) return;
  byte(d, HEAP_CODE);
  dump_varint(d, dump_word(code));
  dump_text(d, name, strlen(name));
}

static int dump_kindof (luaN_Kind kind) {
  switch (kind) {
    case LUAN_KSTRING: return HEAP_STRING;
    case LUAN_KLCLOSURE: return HEAP_FUNCTION;
    case LUAN_KCCLOSURE: return HEAP_CFUNCTION;
    case LUAN_KUPVALUE: return HEAP_UPVALUE;
    case LUAN_KUSERDATA: return HEAP_USERDATA;
    case LUAN_KTHREAD: return HEAP_THREAD;
    case LUAN_KPROTO: return HEAP_PROTO;
    default: return HEAP_TABLE;
  }
}

/* Writes an object. luaN_walk calls this function for each object. Returns 0 to stop the walk. */
static int object (void *ud, const luaN_Object *o) {
  Dump *d = ud;
  uint64_t me = dump_word(o->object);
  int kind = dump_kindof(o->kind);
  if (!dump_room(d))
    return 0;
  byte(d, HEAP_OBJECT + (unsigned)kind);
  address(d, me, d->last);
  dump_varint(d, o->size);
  switch (kind) {
    case HEAP_STRING:
      dump_varint(d, o->length);
      dump_text(d, o->text, o->length);
      break;
    case HEAP_FUNCTION: optional(d, o->function, me); break;
    case HEAP_CFUNCTION: dump_varint(d, dump_word(o->function)); break;
    case HEAP_THREAD: byte(d, o->main != 0); break;
    case HEAP_PROTO:
      dump_varint(d, (uint64_t)o->line);
      optional(d, o->name, me);
      optional(d, o->source, me);
      break;
    default: break;
  }
  d->last = d->from = me;
  d->index = 0;
  d->objects++;
  d->bytes += o->size;
  return 1;
}

static int dump_edge (void *ud, const luaN_Edge *e) {
  Dump *d = ud;
  uint64_t from = dump_word(e->from);
  int code = e->kind == LUAN_ESTACK && e->code != NULL;
  if (!dump_room(d))
    return 0;
  if (from != d->from) {
    byte(d, HEAP_FROM);
    dump_varint(d, from >> 3);
    d->from = from;
    d->index = 0;
  }
  byte(d, HEAP_EDGE + (code ? HEAP_ECODE : (unsigned)e->kind));
  address(d, dump_word(e->to), from);
  switch (e->kind) {
    case LUAN_EINDEX:
      distance(d, (int64_t)((uint64_t)e->index - (uint64_t)d->index));
      d->index = e->index;
      break;
    case LUAN_EFIELD: address(d, dump_word(e->key), from); break;
    case LUAN_EENTRY: optional(d, e->key, from); break;
    case LUAN_EWEAKKEY: address(d, dump_word(e->in), from); break;
    case LUAN_EUPVALUE:
      distance(d, e->index);
      optional(d, e->key, from);
      break;
    case LUAN_ELOCAL:
      address(d, dump_word(e->key), from);
      optional(d, e->in, from);
      break;
    case LUAN_ESTACK:
      distance(d, e->index + 1);
      if (code) dump_varint(d, dump_word(e->code));
      else optional(d, e->in, from);
      break;
    case LUAN_EROOT: case LUAN_EUSERVALUE: case LUAN_ECONSTANT:
      distance(d, e->index);
      break;
    default: break;
  }
  d->edges++;
  return 1;
}

/* {== samples ========================================================== */

/* Hash table that maps a function and a line to the number of their allocation site. */
typedef struct Sites {
  struct { uint64_t key; uint32_t number; } *slots;  /* number 0: the slot is free */
  size_t mask, bytes;	/* number of slots - 1; size of 'slots' in bytes */
  uint32_t n;		/* number of allocation sites */
} Sites;

/* Writes a HEAP_SITE record, which describes an allocation site. Calls dump_room twice, because the
   record may exceed DUMP_LONGEST. */
static void site (Dump *d, const BirthFunction *f, uint32_t line) {
  if (!dump_room(d))
    return;
  byte(d, HEAP_SITE);
  dump_text(d, f->name, strlen(f->name));
  if (!dump_room(d))
    return;
  dump_text(d, f->source, strlen(f->source));
  dump_varint(d, (uint64_t)(f->line > 0 ? f->line : 0));
  dump_varint(d, line);
}

/* Returns the number of the allocation site of a sample; writes the site if it is new. Returns 0 if
   the function that allocated is unknown. */
static uint32_t sitenumber (Dump *d, Sites *s, const Birth *b) {
  const BirthFunction *f = births_named(&d->tracker->functions, b->function);
  uint64_t key = (uint64_t)b->function << 32 | b->line;
  size_t i = (size_t)((key ^ key >> 29) * UINT64_C(0x9e3779b97f4a7c15) >> 32) & s->mask;
  if (f == NULL)
    return 0;
  for (; s->slots[i].number != 0; i = (i + 1) & s->mask)
    if (s->slots[i].key == key)
      return s->slots[i].number;
  site(d, f, b->line);
  s->slots[i].key = key;
  return s->slots[i].number = ++s->n;
}

/* Writes the allocation sample *b of the object at the address 'owner'. */
static void dump_sample (Dump *d, Sites *s, const void *owner, const Birth *b) {
  uint32_t number_;
  /* Skips samples without an object, and samples of native memory. */
  if (owner == NULL || mallocs_isowner(owner))
    return;
  number_ = sitenumber(d, s, b);
  if (!dump_room(d))
    return;
  byte(d, HEAP_SAMPLE);
  address(d, dump_word(owner), d->last);
  dump_varint(d, number_);
  dump_varint(d, births_age(b, d->time));
  dump_varint(d, b->bytes > 0 ? (uint64_t)b->bytes : 0);
  d->last = dump_word(owner);
}

/* Writes the samples whose objects are not known to be dead. Returns 0 if out of memory. */
static int samples (Dump *d) {
  const Tracker *t = d->tracker;
  size_t n = t->followed.n + t->pending.n, i;
  Sites s = {NULL, 15, 0, 0};
  while (s.mask < 2 * n)
    s.mask = 2 * s.mask + 1;
  s.bytes = (s.mask + 1) * sizeof(*s.slots);
  if ((s.slots = d->memory(d->ud, NULL, 0, s.bytes)) == NULL)
    return 0;
  memset(s.slots, 0, s.bytes);
  d->last = 0;
  for (i = 0; i < t->followed.n; i++)
    dump_sample(d, &s, t->followed.samples[i].owner, &t->followed.samples[i].birth);
  for (i = 0; i < t->pending.n; i++)
    if (!t->pending.samples[i].died)
      dump_sample(d, &s, t->pending.samples[i].owner, &t->pending.samples[i].birth);
  d->memory(d->ud, s.slots, s.bytes, 0);
  return 1;
}

/* }===================================================================== */

static void *dump_memory (void *ud, void *block, size_t old, size_t size) {
  Dump *d = ud;
  return d->memory(d->ud, block, old, size);
}

int dump_walk (Dump *d, lua_State *L) {
  const luaN_Walker walker = {d, dump_memory, object, dump_edge, NULL, 0, NULL, NULL};
  int result;
  if (!dump_drain(d))
    return LUAN_STOPPED;
  d->from = 0;
  result = luaN_walk(L, &walker);
  if (result != LUAN_WALKED || !dump_room(d))
    return result != LUAN_WALKED ? result : LUAN_STOPPED;
  if (d->tracker != NULL && !samples(d))
    return LUAN_NOMEMORY;
  if (!dump_room(d))
    return LUAN_STOPPED;
  byte(d, HEAP_END);
  dump_varint(d, d->objects);
  dump_varint(d, d->edges);
  dump_varint(d, d->bytes);
  return dump_drain(d) ? LUAN_WALKED : LUAN_STOPPED;
}
