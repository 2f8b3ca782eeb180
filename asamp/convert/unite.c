/* SPDX-License-Identifier: MIT */
/* Writes several profiles with one encoder (unite.h). */
#include "unite.h"
#include "list.h"
#include "reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char NOMEMORY[] = "not enough memory";
static const char TOOMANY[] = "the profiles exceed the limit of 16,384 Lua states without a "
                              "recorded end; merge fewer profiles";
static const char TOOLONG[] = "the durations of the profiles add up to more than 143 years, the "
                              "limit; asamp report shows durations: leave out the wrong one";

#define MOST_US		((uint64_t)1 << 52)  /* largest time that the reader accepts, us */

/* {== heads ================================================================ */

/* A client that reads only the head of a profile: it stops the reading at the first sample,
   collection or mark. */
typedef struct Check {
  ReaderClient client;
  Unite *m;
  int own;             /* 1: the profile can be merged */
  /* first sampling period of time in the profile, ns; 0: none */
  uint64_t timens;
  int wall;
} Check;

static const char SEEN[] = "looked at";

static void seen (Check *l) {
  if (l->client.stop == NULL)
    l->client.stop = SEEN;
}

static void seesample (void *ud, const ReadSample *s) {
  (void)s;
  seen(ud);
}

static void seecollection (void *ud, const ReadCollection *c) {
  (void)c;
  seen(ud);
}

static void seemark (void *ud, const ReadMark *m) {
  (void)m;
  seen(ud);
}

static void seetime (void *ud, uint64_t ns, int wall) {
  Check *l = ud;
  if (l->timens == 0 && ns > 0) {
    l->timens = ns;
    l->wall = wall;
  }
}

/* Stores the command line of the first profile. Sets 'othercommand' if another profile has a
   different one. */
static void addcommand (Unite *m, const char *command) {
  if (!m->checked)
    m->command = command != NULL ? strdup(command) : NULL;
  else if (command == NULL || m->command == NULL || strcmp(command, m->command) != 0)
    m->othercommand = 1;
}

/* Adds the data of a profile's head to m->config. Rejects profiles of other profilers, and damaged
   profiles whose head lacks the number of followed survivors (ReadProfile.followed is 0): with
   these, the merged profile would record no deaths. */
static void addhead (void *ud, const ReadProfile *r) {
  Check *l = ud;
  Unite *m = l->m;
  EncoderConfig *c = &m->config;
  if (!r->own || (r->message[0] != '\0' && r->followed == 0)) {
    l->client.stop = r->message[0] != '\0' ? "the profile ends before its first sample; leave this "
                                             "file out" :
      "another profiler wrote the file, and only profiles of Asamp can be merged; use asamp report "
      "--sum";
    return;
  }
  l->own = 1;
  addcommand(m, r->command != 0 ? r->text.text + r->command : NULL);
  c->copies |= r->copying;
  if (!m->checked || (c->mallocs == 0 && !m->othermallocs))
    c->mallocs = r->mallocs;
  else if (r->mallocs != 0 && r->mallocs != c->mallocs) {
    m->othermallocs = 1;
    c->mallocs = 0;
  }
  if (!m->checked) {
    c->period = r->period;
    c->random = r->random;
    c->followed = r->followed;
    m->clock = r->clock;
  }
  c->random &= r->random;
  c->native |= r->native;
  c->followed = r->followed < c->followed ? r->followed : c->followed;
  if (r->started > 0 && (m->started == 0 || r->started < m->started))
    m->started = r->started;
  m->checked = 1;
  readprofile_source(r, &m->sources);
  c->merged += r->merged > 0 ? r->merged : 1;
}

int unite_check (Unite *m, const char *path, char *err, size_t errsize) {
  Check l;
  ReadProfile *r;
  memset(&l, 0, sizeof(l));
  l.m = m;
  l.client.ud = &l;
  l.client.head = addhead;
  l.client.sample = seesample;
  l.client.collection = seecollection;
  l.client.mark = seemark;
  l.client.timeperiod = seetime;
  r = reader_read(path, &l.client, err, errsize);
  if (r != NULL)
    readprofile_free(r);
  if (l.own && m->config.timeperiod == 0) {
    m->config.timeperiod = l.timens;
    m->config.wall = l.wall;
  }
  return l.own;
}

/* }========================================================================= */

/* {== names ========================================================== */

/* The same native function has different addresses in different processes, so the output has
   made-up ones: the function with the number n in 'natives' has the address NATIVES + 2 * n and the
   id NATIVES + 2 * n + 1. These ids are above FRAME_TAIL, the largest id of a pseudo-frame. */
#define NATIVES		66

/* Callback TranscodeInto.native: returns the id that the result has for a native function, or 0 if
   out of memory. */
static uint64_t native (void *ud, const char *name) {
  Unite *m = ud;
  uint32_t n = strtab_put(&m->natives, name, strlen(name));
  m->left.natives += n == 0;
  return m->natives.failed ? 0 : ((uint64_t)n << 1 | 1) + NATIVES;
}

/* Splits the name of a native function into symbol and file, for the encoder. */
static void unite_resolve (void *ud, uint64_t address, char *symbol, size_t symbolsize, char *file,
                           size_t filesize) {
  const Unite *m = ud;
  transcode_split(m->natives.text + ((address - NATIVES) >> 1), symbol, symbolsize, file, filesize);
}

/* Callback TranscodeInto.function: returns the id that the result has for a Lua function, or 0 if
   out of memory. */
static uint64_t unite_function (void *ud, const char *name) {
  Unite *m = ud;
  int isnew;
  uint32_t n = origins_functionname(&m->names, &name, &isnew);
  if (isnew)
    encoder_name(m->encoder, (uint64_t)n * 8, name);
  return (uint64_t)n * 8;
}

/* Callback TranscodeInto.class: returns the id that the result has for a class, or 0 if out of
   memory. */
static uint32_t class (void *ud, const char *name) {
  Unite *m = ud;
  int isnew;
  uint32_t n = origins_classname(&m->names, &name, &isnew);
  if (isnew)
    encoder_class(m->encoder, n, name, strlen(name));
  return n;
}

/* Callback TranscodeInto.labels: returns the number in the result of the profile's label set 'set'.
   Returns 0 if the set has no labels, or if the result has no space for its text. */
static uint32_t labels (void *ud, uint32_t set) {
  Unite *m = ud;
  ProfileLabel list[PROFILE_LABELS];
  Bytes text = {0};
  size_t i, n;
  uint32_t before, number = idmap_get(&m->sets, set);
  m->set = set;
  if (number != IDMAP_NONE)
    return number;
  n = transcode_labels(m->t.r, set, list);
  for (i = 0; i < n; i++) {
    bytes_add(&text, list[i].name, strlen(list[i].name));
    bytes_char(&text, '\1');
    bytes_add(&text, list[i].value, strlen(list[i].value));
    bytes_char(&text, '\2');
  }
  before = m->labels.n;
  number = n > 0 ? strtab_put(&m->labels, (const char *)text.data, text.n) : 0;
  m->nsets += m->labels.n > before;
  m->left.labelsets += n > 0 && number == 0;
  if (text.failed || m->labels.failed || !idmap_set(&m->sets, set, number))
    m->t.client.stop = NOMEMORY;
  bytes_free(&text);
  return number;
}

/* Stores in 'to' the labels of the set m->set, for the encoder. Returns their number. */
static size_t labelsof (void *ud, uint32_t number, ProfileLabel *to) {
  Unite *m = ud;
  (void)number;
  return transcode_labels(m->t.r, m->set, to);
}

/* }========================================================================= */

/* {== Lua states in the merged profile =============== */

/* Returns the key of the profile's state 'id' in the maps 'places' and 'orphaned'. It is not the id
   itself, because the keys of an IdMap must not be 0. */
static uint64_t placekey (uint32_t id) {
  return (uint64_t)id + 1;
}

/* Callback TranscodeInto.state: returns the state of the merged profile that represents state 'id'
   of the profile being read. Adds a new state to 'open'. Returns NULL if READER_MAXSTREAMS states
   have no written end (UN3), or if out of memory. */
static TranscodeState *state (void *ud, uint32_t id) {
  Unite *m = ud;
  uint32_t at = idmap_get(&m->places, placekey(id));
  TranscodeState *s;
  if (at != IDMAP_NONE && at < m->nopen && m->open[at]->from == id)
    return m->open[at];
  if (m->nopen + m->nrest >= READER_MAXSTREAMS) {
    m->t.client.stop = TOOMANY;
    return NULL;
  }
  s = calloc(1, sizeof(*s));
  if (s == NULL || !list_grow(&m->open, m->nopen, &m->opensize, sizeof(*m->open)) ||
      !idmap_set(&m->places, placekey(id), (uint32_t)m->nopen)) {
    free(s);
    return NULL;
  }
  s->from = id;
  s->id = m->nstates++;
  s->period = m->config.period;
  s->timens = m->config.timeperiod;
  s->wall = m->config.wall;
  m->open[m->nopen++] = s;
  return s;
}

/* Makes the encoder assign the following events to the current state, to which the reader's current
   event belongs. Returns this state, or NULL if the reading stops. */
static TranscodeState *unite_current (Unite *m) {
  transcode_turn(&m->t);
  return m->t.client.stop == NULL ? m->t.of : NULL;
}

/* Writes the ends of the closed states in 'ended'. The end of a state makes its live objects dead
   in the output, so it is written only when another state of the same profile starts. The last
   states of a program thus keep their leaks (UN2). */
static void bury (Unite *m) {
  TranscodeState *s;
  size_t i;
  if (m->t.client.stop != NULL)
    /* the map 'places' may lack entries: memory may have run out while an earlier call filled the
       new map below */
    return;
  while ((s = m->ended) != NULL) {
    TranscodeState *moved = m->open[--m->nopen];
    uint32_t at = idmap_get(&m->places, placekey(s->from));
    m->ended = s->next;
    m->open[at] = moved;
    if (!idmap_set(&m->places, placekey(moved->from), at))
      m->t.client.stop = NOMEMORY;  /* cannot happen: a present key needs no memory */
    encoder_of(m->encoder, s->id, 0);
    encoder_end(m->encoder, s->end, s->allocated, s->orphans);
    if (s->orphans > 0 && !idmap_set(&m->orphaned, placekey(s->from), s->id))
      m->t.client.stop = NOMEMORY;
    free(s);
  }
  if (m->places.n < 1024 || m->places.n < 4 * m->nopen)
    return;
  idmap_free(&m->places);  /* a new map replaces this one, because an IdMap cannot remove entries */
  memset(&m->places, 0, sizeof(m->places));
  for (i = 0; i < m->nopen; i++) {
    if (!idmap_set(&m->places, placekey(m->open[i]->from), (uint32_t)i))
      m->t.client.stop = NOMEMORY;
  }
}

/* Writes the ends of the states of this profile that were closed earlier, and then the start of the
   current state. The current state may have samples already. */
static void starts (void *ud, uint64_t time) {
  Unite *m = ((Transcode *)ud)->into->ud;
  transcode_pause(&m->t);
  bury(m);
  if (unite_current(m) != NULL)
    encoder_start(m->encoder, m->t.start + time * 1000);
}

static void called (void *ud, const char *name) {
  Unite *m = ((Transcode *)ud)->into->ud;
  if (unite_current(m) != NULL)
    encoder_called(m->encoder, name, strlen(name));
}

static void unite_allocated (void *ud, uint64_t bytes) {
  Unite *m = ((Transcode *)ud)->into->ud;
  TranscodeState *s = unite_current(m);
  if (s != NULL)
    s->allocated += bytes;
}

/* Callback TranscodeInto.orphaned: the block of a sample of native memory was freed after the end
   of its Lua state, which has the number 'id' in the input. Sets *number to the state's number in
   the merged profile, or returns 0 if the state is unknown. If the state's end is not written yet,
   subtracts the sample from TranscodeState.orphans, the samples that are still live. */
static int orphaned (void *ud, uint32_t id, uint32_t *number) {
  Unite *m = ud;
  uint32_t at = idmap_get(&m->places, placekey(id));
  if (at != IDMAP_NONE && at < m->nopen && m->open[at]->from == id) {
    *number = m->open[at]->id;
    m->open[at]->orphans -= m->open[at]->ended && m->open[at]->orphans > 0;
    return 1;
  }
  *number = idmap_get(&m->orphaned, placekey(id));
  return *number != IDMAP_NONE;
}

/* Adds the current state to 'ended', the list of closed states whose ends are written later. */
static void unite_ends (void *ud, uint64_t time, uint64_t orphans) {
  Unite *m = ((Transcode *)ud)->into->ud;
  TranscodeState *s = unite_current(m);
  if (s != NULL) {
    if (!s->ended) {
      s->next = m->ended;
      m->ended = s;
    }
    s->ended = 1;
    s->orphans = orphans;
    s->end = m->t.start + time * 1000;
  }
}

/* Moves the states that are open at the end of a profile to 'rest', whose ends are written after
   all profiles, and frees the encoder's memory of these states. If the profile has only one state,
   names it after the profile's file. */
static void unite_leave (Unite *m, const ReadProfile *r) {
  size_t i;
  if (!list_room(&m->rest, m->nrest + m->nopen, &m->restsize, sizeof(*m->rest))) {
    m->t.client.stop = NOMEMORY;
    return;
  }
  for (i = 0; i < m->nopen; i++) {
    TranscodeState *s = m->open[i];
    UniteRest *rest = &m->rest[m->nrest++];
    const char *name = strrchr(m->path, '/');
    rest->id = s->id;
    rest->ended = s->ended;
    rest->end = s->end;
    rest->orphans = s->orphans;
    rest->allocated = r->many ? s->allocated : r->allocated;
    encoder_of(m->encoder, s->id, 0);
    name = name != NULL ? name + 1 : m->path;
    if (!r->many)
      encoder_called(m->encoder, name, strlen(name));
    encoder_leave(m->encoder);
  }
}

/* }========================================================================= */

/* {== profiles ============================================================= */

int unite_start (Unite *m, Output *o) {
  memset(m, 0, sizeof(*m));
  m->o = o;
  m->config.format = PROFILE_STOCK;
  m->config.states = m->config.numbered = 1;
  m->config.resolve = unite_resolve;
  m->config.resolve_ud = m;
  m->config.labels = labelsof;
  m->config.labels_ud = m;
  m->into.ud = m;
  m->into.state = state;
  m->into.function = unite_function;
  m->into.native = native;
  m->into.class = class;
  m->into.labels = labels;
  m->into.orphaned = orphaned;
  return strtab_init(&m->natives, READER_MAXNAMES) && strtab_init(&m->labels, READER_MAXNAMES);
}

/* Creates the encoder at the first call. Returns 0 if out of memory. */
static int opened (Unite *m) {
  if (m->encoder != NULL)
    return 1;
  m->config.command = m->othercommand ? NULL : m->command;
  bytes_char(&m->sources, '\0');
  if (m->sources.failed)
    return 0;
  m->config.sources = m->sources.n > 1 ? (const char *)m->sources.data : NULL;
  m->encoder = encoder_new(&m->config, m->clock * 1000, m->started, transcode_sink, m->o);
  m->into.encoder = m->encoder;
  m->into.mallocs = m->config.mallocs;
  return m->encoder != NULL;
}

/* Adds the four numbers of r->ring to those of m->ring. Does nothing if no flight recorder wrote
   the profile. */
static void addring (Unite *m, const ReadProfile *r) {
  size_t i;
  for (i = 0; r->isring && i < 4; i++)
    m->ring[i] += r->ring[i];
  m->isring |= r->isring;
}

/* Callback for the head of a profile. In a profile of only one Lua state, records the state's start
   at time 0. */
static void unite_head (void *ud, const ReadProfile *r) {
  transcode_head(ud, r);
  if (!r->many)
    starts(ud, 0);
}

/* Finishes a profile, and adds its counts of lost and dropped data to the result's counts. */
static void account (Unite *m, const ReadProfile *r) {
  const char *stop = transcode_finish(&m->t, r);
  if (stop == NULL)
    unite_leave(m, r);
  m->texts += transcode_left(&m->left, r);
  addring(m, r);
  m->lost += r->lost + m->t.untyped;
  if (r->allocated == 0 && r->samples > 0)
    encoder_notallocated(m->encoder);
  if (!r->labelled && r->nlabelsets > 0 && r->allocated > 0)
    encoder_notlabelled(m->encoder);
  if (m->shift > MOST_US || r->duration > MOST_US - m->shift)
    m->t.client.stop = TOOLONG;
  m->shift += r->duration;
}

/* Frees the data of the profile being read. */
static void unite_forget (Unite *m) {
  transcode_free(&m->t);
  while (m->nopen > 0)
    free(m->open[--m->nopen]);
  m->ended = NULL;
  idmap_free(&m->places);
  idmap_free(&m->orphaned);
  idmap_free(&m->sets);
  memset(&m->t, 0, sizeof(m->t));
  memset(&m->places, 0, sizeof(m->places));
  memset(&m->orphaned, 0, sizeof(m->orphaned));
  memset(&m->sets, 0, sizeof(m->sets));
}

ReadProfile *unite_add (Unite *m, const char *path, void (*progress) (void *ud, double fraction),
                    void *ud, int *fatal, char *err, size_t errsize) {
  ReadProfile *r = NULL;
  const char *stop = NOMEMORY;
  m->path = path;
  *fatal = 1;
  if (opened(m) && transcode_into(&m->t, &m->into, (m->clock + m->shift) * 1000)) {
    m->t.client.head = unite_head;
    m->t.client.starts = starts;
    m->t.client.called = called;
    m->t.client.allocated = unite_allocated;
    m->t.client.ends = unite_ends;
    m->t.client.progress = progress;
    m->t.client.progressud = ud;
    r = reader_read(path, &m->t.client, err, errsize);
    if (r != NULL)
      account(m, r);
    else
      *fatal = m->nopen > 0;  /* 0: nothing of this profile is in the result, so the caller can skip
                                 the profile */
    stop = m->t.client.stop;
    if (r == NULL)
      stop = NULL;
  }
  unite_forget(m);
  if (stop != NULL) {
    snprintf(err, errsize, "cannot merge '%s': %s", path, stop);
    if (r != NULL)
      readprofile_free(r);
    return NULL;
  }
  *fatal &= r == NULL;
  return r;
}

const char *unite_finish (Unite *m) {
  size_t i;
  if (!opened(m))
    return NOMEMORY;
  for (i = 0; i < m->nrest; i++) {
    const UniteRest *s = &m->rest[i];
    encoder_of(m->encoder, s->id, 0);
    if (s->ended)
      encoder_end(m->encoder, s->end, s->allocated, s->orphans);
    else {
      if (s->allocated > 0)
        encoder_allocated(m->encoder, s->allocated);
      encoder_leave(m->encoder);
    }
    if (encoder_full(m->encoder))
      encoder_batch(m->encoder);
  }
  m->left.functions += m->names.lumpedfunctions;
  m->left.classes += m->names.lumpedclasses;
  encoder_left(m->encoder, &m->left, m->texts);
  if (m->isring)
    encoder_ring(m->encoder, m->ring[0], m->ring[1], m->ring[2] * 1000, m->ring[3] * 1000);
  encoder_lost(m->encoder, m->lost);
  encoder_finish(m->encoder, (m->clock + m->shift) * 1000);
  return encoder_failed(m->encoder) ? NOMEMORY : NULL;
}

static uint64_t beyond (uint64_t n, uint64_t limit) {
  return n > limit ? n - limit : 0;
}

void unite_left (const Unite *m, uint64_t *counts) {
  memset(counts, 0, LEFT_N * sizeof(*counts));
  counts[LEFT_FUNCTIONS] = m->names.lumpedfunctions;
  counts[LEFT_CLASSES] = m->names.lumpedclasses;
  counts[LEFT_SETS] = beyond(m->nsets, READER_MAXLABELSETS);
  counts[LEFT_STATES] = beyond(m->nstates, READER_MAXSTATES);
}

void unite_free (Unite *m) {
  unite_forget(m);
  if (m->encoder != NULL)
    encoder_free(m->encoder);
  origins_free(&m->names);
  strtab_free(&m->natives);
  strtab_free(&m->labels);
  free(m->command);
  bytes_free(&m->sources);
  free(m->rest);
  free(m->open);
}

/* }========================================================================= */
