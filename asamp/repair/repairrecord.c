/* SPDX-License-Identifier: MIT */
/* Reads and checks records (repairrecord.h). */
#include "repairrecord.h"
#include "details.h"
#include "frameids.h"
#include "framename.h"
#include "hash.h"
#include "objects.h"

#include <string.h>

#define MAXTEXT		(64u << 20)   /* bytes of a text; more are damage */
#define PIECE		65536         /* bytes by which the record grows */
/* asamp's logs: a time is corrected if it is YEAR_S seconds after the previous one, or a first
   one above MOST_S. */
#define YEAR_S		3e7
#define MOST_S		1e10

/* Sets p->fault. Returns REPAIR_DAMAGE. */
static Verdict damage (Repair *p, const char *why) {
  p->fault = why;
  return REPAIR_DAMAGE;
}

/* ------------------------------------------------------------- reading -- */

/* Appends the next n bytes to the record. Returns 0 with 'fault' set on failure. */
static int repairrecord_take (Repair *p, uint64_t n) {
  while (n > 0) {
    size_t step = n < PIECE ? (size_t)n : PIECE;
    unsigned char *to = bytes_grow(&p->record, step);
    if (to == NULL) {
      p->fault = "not enough memory";
      return 0;
    }
    if (source_read(p->source, to, step) < step) {
      p->fault = source_failure(p->source);
      if (p->fault == NULL)
        p->fault = "the file ends inside a record";
      return 0;
    }
    n -= step;
  }
  return 1;
}

/* Reads the word at an offset of the record. */
static uint64_t repairrecord_word (const Repair *p, size_t at) {
  return bytes_getword(p->record.data + at);
}

static void setword (Repair *p, size_t at, uint64_t w) {
  bytes_putword(p->record.data + at, w);
}

/* Appends a length and a text to the record. Sets its offset and length. Returns 0 with 'fault'
   set on failure. */
static int taketext (Repair *p, size_t *at, size_t *n) {
  uint64_t length;
  if (!repairrecord_take(p, 8))
    return 0;
  length = repairrecord_word(p, p->record.n - 8);
  if (length > MAXTEXT) {
    p->fault = "a text is longer than 64 MiB";
    return 0;
  }
  *at = p->record.n;
  *n = (size_t)length;
  return repairrecord_take(p, length);
}

/* Checks the first word of a stack or object record: before version 7 a count of 1, else a
   time. Replaces an invalid time in asamp's logs, and sets *mended. */
static int lead (Repair *p, int *mended) {
  uint64_t w = repairrecord_word(p, p->record.n - 16);
  double s;
  if (p->version < 7)
    return w == 1;
  memcpy(&s, &w, sizeof(s));
  if (p->own && !(s >= p->lead &&
                  s < (p->lead > 0 ? p->lead + YEAR_S : MOST_S))) {
    s = p->lead;
    memcpy(&w, &s, sizeof(w));
    setword(p, p->record.n - 16, w);
    *mended = 1;
  }
  if (p->first == 0)
    p->first = s;
  p->lead = s;
  return 1;
}

/* ------------------------------------------------------------- records -- */

/* The next functions read and check the rest of a record after its marker. */

static Verdict header (Repair *p) {
  const unsigned char *name;
  size_t n;
  if (p->header)
    return damage(p, "it has a second header");
  if (!repairrecord_take(p, 2))
    return REPAIR_DAMAGE;
  p->version = p->record.data[1] << 8 | p->record.data[2];
  if (p->version > 7)
    return damage(p, "its VMProf version is above 7; use a newer asamp");
  if (p->version >= 4) {
    if (!repairrecord_take(p, 1))
      return REPAIR_DAMAGE;
    p->mode = p->record.data[3];
  }
  else if (p->version == 3)
    p->mode = VMPROF_MEMORY;
  if (!repairrecord_take(p, 1) || !repairrecord_take(p, p->record.data[p->record.n - 1]))
    return REPAIR_DAMAGE;
  n = p->version >= 4 ? 5 : 4;
  name = p->record.data + n;
  n = p->record.n - n;
  p->own = n == 3 && memcmp(name, "lua", 3) == 0;
  if (n == 4 && memcmp(name, "pypy", 4) == 0)
    p->mode |= VMPROF_PAIRS;
  if (p->own && p->version == 7)
    p->nstats = OBJECTS_NSTATS;
  p->header = 1;
  return REPAIR_KEEP;
}

/* Replaces invalid words of a stack of n words, in asamp's logs. Returns 1 if it did. */
static int mendframes (Repair *p, size_t at, size_t n) {
  int mended = 0;
  size_t i;
  for (i = 0; i < n; i += 2) {
    if (repairrecord_word(p, at + 8 * i) > INT32_MAX) {
      setword(p, at + 8 * i, 0);
      mended = 1;
    }
    if (repairrecord_word(p, at + 8 * i + 8) == 0 || repairrecord_word(p, at + 8 * i + 8) >> 63) {
      setword(p, at + 8 * i + 8, FRAME_NONE);
      mended = 1;
    }
  }
  return mended;
}

/* Returns 1 if the innermost frame is a kind of block, as of allocation samples before version
   7. */
static int istype (const Repair *p, size_t at, size_t n) {
  uint32_t kind;
  return n >= 2 && frameids_istype(repairrecord_word(p, at + 8), &kind) && kind < KIND_COUNT;
}

static Verdict repairrecord_stack (Repair *p, int marker) {
  int mended = 0;
  uint64_t n;
  if (marker == VMPROF_GCSTACK && p->version < 7)
    return damage(p, "a stack record of version 7 is in an older log");
  if (!repairrecord_take(p, 16))
    return REPAIR_DAMAGE;
  n = repairrecord_word(p, p->record.n - 8);
  if (!lead(p, &mended))
    return damage(p, "the count of a stack is not 1");
  if (n > VMPROF_MAXWORDS)
    return damage(p, "a stack has more than 65,536 words");
  if ((n & 1) && (p->own || (p->mode & VMPROF_PAIRS)))
    return damage(p, "a stack has an odd number of words");
  if (!repairrecord_take(p, 8 * (n + (p->version >= 1) + (p->mode & VMPROF_MEMORY))))
    return REPAIR_DAMAGE;
  if (p->own)
    mended |= mendframes(p, 17, (size_t)n);
  if (marker == VMPROF_GCSTACK || (p->own && p->version < 7 &&
                                   istype(p, 17, (size_t)n)))
    p->samples++;
  else
    p->timesamples++;
  p->stacks += marker == VMPROF_GCSTACK;
  if (p->own && !repairruns_add(&p->runs, hash_bytes(p->record.data, p->record.n)))
    return damage(p, "not enough memory");
  return mended ? REPAIR_MENDED : REPAIR_KEEP;
}

/* Removes the k oldest of n objects, whose stacks are not in the log before them. */
static void dropwords (Repair *p, uint64_t k, size_t n) {
  unsigned char *behind = p->record.data + 17 + 8 * n;
  memmove(behind - 8 * k, behind, 8 * p->nstats);
  p->record.n -= 8 * (size_t)k;
  setword(p, 9, n - k + p->nstats);
}

static Verdict objects (Repair *p) {
  int mended = 0;
  uint64_t n, i;
  if (p->version < 7)
    return damage(p, "an object record of version 7 is in an older log");
  if (!repairrecord_take(p, 16))
    return REPAIR_DAMAGE;
  n = repairrecord_word(p, p->record.n - 8);
  lead(p, &mended);
  if (n > VMPROF_MAXWORDS || n < p->nstats)
    return damage(p, "an object record has an impossible number of words");
  if (!repairrecord_take(p, 8 * n))
    return REPAIR_DAMAGE;
  n -= p->nstats;
  if (p->own && n > p->stacks - p->objects) {
    dropwords(p, n - (p->stacks - p->objects), (size_t)n);
    n = p->stacks - p->objects;
    mended = 1;
  }
  for (i = 0; p->own && i < n; i++) {
    uint64_t w = repairrecord_word(p, 17 + 8 * (size_t)i);
    if (w >> 2 >= KIND_COUNT && w >> 2 != REPAIR_UNKNOWNTYPE) {
      setword(p, 17 + 8 * (size_t)i, (uint64_t)REPAIR_UNKNOWNTYPE << 2 | (w & 3));
      mended = 1;
    }
  }
  if (p->own && p->nstats > 0) {
    size_t at = p->record.n - 8;
    uint64_t state = repairrecord_word(p, at);
    if (state > 3 || (p->state == 3 && state == 1)) {
      setword(p, at, state = 0);
      mended = 1;
    }
    p->state = (int)state;
  }
  p->objects += n;
  return mended ? REPAIR_MENDED : REPAIR_KEEP;
}

static Verdict repairrecord_name (Repair *p) {
  size_t at, n;
  const char *text;
  uint64_t id;
  if (!repairrecord_take(p, 8) || !taketext(p, &at, &n))
    return REPAIR_DAMAGE;
  text = (const char *)p->record.data + at;
  id = repairrecord_word(p, 1);
  if (!bytes_isutf8(text, n))
    return REPAIR_OMIT;
  if (p->own) {
    if (!framename_isours(text, n) || id == 0 || id >> 63 ||
        idmap_get(&p->ids, id) != IDMAP_NONE || !idmap_set(&p->ids, id, 0))
      return REPAIR_OMIT;
  }
  return REPAIR_KEEP;
}

/* --------------------------------------------------------------- metas -- */

/* Sets p->known to 'us' if that is later and valid. */
static void repairrecord_known (Repair *p, uint64_t us) {
  if (us > p->known && us < REPAIR_CENTURY_US)
    p->known = us;
}

/* Checks a text with details, and counts its allocations, outcomes and latest time. Returns 0
   if it must be omitted: it, or an earlier one, does not match its stacks. */
static int details (Repair *p, const char *text, size_t n) {
  Details d;
  Fields line;
  Collected c;
  uint64_t number;
  int64_t change;
  int letter;
  if (!details_split(&d, text, n))
    return 0;
  p->misfit |= !repairruns_fit(&p->runs, &d);
  if (p->misfit)
    return 0;
  while (details_number(&d.times, &number)) {
    p->sampletime += number;
    repairrecord_known(p, p->sampletime);
  }
  while (details_number(&d.sizes, &number))
    p->allocations++;
  while ((letter = details_event(&d.events, &line)) != 0) {
    if (letter == 'f') {
      while (details_number(&line, &number))
        p->fates += number;
    }
    else if (letter == 'g' || letter == 'G') {
      details_collection(&line, p->format, &c);
      p->eventtime += (uint64_t)c.time;
      repairrecord_known(p, p->eventtime);
    }
    else if (letter == 'm' && details_signed(&line, &change)) {
      p->eventtime += (uint64_t)change;
      repairrecord_known(p, p->eventtime);
    }
  }
  return 1;
}

/* Returns 1 if the text is a valid number, and its integer part. */
static int repairrecord_isnumber (const char *s, size_t length, uint64_t *n) {
  size_t i, points = 0;
  *n = 0;
  for (i = 0; i < length; i++) {
    if (s[i] == '.')
      points++;
    else if (s[i] < '0' || s[i] > '9')
      return 0;
    else if (points == 0)
      *n = *n * 10 + (uint64_t)(s[i] - '0');
  }
  return length > 0 && length < 20 && points <= 1 && s[0] != '.';
}

/* Returns the hash of a meta record's key, not 0. */
static uint64_t keyid (const char *key, size_t n) {
  return hash_bytes(key, n) | 1;
}

int repair_haskey (const Repair *p, const char *key) {
  return idmap_get(&p->keys, keyid(key, strlen(key))) != IDMAP_NONE;
}

static int equals (const char *key, size_t n, const char *what) {
  return n == strlen(what) && memcmp(key, what, n) == 0;
}

/* Returns 1 if the meta record is valid; stores values for later. */
static int goodmeta (Repair *p, const char *key, size_t nkey,
                     const char *value, size_t n) {
  uint64_t number;
  if (!bytes_isutf8(key, nkey) || !bytes_isutf8(value, n))
    return 0;
  if (equals(key, nkey, "period") || equals(key, nkey, "sample_allocated_bytes") ||
      equals(key, nkey, "start_time_offset")) {
    if (!repairrecord_isnumber(value, n, &number))
      return 0;
    if (equals(key, nkey, "start_time_offset") && p->lead == 0)
      p->lead = (double)number;
  }
  if (p->own) {
    if (equals(key, nkey, "os") && !equals(value, n, "linux"))
      return 0;
    if (equals(key, nkey, "asamp.format"))
      p->format = details_format(value, n);
    if (equals(key, nkey, "asamp.start") && repairrecord_isnumber(value, n, &number))
      p->start = number;
    if (nkey > 6 && memcmp(key, "asamp.", 6) == 0 && key[6] >= '0' &&
        key[6] <= '9' && !details(p, value, n))
      return 0;
  }
  return 1;
}

static Verdict repairrecord_meta (Repair *p) {
  size_t atkey, nkey, at, n;
  const char *key;
  if (!taketext(p, &atkey, &nkey) || !taketext(p, &at, &n))
    return REPAIR_DAMAGE;
  key = (const char *)p->record.data + atkey;
  if (idmap_get(&p->keys, keyid(key, nkey)) != IDMAP_NONE ||
      !goodmeta(p, key, nkey, (const char *)p->record.data + at, n))
    return REPAIR_OMIT;
  if (!idmap_set(&p->keys, keyid(key, nkey), 0))
    return damage(p, "not enough memory");
  if (!p->own && nkey > 10 && memcmp(key, "gc_stats__", 10) == 0)
    p->nstats++;
  return REPAIR_KEEP;
}

static Verdict timestamp (Repair *p) {
  uint64_t s, us;
  if (!repairrecord_take(p, 24))
    return REPAIR_DAMAGE;
  s = repairrecord_word(p, 1);
  us = repairrecord_word(p, 9);
  if (s >= REPAIR_CENTURY_US / 1000000 || us >= 1000000) {
    setword(p, 1, p->started / 1000000);
    setword(p, 9, p->started % 1000000);
    return REPAIR_MENDED;
  }
  p->started = s * 1000000 + us;
  return REPAIR_KEEP;
}

/* Checks the trailer. Bytes after it are damage only in asamp's logs. */
static Verdict trailer (Repair *p) {
  uint64_t started = p->started;
  Verdict v = p->version >= 5 ? timestamp(p) : REPAIR_KEEP;
  if (v == REPAIR_DAMAGE)
    return REPAIR_DAMAGE;
  p->started = started;
  if (v == REPAIR_MENDED)
    return damage(p, "the time in the trailer is impossible");
  if (source_read(p->source, NULL, 1) == 0) {
    p->fault = source_failure(p->source);
    return p->fault == NULL ? REPAIR_END : REPAIR_DAMAGE;
  }
  return p->own ? damage(p, "the trailer is not at the end of the log") : REPAIR_END;
}

Verdict repair_record (Repair *p) {
  p->record.n = 0;
  p->offset = source_offset(p->source);
  if (!repairrecord_take(p, 1)) {
    if (source_failure(p->source) == NULL)
      p->fault = "the log ends without its trailer";
    return REPAIR_DAMAGE;
  }
  if (!p->header && p->record.data[0] != VMPROF_HEADER)
    return damage(p, "it has no header");
  switch (p->record.data[0]) {
    case VMPROF_STACK: case VMPROF_GCSTACK:
      return repairrecord_stack(p, p->record.data[0]);
    case VMPROF_NAME: case VMPROF_NATIVENAME: return repairrecord_name(p);
    case VMPROF_TRAILER: return trailer(p);
    case VMPROF_HEADER: return header(p);
    case VMPROF_TIME: return timestamp(p);
    case VMPROF_META: return repairrecord_meta(p);
    case VMPROF_OBJECTS: return objects(p);
    default: return damage(p, "a record is of unknown kind");
  }
}

int repair_firstwords (Repair *p) {
  if (!repairrecord_take(p, 40) || repairrecord_word(p, 0) != 0 || repairrecord_word(p, 8) != 3 ||
      repairrecord_word(p, 16) != 0 ||
      repairrecord_word(p, 32) != 0)
    return 0;
  p->period = repairrecord_word(p, 24);
  return 1;
}
