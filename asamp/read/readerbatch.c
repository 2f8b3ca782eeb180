/* SPDX-License-Identifier: MIT */
/* Reads batches: the details of samples, and events (readerbatch.h). */
#include "readerbatch.h"
#include "details.h"
#include "readeremit.h"
#include "readerholders.h"
#include "readerlabels.h"
#include "readerlife.h"
#include "readername.h"
#include "readerorphans.h"
#include "readerstack.h"
#include "sample.h"

#include <string.h>

/* ------------------------------------------------------------- periods -- */

/* Iterator over the lines of a batch (doc/profile-format.md) that set the period of allocation
   samples ("p"), that of time samples ("q"), or the OS thread ("T"). */
typedef struct Periods {
  Fields events;       /* the lines of the batch after the current one */
  int letter;          /* type of the current line: 'p' (period of allocation samples), 'q' (period
                          of time samples) or 'T' (OS thread); 0: no line is left */
  /* number in the batch (from 0) of the first sample to which the current line of text applies */
  uint64_t at;
  /* the number in the line: a period in bytes (letter 'p') or ns ('q'), or the system number of an
     OS thread ('T') */
  uint64_t period;
  uint64_t state;      /* id of the Lua state to which the line applies, or NOSTATE */
  int wall;            /* line "q": 1 for wall time, 0 for CPU time */
} Periods;

#define NOSTATE		UINT64_MAX  /* value of Periods.state before a line of the batch has named a
                                       Lua state */

/* Moves to the next line of the batch that sets the period of allocation samples ("p"), that of
   time samples ("q") or the OS thread ("T"). Sets p->state to the Lua state to which the line
   applies: the state of the last line "N" (start of a state) or "S" (selection of a state) before
   it. */
static void nextperiod (Periods *p) {
  Fields line;
  while ((p->letter = details_event(&p->events, &line)) != 0) {
    uint64_t id;
    int64_t time;
    if ((p->letter == 'S' || (p->letter == 'N' && details_signed(&line, &time))) &&
        details_number(&line, &id))
      p->state = id;
    if ((p->letter == 'p' || p->letter == 'q' || p->letter == 'T') &&
        details_number(&line, &p->at) && details_number(&line, &p->period)) {
      p->wall = line.end - line.p >= 2 && line.p[1] == 'w';
      return;
    }
  }
}

/* Applies the lines "p", "q" (new periods) and "T" (OS thread) up to the sample with the index
   'sample': the lines with Periods.at <= sample that were not applied yet. Delivers new periods to
   the client. */
static void advance (ReaderState *s, Periods *p, uint64_t sample) {
  ReadProfile *r = s->r;
  while (p->letter != 0 && p->at <= sample) {
    if (p->state != NOSTATE)
      readerstate_of(s, p->state);
    else if (r->many && p->letter != 'q') {
      nextperiod(p);
      continue;
    }
    if (p->letter == 'T')
      readerstate_thread(s, p->period);
    else if (p->letter == 'p') {
      if (r->many) {
        s->of->period = p->period;
        s->of->periodset = 1;
      }
      else
        s->period = p->period;
      if (r->samples > 0)
        r->periods++;
      else  /* no allocation sample was delivered yet: this is the initial period */
        r->period = p->period;
      readerstate_toclient(s);
      if (s->client->period != NULL)
        s->client->period(s->client->ud, p->period);
    }
    else {
      if (r->many && p->state != NOSTATE) {
        s->of->timeperiod = p->period;
        s->of->timeset = 1;
      }
      else
        s->timeperiod = p->period;
      r->timeperiods++;
      r->wall |= p->wall && p->period > 0;
      r->cpu |= !p->wall && p->period > 0;
      if (r->timeperiod == 0)
        r->timeperiod = p->period;
      readerstate_toclient(s);
      if (s->client->timeperiod != NULL)
        s->client->timeperiod(s->client->ud, p->period, p->wall);
    }
    nextperiod(p);
  }
}

/* ------------------------------------------------------------- samples -- */

/* Removes 'copies' equal stacks from the queue and delivers them as one sample, which represents
   'count' sampling periods. 'outside', 'labels': values for the fields of ReadSample with these
   names. Returns 0 if the queue has fewer equal stacks, or if a number is invalid. */
static int onesample (ReaderState *s, Details *d, uint64_t count,
                      uint64_t copies, int outside, uint32_t labels) {
  ReadSample sample;
  Run *run;
  uint64_t n;
  if (s->runfirst == s->nruns || s->runs[s->runfirst].copies < copies ||
      count < copies || copies == 0)
    return 0;
  run = &s->runs[s->runfirst];
  readerstate_of(s, run->thread);
  run->copies -= copies;
  if (run->copies == 0)
    s->runfirst++;
  sample.time = run->time > s->last ? run->time : s->last;
  if (details_number(&d->times, &n) && n < READER_MAXTIME && sample.time < READER_MAXTIME)
    sample.time += n;
  s->last = sample.time;
  s->r->left[LEFT_COUNTS] += count > READER_MAXCOUNT;
  sample.count = count < READER_MAXCOUNT ? count : READER_MAXCOUNT;
  sample.thread = run->thread;
  sample.node = run->node;
  sample.outside = outside;
  sample.labels = labels;
  sample.size = 0;
  if (run->type == READER_TIMERUN) {
    sample.kind = READER_TIMESAMPLE;
    sample.period = readerstate_timeperiod(s);
  }
  else if (profile_iscopy((int)run->type)) {
    sample.kind = run->type - COPY_NEW;
    sample.period = readerstate_period(s);
    readeremit_copy(s, &sample);
    return 1;
  }
  else {
    uint32_t type = run->type;
    if (d->kinds.p < d->kinds.end)
      type = (unsigned char)(*d->kinds.p++ - 'a');
    sample.kind = readerstate_kind(s, type, 0);
    sample.period = type == KIND_NATIVE && s->r->mallocs > 0 ? s->r->mallocs
                    : readerstate_period(s);
    if (details_number(&d->sizes, &n))
      sample.size = n;
  }
  readeremit_sample(s, &sample);
  return 1;
}

/* Reads the next three numbers of Details.counts, about a sample that represents several sampling
   periods: its number in the batch (from 1), the number of periods, and the number of copies of its
   stack in the file. Sets triple[0] to 0 at the end of the list. */
static void nextcount (Fields *f, uint64_t triple[3]) {
  int i;
  for (i = 0; i < 3; i++) {
    if (!details_number(f, &triple[i]))
      triple[0] = 0;
  }
}

/* Consecutive samples with the same label set. 'left': number of these samples not delivered yet.
   'id': number of the set in the file. */
typedef struct Labelled {
  uint64_t left, id;
} Labelled;

/* Returns the label set of the next sample of the batch, as a value for ReadSample.labels. */
static uint32_t nextlabels (const ReaderState *s, Details *d, Labelled *l) {
  while (l->left == 0) {
    if (!details_number(&d->labels, &l->left) || !details_number(&d->labels, &l->id)) {
      l->left = UINT64_MAX;
      l->id = 0;
    }
  }
  l->left--;
  return readerlabels_set(s, l->id);
}

/* Delivers the samples of a batch, whose text is *d, to the client. Before each sample, applies the
   lines of *p up to this sample (advance). Returns 0 if the text does not match the stacks that
   were read before it. */
static int samples (ReaderState *s, Details *d, Periods *p) {
  uint64_t count[3] = {0, 0, 0};
  uint64_t i, outside = 0;
  Labelled labelled = {0, 0};
  nextcount(&d->counts, count);
  if (!details_number(&d->outside, &outside))
    outside = 0;
  for (i = 1; i <= d->samples; i++) {
    int many = count[0] == i;
    advance(s, p, i - 1);
    if (!onesample(s, d, many ? count[1] : 1, many ? count[2] : 1,
                   outside == i, nextlabels(s, d, &labelled)))
      return 0;
    if (many)
      nextcount(&d->counts, count);
    if (outside == i && !details_number(&d->outside, &outside))
      outside = 0;
  }
  return 1;
}

/* -------------------------------------------------------------- events -- */

/* Returns the time at which the samples of the current line were found alive or dead. That is the
   end of the next collection in 'events', which has the lines after the current one. If 'events'
   has no collection, it is the time of the last sample. Caches the result, so that no line is
   scanned twice. */
static uint64_t decision (ReaderState *s, Fields events) {
  Fields line;
  int64_t difference;
  Collected c;
  int letter;
  uint64_t time = s->eventtime;
  if (s->ahead != NULL && events.p <= s->ahead)
    return s->aheadtime;
  s->ahead = events.end;
  s->aheadtime = s->last;
  while ((letter = details_event(&events, &line)) != 0) {
    if ((letter == 'm' || letter == 'N' || letter == 'X') && details_signed(&line, &difference))
      time = readerstate_later(time, difference);
    else if (letter == 'g' || letter == 'G') {
      details_collection(&line, s->format, &c);
      s->ahead = line.p;
      s->aheadtime = readerstate_later(time, c.time);
      break;
    }
  }
  return s->aheadtime;
}

/* Iterator over a line "l" or "u", which divides the samples of the preceding line "f" (survival)
   into runs of consecutive samples. A line "l" has the length and the class of each run. A line "u"
   has the lengths of runs of survivors, alternately with and without recorded deaths. */
typedef struct Runs {
  /* The unread part of the line "l" or "u". line.p is NULL if the file has no such line, or if all
     of it was read. */
  Fields line;
  uint64_t left;       /* number of samples of the current run not visited yet */
  /* A property of the samples in the current run. In a line "l": their class, an offset in
     ReadProfile.text. In a line "u": 1 if the file records their deaths, else 0. */
  uint64_t value;
} Runs;

/* Removes the first line of 'events' if it is of type 'letter', and initializes *r with it.
   Otherwise sets *r to an empty iterator. */
static void startrun (Runs *r, int letter, Fields *events) {
  Fields rest = *events;
  memset(r, 0, sizeof(*r));
  if (details_event(&rest, &r->line) == letter)
    *events = rest;
  else
    r->line.p = NULL;
}

/* Moves to the next sample of a line "l" (classes). Returns the name of the class of the sample's
   object, an offset in ReadProfile.text; 0: none. */
static uint64_t nextclass (const ReaderState *s, Runs *r) {
  while (r->line.p != NULL && r->left == 0) {
    if (details_number(&r->line, &r->left) && details_number(&r->line, &r->value)) {
      uint32_t name = idmap_get(&s->classes, r->value + 1);
      r->value = r->value != 0 && name != IDMAP_NONE ? name : 0;
    }
    else {
      r->line.p = NULL;
      r->value = 0;
    }
  }
  r->left -= r->line.p != NULL;
  return r->value;
}

/* Moves to the next survivor of a line "u", which states for runs of survivors whether the file
   records their deaths. Returns 1 if the file does not record the death of this survivor. */
static int nextunfollowed (Runs *r) {
  if (r->line.p == NULL)
    return 0;
  while (r->left == 0) {
    r->value = !r->value;
    if (!details_number(&r->line, &r->left)) {
      r->line.p = NULL;
      return 0;
    }
  }
  r->left--;
  return !r->value;
}

/* Reads a line "f": the survival of the oldest queued samples, as lengths of runs. The first run
   died, the second survived, and so on alternately. Also reads the lines "l" (classes) and "u"
   (recorded deaths) that may follow, and removes them from 'events'. */
static void fates (ReaderState *s, Fields *f, Fields *events) {
  Runs classes, unfollowed;
  uint64_t time, n;
  int survived = 0;
  startrun(&classes, 'l', events);
  startrun(&unfollowed, 'u', events);
  time = decision(s, *events);
  s->r->fates = 1;
  while (details_number(f, &n)) {
    while (n-- > 0) {
      int fate = !survived ? 0 : nextunfollowed(&unfollowed) ? 2 : 1;
      if (!readeremit_decide(s, fate, nextclass(s, &classes), time))
        return;  /* the line has more samples than the queue */
    }
    survived = !survived;
  }
}

/* Reads a line "d", which reports deaths in the list of live survivors as lengths of runs: a run of
   samples that are still alive, then a run of samples that have died, and so on alternately. */
static void deaths (ReaderState *s, Fields *f, const Fields *events) {
  uint64_t time = decision(s, *events), alive, dead;
  while (details_number(f, &alive) && details_number(f, &dead))
    readeremit_deaths(s, alive, dead, time);
}

/* Reads a line "g" (minor collection) or "G" (major collection) of a batch (doc/profile-format.md).
   Some numbers are differences from the previous collection of the Lua state. */
static void readerbatch_collection (ReaderState *s, Fields *f, int major) {
  ReadCollection *c = &s->of->before;
  Collected decoded;
  details_collection(f, s->format, &decoded);
  s->eventtime = c->time = readerstate_later(s->eventtime, decoded.time);
  c->inuse += (uint64_t)decoded.inuse;
  c->held += (uint64_t)decoded.held;
  if (!s->of->hidden) {
    s->streams.inuse += (uint64_t)decoded.inuse;
    s->streams.held += (uint64_t)decoded.held;
  }
  c->rss += (uint64_t)decoded.rss;
  c->duration = decoded.duration < c->time ? decoded.duration : c->time;
  c->processor = decoded.processor;
  c->tenured = decoded.tenured;
  c->planned = (uint64_t)decoded.planned + (major ? 0 : s->of->planned);
  c->charged = c->planned + (uint64_t)decoded.over;
  if (!major) s->of->planned = c->planned;
  memcpy(c->looked, decoded.looked, sizeof(c->looked));
  c->state = (int)(decoded.state & 3);
  c->minors = decoded.minors < READER_MAXCOUNT ? decoded.minors : READER_MAXCOUNT;
  c->left = decoded.left;
  c->slices = decoded.slices < c->processor + c->left ? decoded.slices : c->processor + c->left;
  c->mutator = decoded.mutator;
  c->majors = decoded.majors < READER_MAXCOUNT ? decoded.majors : READER_MAXCOUNT;
  c->major = major;
  c->labels = readerlabels_set(s, decoded.label);
  readeremit_collection(s, c);
}

/* Reads a line "C" of a batch (doc/profile-format.md): the id and the name of a class. If the id
   already has a name, ignores the line. */
static void nameclass (ReaderState *s, Fields *f) {
  uint64_t id;
  size_t n;
  if (!details_number(f, &id) || id >= UINT32_MAX || idmap_get(&s->classes, id + 1) != IDMAP_NONE)
    return;
  f->p += f->p < f->end;  /* skips the space */
  n = (size_t)(f->end - f->p);
  readername_set(s, &s->classes, id + 1, f->p, n);
}

/* Reads a line "m" of a batch (doc/profile-format.md) and delivers the mark: a name and a value
   that the program recorded. */
static void readerbatch_mark (ReaderState *s, Fields *f) {
  ReadMark m;
  int64_t difference;
  uint64_t length;
  if (!details_signed(f, &difference) || !details_number(f, &length))
    return;
  f->p += f->p < f->end;
  m.namelength = length < (uint64_t)(f->end - f->p)
                 ? (size_t)length : (size_t)(f->end - f->p);
  m.name = f->p;
  m.value = f->p + m.namelength;
  m.valuelength = (size_t)(f->end - m.value);
  m.time = s->eventtime = readerstate_later(s->eventtime, difference);
  if (m.time > s->r->duration)
    s->r->duration = m.time;
  readerstate_toclient(s);
  if (s->client->mark != NULL && !s->of->hidden && !readerstate_isoutside(s, m.time))
    s->client->mark(s->client->ud, &m);
}

/* Reads a line "r", a row of a snapshot of resident memory, and delivers it. */
static void readerbatch_resident (ReaderState *s, Fields *f) {
  ReadResident r;
  const char *space;
  if (!details_number(f, &r.time) || !details_signed(f, &r.bytes) || f->p >= f->end)
    return;
  r.what = f->p + 1;
  space = memchr(r.what, ' ', (size_t)(f->end - r.what));
  r.whatlength = (size_t)((space != NULL ? space : f->end) - r.what);
  r.text = space != NULL ? space + 1 : f->end;
  r.textlength = (size_t)(f->end - r.text);
  if (s->client->resident != NULL && r.time < READER_MAXTIME)
    s->client->resident(s->client->ud, &r);
}

/* ------------------------------------------------------------- states -- */

/* Reads a line "N": a Lua state starts. */
static void beginstate (ReaderState *s, Fields *f) {
  int64_t difference;
  uint64_t id;
  if (!details_signed(f, &difference) || !details_number(f, &id))
    return;
  s->eventtime = readerstate_later(s->eventtime, difference);
  readerlife_start(s, id, s->eventtime);
}

/* Delivers 'bytes', the exact number of bytes that the current Lua state has allocated, and adds
   this number to 'row', the state's element of ReadProfile.states (NULL: none). */
static void readerbatch_allocated (ReaderState *s, ReadState *row, uint64_t bytes) {
  readerstate_toclient(s);
  if (row != NULL)
    row->allocated += bytes;
  if (s->client->allocated != NULL && !s->of->hidden)
    s->client->allocated(s->client->ud, bytes);
}

/* Reads a line "L" of a batch and delivers it: the exact number of bytes that the Lua state
   allocated with a label set. */
static void exactbytes (ReaderState *s, Fields *f) {
  uint64_t id, bytes;
  if (!details_number(f, &id) || !details_number(f, &bytes))
    return;
  readerstate_toclient(s);
  if (s->client->labelled != NULL && !s->of->hidden)
    s->client->labelled(s->client->ud, readerlabels_set(s, id), bytes);
}

/* Reads a line "X", which ends the current Lua state: the time, the allocated bytes, and the number
   of orphans (samples of native memory that are still live). */
static void endstate (ReaderState *s, Fields *f) {
  int64_t difference;
  ReadState *row = readerstate_row(s);
  uint64_t bytes, orphans;
  if (!details_signed(f, &difference))
    return;
  s->eventtime = readerstate_later(s->eventtime, difference);
  if (details_number(f, &bytes))
    readerbatch_allocated(s, row, bytes);
  readerlife_end(s, s->eventtime, details_number(f, &orphans) ? orphans : 0);
}

/* Skips a space and adds the unread part of a line to ReadProfile.text, cut to READER_MAXNAME
   bytes. Returns the offset of the text. */
static uint32_t readerbatch_nameof (ReaderState *s, Fields *f) {
  size_t n;
  f->p += f->p < f->end;
  n = (size_t)(f->end - f->p);
  return strtab_put(&s->r->text, f->p, n < READER_MAXNAME ? n : READER_MAXNAME);
}

/* Reads all lines "Y" (name of a Lua state) of a batch. Must be called before the samples of the
   batch are delivered, because a client may group samples by these names. */
static void callstates (ReaderState *s, Fields events) {
  ReadState *row = NULL;
  Fields line;
  int64_t difference;
  uint64_t id;
  int letter;
  while (s->r->many && (letter = details_event(&events, &line)) != 0 && !s->failed) {
    if ((letter == 'S' && details_number(&line, &id)) ||
        (letter == 'N' && details_signed(&line, &difference) && details_number(&line, &id)))
      row = readerstate_find(s, id);
    else if (letter == 'Y' && row != NULL)
      row->name = readerbatch_nameof(s, &line);
  }
}

/* Reads a line about a Lua state. "S" makes the state the current one, "N" starts it, "X" ends it,
   "A" has its allocated bytes, "Y" its name. Does nothing in files of one state. */
static void stateline (ReaderState *s, int letter, Fields *f) {
  ReadState *row = readerstate_row(s);
  uint64_t n;
  if (!s->r->many)
    return;
  switch (letter) {
    case 'S':
      if (details_number(f, &n))
        readerstate_of(s, n);
      break;
    case 'N': beginstate(s, f); break;
    case 'X': endstate(s, f); break;
    case 'A':
      if (details_number(f, &n))
        readerbatch_allocated(s, row, n);
      break;
    case 'Y':
      if (row != NULL && !row->others)
        row->name = readerbatch_nameof(s, f);
      readerstate_toclient(s);
      if (row != NULL && s->client->called != NULL && !s->of->hidden)
        s->client->called(s->client->ud, s->r->text.text + row->name);
      break;
    default: break;
  }
}

int readerbatch_read (ReaderState *s, const char *text, size_t n) {
  Details d;
  Periods p;
  Fields line;
  int letter;
  if (!details_split(&d, text, n))
    return 0;
  readeremit_head(s);
  readerlabels_read(s, d.events);
  callstates(s, d.events);
  p.events = d.events;
  p.state = NOSTATE;
  nextperiod(&p);
  if (!samples(s, &d, &p))
    return 0;
  readerstack_giveup(s);
  advance(s, &p, UINT64_MAX);
  s->ahead = NULL;
  readerstate_none(s);
  while ((letter = details_event(&d.events, &line)) != 0) {
    if (readerstate_isnone(s) && strchr("fdgGmHhwLYAX", letter) != NULL)
      continue;  /* ignores a line that needs a current Lua state */
    switch (letter) {
      case 'f': fates(s, &line, &d.events); break;
      case 'd': deaths(s, &line, &d.events); break;
      case 'g': case 'G': readerbatch_collection(s, &line, letter == 'G'); break;
      case 'C': nameclass(s, &line); break;
      case 'm': readerbatch_mark(s, &line); break;
      case 'r': readerbatch_resident(s, &line); break;
      case 'H': readerholders_path(s, &line); break;
      case 'h': readerholders_runs(s, &line); break;
      case 'w': readerholders_walk(s, &line); break;
      case 'D': readerorphans_line(s, &line); break;
      case 'L': exactbytes(s, &line); break;
      case 'S': case 'N': case 'Y': case 'A': case 'X':
        stateline(s, letter, &line);
        break;
      default: break;
    }
    if (readerstate_failure(s) != NULL)
      break;
  }
  return 1;
}
