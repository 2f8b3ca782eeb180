/* SPDX-License-Identifier: MIT */
/*
** profiler.reader: the reader for Lua. A plain C module for Lua 5.4.
**
**   read(path [, options]) -> profile | nil, message
**     options: bins (number of slices of time, at most 16384, to fill the
**     field 'bins'), at (microseconds since the start: totals of sites, kinds,
**     lifetimes and holders are of the samples that were alive then, as far as
**     collections have found out; no samples of time, no bins), progress
**     (function that is called now and then with the share of the file that was
**     read), states (list of the ids, rising, of the Lua states that are wanted;
**     all that is not by state is of these), label ({name, value}: only what has that
**     label; without value: what has none of that name)
**
** A profile is a table (sizes in bytes; started, ended, duration and
** timeperiod in seconds; all other times in microseconds since the start):
**   path, version, interpreter, own, compressed, lines, random, command,
**     tuning (LUA_GC of the process; nil: it had none)
**   complete (false: damaged or cut; then 'message' tells where and why)
**   offset                       bytes of the log that were read
**   period, periods              bytes a sample stands for, at first; how
**                                often it was set again behind a sample
**   timeperiod, timeperiods      of samples of time (nil: unknown); how often
**                                it was set, the first time included
**   wall, cpu                    true: samples of time are of wall time; some are
**                                of CPU time
**   timed                        false: the file tells no times; samples are
**                                taken to be one period apart
**   started, ended, duration     since the epoch; nil when unknown
**   profiles                     it is of so many, one after the other (nil: of one)
**   samples, bytes               of allocations; bytes = samples x period
**   ring                         of a flight recorder: {samples, bytes: of before, alive;
**                                seconds that it goes back; wanted, nil: any}
**   allocated                    bytes that were allocated while sampling was
**                                on, exactly (nil: unknown)
**   fates (does the file tell any?), survived, survivedbytes, undecided,
**     undecidedbytes
**   followed                     of how many samples at a time the file tells the
**                                death, when they survived; 0: of none
**   later, laterbytes            of those that survived, died later
**   unfollowed                   of those that survived, what became of them the
**                                file does not tell (counted as alive)
**   timesamples                  periods of time
**   undetailed
**   minors, majors               collections there were
**   walks, walked, longestwalk   how often who holds what is alive was found out, and
**                                how long the program waited, together and at most (us)
**   labels (where there are any): a list, of what has none first, then of each set:
**     {labels = {name = value, …}, samples, bytes, survivedbytes, laterbytes,
**     undecidedbytes, timesamples, ns, minors, majors, pause (us of the collections
**     that came while a coroutine ran that had them)}
**   kinds[k] = {name (the type), class (nil: none), time (true: no type,
**     samples of time), blocks (that were sampled), objects (that these stand
**     for, estimated), outside (of the blocks, outside the nursery)}
**   functions[f] = {name, line, file, native}
**   nodes = {parent = {}, fn = {}, line = {}}: the call tree; parent[i] < i,
**     0 is the root; a node's stack is its function and its parents'
**   sites = {node = {}, kind = {}, samples = {}, bytes = {}, survived = {},
**     survivedbytes = {}, later = {}, laterbytes = {}, undecided = {},
**     undecidedbytes = {}}: totals of
**     each (node, kind); node 0 when the stack is not known; of time,
**     samples are periods and bytes are 0. objects (own files; else absent):
**     blocks that the samples stand for. time (if the period of time was set
**     more than once; else absent): periods of the length of timeperiod. The
**     variances of these sums: timesquares, of periods (if there are samples of time; else absent), and
**     bytesquares, survivedsquares, latersquares, of bytes (if 'uneven': else a sum's variance is the sum times the period)
**   lifetimes = {node = {}, digits = {}, samples = {}, bytes = {}}: what died
**     later, by the number of binary digits of the bytes that were allocated
**     between birth and death
**   copies (where they were sampled; else nil) = {node = {}, sort = {}, samples = {},
**     bytes = {}, total (samples)}: what was copied; sort 0: into new strings, 1: of
**     that, what the string replaces (s in s = s .. x), 2: moved by growth of buffers
**     and tables
**   collections[i] = {n, left, time, duration, processor, slices, inuse, least, held, rss,
**     tenured, planned, charged (bytes), decided, survived (samples), major, minorpause,
**     majorpause, remembered, stacks, weak, listed (of the longest pause; nil: none), state}:
**     n neighbours, one at first and in long profiles more, and those left out before
**     them, of which nothing but sums is known: the end of the last, sums (CPU time; of it
**     slices of major ones behind minor ones, nil: none), the most of inuse, held and rss,
**     the least in use, are there major ones, the longest minor and major pause (nil: of
**     none), the last state
**   course (nil: no collections) = {n, first, peak, last (each {inuse, held,
**     rss}), ended (the last one), highest (the end of the first one with the most in use), tenured,
**     planned, charged, processor, majorprocessor, lastmajor (its end; nil: none), pauses =
**     {n, total, median, p99, longest, at (its end)}}: of all collections
**   marks[i] = {time, name, value}: all, or in long profiles some, evenly
**   pictures[i] = {time, rows = {{bytes, what, text}}}: of where resident memory was;
**     nil: the file tells none
**   walktimes[i] = {time, duration}: of 'walks' some, evenly
**   marknames[i] = {name, count, first, last (times), value (the last one),
**     least, mean, most (when all values are numbers)}: of all marks
**   states[i] = {id, name (nil: none), thread (nil: not told), begin, end_, ended,
**     others (it stands for so many; else nil), allocated (bytes, exactly), samples,
**     bytes, timesamples, ns, survivedbytes, laterbytes, minors, majors}, threads[i] =
**     {id, samples, bytes, timesamples, ns}, begun (states there were): of a profile of
**     a process; else nil
**   left[i] = {what, limit, count, text}: what limits have left out
**   bins = {start, width, n, bin = {}, node = {}, kind = {}, samples = {},
**     bytes = {}, survived = {}, survivedbytes = {}, later = {},
**     laterbytes = {}, undecided = {}, undecidedbytes = {}, time (as of sites)}:
**     the totals in slices of time; gone = {width, bin = {}, node = {}, kind = {},
**     samples = {}, bytes = {}}: what died later, in the slices in which it was found
**     dead, which may be of another width (numbered from 0), rows sorted by bin; a sample belongs to the slice in which it was taken
*/
#include "luafields.h"
#include "reader.h"
#include "readersum.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define TYPENAME	"profiler.reader.profile"

/* Microseconds as seconds. */
static void setseconds (lua_State *L, const char *key, uint64_t us) {
  setnumber(L, key, (lua_Number)us / 1e6);
}

/* A list of the functions in the field of the table on the top. */
static void pushfunctions (lua_State *L, const ReadProfile *r) {
  uint32_t i;
  lua_createtable(L, (int)r->nfunctions, 0);
  for (i = 0; i < r->nfunctions; i++) {
    const FrameName *f = &r->functions[i];
    lua_createtable(L, 0, 4);
    lua_pushlstring(L, f->name, f->length);
    lua_setfield(L, -2, "name");
    setinteger(L, "line", f->line);
    setstring(L, "file", f->file);
    setboolean(L, "native", f->native);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  lua_setfield(L, -2, "functions");
}

/* A new list of 'n' in the field 'key' of the table on the top; its index. */
static int list (lua_State *L, const char *key, size_t n) {
  lua_createtable(L, n < INT32_MAX ? (int)n : 0, 0);
  lua_pushvalue(L, -1);
  lua_setfield(L, -3, key);
  return lua_gettop(L);
}

/* Such lists in the table at 'to': their indices. */
static void lists (lua_State *L, int to, const char *const keys[], int nkeys, size_t n,
                   int columns[]) {
  int k;
  for (k = 0; k < nkeys; k++) {
    lua_pushvalue(L, to);
    columns[k] = list(L, keys[k], n);
  }
}

static void put (lua_State *L, int to, size_t i, uint64_t n) {
  lua_pushinteger(L, (lua_Integer)n);
  lua_rawseti(L, to, (lua_Integer)i);
}

/* Field 'nodes' of the table on the top. */
static void pushtree (lua_State *L, const ReadProfile *r) {
  static const char *const keys[] = {"parent", "fn", "line"};
  int nodes = lua_gettop(L) + 1;
  int columns[3];
  uint32_t i;
  lua_createtable(L, 0, 3);
  lists(L, nodes, keys, 3, r->tree.n - 1, columns);
  for (i = 1; i < r->tree.n; i++) {
    const TreeNode *node = &r->tree.nodes[i];
    put(L, columns[0], i, node->parent);
    put(L, columns[1], i, (uint64_t)r->fn[i] + 1);
    put(L, columns[2], i, node->line);
  }
  lua_settop(L, nodes);
  lua_setfield(L, -2, "nodes");
}

/* A column of numbers in 'sites', each at 'offset' in its Site of the table. */
static void pushnumbers (lua_State *L, const SiteTable *table, int sites,
                         const char *key, size_t offset) {
  size_t i;
  int to;
  lua_pushvalue(L, sites);
  to = list(L, key, table->nsites);
  for (i = 0; i < table->nsites; i++) {
    const char *site = (const char *)&table->sites[i];
    lua_pushnumber(L, *(const double *)(site + offset));
    lua_rawseti(L, to, (lua_Integer)i + 1);
  }
  lua_settop(L, sites);
}

/* Do samples stand for different sizes? */
static int isuneven (const ReadProfile *r) {
  return r->periods > 0 || (r->mallocs > 0 && r->mallocs != r->period);
}

/* The columns that are not there for all profiles. */
static void pushothers (lua_State *L, const ReadProfile *r,
                           const ReaderSum *sum, int sites) {
  lua_settop(L, sites);
  if (r->own && r->samples > 0)
    pushnumbers(L, &sum->table, sites, "objects", offsetof(Site, objects));
  if (r->own && r->fates) {
    pushnumbers(L, &sum->table, sites, "kept", offsetof(Site, kept));
    pushnumbers(L, &sum->table, sites, "life", offsetof(Site, life));
    pushnumbers(L, &sum->table, sites, "births", offsetof(Site, births));
  }
  if (r->timesamples > 0 && r->timeperiods > 1)
    pushnumbers(L, &sum->table, sites, "time", offsetof(Site, time));
  if (r->timesamples > 0)
    pushnumbers(L, &sum->table, sites, "timesquares", offsetof(Site, timesquares));
  if (isuneven(r)) {
    pushnumbers(L, &sum->table, sites, "bytesquares", offsetof(Site, bytesquares));
    pushnumbers(L, &sum->table, sites, "survivedsquares",
                offsetof(Site, survivedsquares));
    pushnumbers(L, &sum->table, sites, "latersquares", offsetof(Site, latersquares));
  }
}

/* Field 'sites' of the table on the top, and the totals over them. */
static void pushsites (lua_State *L, const ReadProfile *r, const ReaderSum *sum) {
  static const char *const keys[] = {
    "node", "kind", "samples", "bytes", "survived", "survivedbytes",
    "later", "laterbytes", "undecided", "undecidedbytes"
  };
  enum { NKEYS = sizeof(keys) / sizeof(keys[0]) };
  int profile = lua_gettop(L);
  uint64_t total[NKEYS] = {0};
  size_t i, n = sum->table.nsites;
  int k, columns[NKEYS];
  lua_createtable(L, 0, NKEYS);
  lists(L, profile + 1, keys, NKEYS, n, columns);
  for (i = 0; i < n; i++) {
    const Site *s = &sum->table.sites[i];
    const uint64_t values[NKEYS] = {
      s->node, s->kind + (uint64_t)1, s->samples, s->bytes, s->survived,
      s->survivedbytes, s->later, s->laterbytes, s->undecided,
      s->undecidedbytes
    };
    for (k = 0; k < NKEYS; k++) {
      put(L, columns[k], i + 1, values[k]);
      total[k] += values[k];
    }
  }
  pushothers(L, r, sum, profile + 1);
  lua_settop(L, profile + 1);
  lua_setfield(L, profile, "sites");
  for (k = 3; k < NKEYS; k++)
    setinteger(L, keys[k], total[k]);
}

/* A table on the top with the columns 'node', 'kind' (by the name that is given),
   'samples' and 'bytes' of the sites of a table. */
static void pushcolumns (lua_State *L, const SiteTable *table, const char *kind) {
  const char *const keys[] = {"node", kind, "samples", "bytes"};
  enum { NKEYS = sizeof(keys) / sizeof(keys[0]) };
  int k, columns[NKEYS], result;
  size_t i;
  lua_createtable(L, 0, NKEYS + 2);
  result = lua_gettop(L);
  lists(L, result, keys, NKEYS, table->nsites, columns);
  for (i = 0; i < table->nsites; i++) {
    const Site *s = &table->sites[i];
    const uint64_t values[NKEYS] = {s->node, s->kind, s->samples, s->bytes};
    for (k = 0; k < NKEYS; k++)
      put(L, columns[k], i + 1, values[k]);
  }
  lua_settop(L, result);
}

/* Field 'lifetimes' of the table on the top. */
static void pushlives (lua_State *L, const ReaderSum *sum) {
  pushcolumns(L, &sum->lives, "digits");
  lua_setfield(L, -2, "lifetimes");
}

/* Field 'copies' of the table on the top, where they were sampled. */
static void pushcopies (lua_State *L, const ReadProfile *r, const ReaderSum *sum) {
  if (!r->copying)
    return;
  pushcolumns(L, &sum->copies, "sort");
  setinteger(L, "total", r->copies);
  lua_setfield(L, -2, "copies");
}

/* Field 'lifeclasses' of the table on the top: columns by kind. */
static void pushtimes (lua_State *L, const ReaderSum *sum) {
  pushcolumns(L, &sum->times, "digits");
  pushnumbers(L, &sum->times, lua_gettop(L), "objects", offsetof(Site, objects));
  lua_setfield(L, -2, "lifeclasses");
}

/* Field 'ages' of the table on the top: cells that have something. */
static void pushages (lua_State *L, const Ages *a) {
  size_t i;
  lua_Integer n = 0;
  lua_newtable(L);
  setinteger(L, "first", AGES_FIRST);
  setinteger(L, "doubling", AGES_DOUBLING);
  for (i = 0; a->cells != NULL && i < (size_t)AGES_BINS * AGES_BINS; i++) {
    const Age *cell = &a->cells[i];
    if (cell->bytes == 0)
      continue;
    lua_createtable(L, 0, 4);
    setinteger(L, "behind", i / AGES_BINS);
    setinteger(L, "before", i % AGES_BINS);
    setnumber(L, "bytes", cell->bytes);
    setnumber(L, "survived", cell->survived);
    lua_rawseti(L, -2, ++n);
  }
  lua_setfield(L, -2, "ages");
}

/* Field 'holders' of the table on the top, where the file tells them: columns, and the
   lists 'parent' and 'step' of the paths. */
static void pushholders (lua_State *L, const ReadProfile *r, const ReaderSum *sum) {
  static const char *const keys[] = {"parent", "step"};
  int holders = lua_gettop(L) + 1;
  int columns[2];
  size_t i;
  if (r->npaths == 0)
    return;
  pushcolumns(L, &sum->held, "path");
  lists(L, holders, keys, 2, r->npaths, columns);
  for (i = 0; i < r->npaths; i++) {
    put(L, columns[0], i + 1, r->paths[i].parent);
    lua_pushstring(L, r->text.text + r->paths[i].step);
    lua_rawseti(L, columns[1], (lua_Integer)i + 1);
  }
  lua_settop(L, holders);
  lua_setfield(L, -2, "holders");
}

static void pushkinds (lua_State *L, const ReadProfile *r, const ReaderSum *sum) {
  uint32_t i;
  lua_createtable(L, (int)r->nkinds, 0);
  for (i = 0; i < r->nkinds; i++) {
    char buffer[40];
    const KindTotals *total = &sum->kinds[i];
    lua_createtable(L, 0, 6);
    setstring(L, "name", readprofile_kindname(r, i, buffer));
    if (r->kinds[i].class != 0)
      setstring(L, "class", r->text.text + r->kinds[i].class);
    setboolean(L, "time", i == READER_TIMESAMPLE);
    setinteger(L, "blocks", total->blocks);
    setnumber(L, "objects", total->objects);
    setinteger(L, "outside", total->outside);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  lua_setfield(L, -2, "kinds");
}

/* Field 'collections' of the table on the top. */
static void pushcollections (lua_State *L, const Course *c) {
  static const char *const looked[] = {"remembered", "stacks", "weak", "listed"};
  size_t i;
  int k;
  lua_createtable(L, (int)c->n, 0);
  for (i = 0; i < c->n; i++) {
    const Span *s = &c->spans[i];
    lua_createtable(L, 0, 20);
    setinteger(L, "n", s->minors + s->majors);
    setinteger(L, "left", s->left);
    setinteger(L, "time", s->time);
    setinteger(L, "duration", s->duration);
    setinteger(L, "inuse", s->inuse);
    setinteger(L, "least", s->least);
    setinteger(L, "held", s->held);
    setinteger(L, "rss", s->rss);
    setinteger(L, "tenured", s->tenured);
    setinteger(L, "processor", s->processor);
    if (s->slices > 0)
      setinteger(L, "slices", s->slices);
    setinteger(L, "planned", s->planned);
    setinteger(L, "charged", s->charged);
    setinteger(L, "decided", s->decided);
    setinteger(L, "survived", s->survived);
    setboolean(L, "major", s->majors > 0);
    if (s->minors > 0)
      setinteger(L, "minorpause", s->minorpause);
    if (s->majors > 0)
      setinteger(L, "majorpause", s->majorpause);
    setinteger(L, "state", (uint64_t)s->state);
    for (k = 0; k < LOOKED_COUNT; k++)
      if (s->looked[k] > 0)
        setinteger(L, looked[k], s->looked[k]);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  lua_setfield(L, -2, "collections");
}

/* A table of sizes in the field 'key' of the table on the top. */
static void setsizes (lua_State *L, const char *key, uint64_t inuse,
                      uint64_t held, uint64_t rss) {
  lua_createtable(L, 0, 3);
  setinteger(L, "inuse", inuse);
  setinteger(L, "held", held);
  setinteger(L, "rss", rss);
  lua_setfield(L, -2, key);
}

/* Field 'course' of the table on the top, if there were collections. */
static void pushcourse (lua_State *L, const Course *c) {
  if (c->collections == 0)
    return;
  lua_createtable(L, 0, 9);
  setinteger(L, "n", c->collections);
  setsizes(L, "first", c->first.inuse, c->first.held, c->first.rss);
  setsizes(L, "peak", c->inuse, c->held, c->rss);
  setsizes(L, "last", c->last.inuse, c->last.held, c->last.rss);
  setinteger(L, "ended", c->last.time);
  setinteger(L, "highest", c->peak);
  setinteger(L, "tenured", c->tenured);
  setinteger(L, "planned", c->planned);
  setinteger(L, "charged", c->charged);
  setinteger(L, "processor", c->processor);
  setinteger(L, "majorprocessor", c->majorprocessor);
  if (c->lastmajor > 0)
    setinteger(L, "lastmajor", c->lastmajor);
  lua_createtable(L, 0, 6);
  setinteger(L, "n", c->collections);
  setinteger(L, "total", c->total);
  setinteger(L, "median", course_quantile(c, 0.5));
  setinteger(L, "p99", course_quantile(c, 0.99));
  setinteger(L, "longest", c->longest);
  setinteger(L, "at", c->longestat);
  lua_setfield(L, -2, "pauses");
  lua_setfield(L, -2, "course");
}

/* Field 'marks' of the table on the top. */
static void pushmarks (lua_State *L, const Marks *all) {
  size_t i;
  lua_createtable(L, (int)all->n, 0);
  for (i = 0; i < all->n; i++) {
    const Mark *m = &all->marks[i];
    lua_createtable(L, 0, 3);
    setinteger(L, "time", m->time);
    setstring(L, "name", all->text.text + all->names[m->name].name);
    setstring(L, "value", m->value);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  lua_setfield(L, -2, "marks");
}

/* Field 'walktimes' of the table on the top. */
static void pushwalks (lua_State *L, const ReaderSum *sum) {
  size_t i;
  lua_createtable(L, (int)sum->nwalks, 0);
  for (i = 0; i < sum->nwalks; i++) {
    lua_createtable(L, 0, 2);
    setinteger(L, "time", sum->walks[i].time);
    setinteger(L, "duration", sum->walks[i].duration);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  lua_setfield(L, -2, "walktimes");
}

/* A number of a mark: an integer if all of its name are. */
static void setmark (lua_State *L, const char *key, const MarkName *m, double number) {
  if (m->integers == m->count && number > -0x1p53 && number < 0x1p53)
    lua_pushinteger(L, (lua_Integer)number);
  else
    lua_pushnumber(L, number);
  lua_setfield(L, -2, key);
}

/* Field 'marknames' of the table on the top. */
static void pushmarknames (lua_State *L, const Marks *all) {
  size_t i;
  lua_createtable(L, (int)all->nnames, 0);
  for (i = 0; i < all->nnames; i++) {
    const MarkName *m = &all->names[i];
    lua_createtable(L, 0, 8);
    setstring(L, "name", all->text.text + m->name);
    setinteger(L, "count", m->count);
    setinteger(L, "first", m->first);
    setinteger(L, "last", m->last);
    setstring(L, "value", m->value);
    if (m->numbers == m->count) {
      setmark(L, "least", m, m->least);
      setmark(L, "most", m, m->most);
      setnumber(L, "mean", m->sum / (double)m->count);
    }
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  lua_setfield(L, -2, "marknames");
}

/* Field 'pictures' of the table on the top, where there are some. */
static void pushpictures (lua_State *L, const Pictures *all) {
  size_t i, k;
  if (all->n == 0)
    return;
  lua_createtable(L, (int)all->n, 0);
  for (i = 0; i < all->n; i++) {
    const Picture *p = &all->all[i];
    lua_createtable(L, 0, 2);
    setinteger(L, "time", p->time);
    lua_createtable(L, (int)p->n, 0);
    for (k = 0; k < p->n; k++) {
      lua_createtable(L, 0, 3);
      lua_pushinteger(L, (lua_Integer)p->rows[k].bytes);
      lua_setfield(L, -2, "bytes");
      setstring(L, "what", all->texts.text + p->rows[k].what);
      setstring(L, "text", all->texts.text + p->rows[k].text);
      lua_rawseti(L, -2, (lua_Integer)k + 1);
    }
    lua_setfield(L, -2, "rows");
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  lua_setfield(L, -2, "pictures");
}

/* A table on the top of slices of time: the first nkeys of their columns. */
enum { GONEKEYS = 5, BINKEYS = 11 };

static void pushslices (lua_State *L, const Bins *b, int nkeys) {
  static const char *const keys[BINKEYS] = {
    "bin", "node", "kind", "samples", "bytes", "survived", "survivedbytes",
    "later", "laterbytes", "undecided", "undecidedbytes"
  };
  int k, result, columns[BINKEYS];
  size_t i;
  lua_createtable(L, 0, nkeys + 4);
  result = lua_gettop(L);
  setinteger(L, "width", b->width);
  lists(L, result, keys, nkeys, b->n, columns);
  for (i = 0; i < b->n; i++) {
    const BinRow *row = &b->rows[i];
    const uint64_t values[BINKEYS] = {
      row->bin, row->node, row->kind + (uint64_t)1, row->samples, row->bytes,
      row->survived, row->survivedbytes, row->later, row->laterbytes,
      row->undecided, row->undecidedbytes
    };
    for (k = 0; k < nkeys; k++)
      put(L, columns[k], i + 1, values[k]);
  }
  lua_settop(L, result);
}

/* Fields 'bins' and 'gone' of the table on the top. */
static void pushbins (lua_State *L, const ReadProfile *r, const Bins *b, const Bins *gone) {
  size_t i;
  pushslices(L, b, BINKEYS);
  setinteger(L, "start", 0);
  setinteger(L, "n", b->n > 0 ? b->rows[b->n - 1].bin + (uint64_t)1 : 0);
  if (r->timesamples > 0 && r->timeperiods > 1 && r->timeperiod > 0) {
    lua_createtable(L, (int)b->n, 0);
    for (i = 0; i < b->n; i++) {
      lua_pushnumber(L, (lua_Number)b->rows[i].ns / (lua_Number)r->timeperiod);
      lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    lua_setfield(L, -2, "time");
  }
  lua_setfield(L, -2, "bins");
  pushslices(L, gone, GONEKEYS);
  lua_setfield(L, -2, "gone");
}

static void pushstates (lua_State *L, const ReadProfile *r);
static void pushlabels (lua_State *L, const ReadProfile *r, const ReaderSum *sum);

static void pushprofile (lua_State *L, const char *path, const ReadProfile *r,
                         const ReaderSum *sum) {
  lua_createtable(L, 0, 52);
  setstring(L, "path", path);
  setstring(L, "interpreter", r->interpreter);
  if (r->command != 0)
    setstring(L, "command", r->text.text + r->command);
  if (r->tuning != 0)
    setstring(L, "tuning", r->text.text + r->tuning);
  if (r->message[0] != '\0')
    setstring(L, "message", r->message);
  if (r->started != 0)
    setseconds(L, "started", r->started);
  if (r->ended != 0)
    setseconds(L, "ended", r->ended);
  setseconds(L, "duration", r->duration);
  setinteger(L, "version", (uint64_t)r->version);
  setboolean(L, "own", r->own);
  setboolean(L, "compressed", r->packed);
  setboolean(L, "lines", r->lines);
  setboolean(L, "random", r->random);
  setboolean(L, "complete", r->complete);
  setboolean(L, "live", r->live);
  setinteger(L, "lost", r->lost);
  if (r->pid != 0)
    setinteger(L, "pid", r->pid);
  if (r->merged > 0)
    setinteger(L, "profiles", r->merged);
  setboolean(L, "fates", r->fates);
  setinteger(L, "offset", r->offset);
  setinteger(L, "period", r->period);
  setinteger(L, "periods", r->periods);
  setboolean(L, "uneven", isuneven(r));
  if (r->mallocs > 0)
    setinteger(L, "malloc", r->mallocs);
  if (r->isring) {
    lua_createtable(L, 0, 4);
    setinteger(L, "samples", r->ring[0]);
    setinteger(L, "bytes", r->ring[1]);
    setseconds(L, "seconds", r->ring[2]);
    if (r->ring[3] > 0)
      setseconds(L, "wanted", r->ring[3]);
    lua_setfield(L, -2, "ring");
  }
  if (r->allocated > 0 && sum->client.labelname == NULL)
    setinteger(L, "allocated", r->allocated);
  setinteger(L, "timeperiods", r->timeperiods);
  if (r->timeperiod != 0)
    setnumber(L, "timeperiod", (lua_Number)r->timeperiod / 1e9);
  setboolean(L, "wall", r->wall);
  setboolean(L, "cpu", r->cpu);
  setboolean(L, "timed", r->timed);
  setinteger(L, "samples", r->samples);
  setinteger(L, "timesamples", r->timesamples);
  setinteger(L, "undetailed", r->undetailed);
  setinteger(L, "followed", r->followed);
  setinteger(L, "unfollowed", r->unfollowed);
  setinteger(L, "minors", r->minors);
  setinteger(L, "majors", r->majors);
  setinteger(L, "walks", r->walks);
  setinteger(L, "walked", r->walked);
  setinteger(L, "longestwalk", r->longestwalk);
  pushsites(L, r, sum);
  pushlives(L, sum);
  pushcopies(L, r, sum);
  pushtimes(L, sum);
  pushages(L, &sum->ages);
  pushholders(L, r, sum);
  pushkinds(L, r, sum);
  pushcollections(L, &sum->course);
  pushcourse(L, &sum->course);
  pushmarks(L, &sum->marks);
  pushwalks(L, sum);
  pushmarknames(L, &sum->marks);
  pushpictures(L, &sum->pictures);
  pushleft(L, sum->left);
  if (sum->bins.most > 0)
    pushbins(L, r, &sum->bins, &sum->gone);
  pushfunctions(L, r);
  pushtree(L, r);
  pushstates(L, r);
  pushlabels(L, r, sum);
}

/* Field 'labels' of the table on the top, where there are labels. */
static void pushlabels (lua_State *L, const ReadProfile *r, const ReaderSum *sum) {
  static const char *const keys[] = {"samples", "bytes", "survivedbytes", "laterbytes",
    "undecidedbytes", "timesamples", "ns", "minors", "majors", "pause"};
  enum { NKEYS = sizeof(keys) / sizeof(keys[0]) };
  static const LabelTotals none;
  size_t i, k;
  if (r->nlabelsets == 0)
    return;
  lua_createtable(L, (int)r->nlabelsets, 0);
  for (i = 0; i <= r->nlabelsets; i++) {
    const LabelTotals *t = i < sum->nlabels ? &sum->labels[i] : &none;
    const uint64_t values[NKEYS] = {t->samples, t->bytes, t->survivedbytes, t->laterbytes,
      t->undecidedbytes, t->timesamples, t->ns, t->minors, t->majors, t->pause};
    const ReadLabelSet *set = i > 0 ? &r->labelsets[i - 1] : NULL;
    lua_createtable(L, 0, NKEYS + 1);
    for (k = 0; k < NKEYS; k++)
      setinteger(L, keys[k], values[k]);
    lua_createtable(L, 0, set != NULL ? (int)set->n : 0);
    for (k = 0; set != NULL && k < set->n; k++) {
      const ReadLabel *l = &r->labels[set->first + k];
      setstring(L, r->text.text + l->name, r->text.text + l->value);
    }
    lua_setfield(L, -2, "labels");
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  lua_setfield(L, -2, "labels");
}

static void pushstates (lua_State *L, const ReadProfile *r) {
  size_t i;
  if (!r->many)
    return;
  lua_createtable(L, (int)r->nstates, 0);
  for (i = 0; i < r->nstates; i++) {
    const ReadState *s = &r->states[i];
    lua_createtable(L, 0, 16);
    setinteger(L, "id", s->id);
    if (s->name != 0)
      setstring(L, "name", r->text.text + s->name);
    if (s->thread != 0)
      setinteger(L, "thread", s->thread);
    if (s->others > 0)
      setinteger(L, "others", (uint64_t)s->others + 1);
    setboolean(L, "ended", s->ended);
    setinteger(L, "begin", s->begin);
    setinteger(L, "end_", s->end);
    setinteger(L, "allocated", s->allocated);
    setinteger(L, "samples", s->samples);
    setinteger(L, "bytes", s->bytes);
    setinteger(L, "timesamples", s->timesamples);
    setinteger(L, "ns", s->ns);
    setinteger(L, "survivedbytes", s->survivedbytes);
    setinteger(L, "laterbytes", s->laterbytes);
    setinteger(L, "minors", s->minors);
    setinteger(L, "majors", s->majors);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  lua_setfield(L, -2, "states");
  lua_createtable(L, (int)r->nthreads, 0);
  for (i = 0; i < r->nthreads; i++) {
    const ReadThread *t = &r->threads[i];
    lua_createtable(L, 0, 5);
    setinteger(L, "id", t->id);
    setinteger(L, "samples", t->samples);
    setinteger(L, "bytes", t->bytes);
    setinteger(L, "timesamples", t->timesamples);
    setinteger(L, "ns", t->ns);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  lua_setfield(L, -2, "threads");
  setinteger(L, "begun", r->begun > 0 ? r->begun : r->nstates);
}

/* What a call of 'read' owns; freed when an error unwinds it, too. */
typedef struct Work {
  lua_State *L;
  ReadProfile *profile;
  uint32_t *only;
  char *labelname, *labelvalue;
  ReaderSum sum;
} Work;

static int l_gc (lua_State *L) {
  Work *w = luaL_checkudata(L, 1, TYPENAME);
  if (w->profile != NULL)
    readprofile_free(w->profile);
  w->profile = NULL;
  free(w->only);
  free(w->labelname);
  free(w->labelvalue);
  w->only = NULL;
  w->labelname = w->labelvalue = NULL;
  readersum_free(&w->sum);
  memset(&w->sum, 0, sizeof(w->sum));
  return 0;
}

/* Calls the function at index 2; an error in it ends the reading. */
static void progress (void *ud, double fraction) {
  Work *w = ud;
  lua_pushvalue(w->L, 2);
  lua_pushnumber(w->L, fraction);
  if (lua_pcall(w->L, 1, 0, 0) != LUA_OK) {
    w->sum.client.stop = lua_tostring(w->L, -1);  /* stays on the stack */
    if (w->sum.client.stop == NULL)
      w->sum.client.stop = "progress failed";
  }
}

/* Puts the options at indices 2 (progress), 3 (states) and 4 (label); the others. */
static void options (lua_State *L, uint32_t *slices, uint64_t *instant) {
  lua_Integer bins = 0;
  *instant = READERSUM_EVER;
  lua_settop(L, 2);
  lua_pushnil(L);
  lua_pushnil(L);
  if (!lua_isnoneornil(L, 2)) {
    luaL_checktype(L, 2, LUA_TTABLE);
    lua_getfield(L, 2, "bins");
    bins = luaL_optinteger(L, -1, 0);
    luaL_argcheck(L, bins >= 0 && bins <= BINS_MOST, 2,
                  "bins not from 0 to 16384");
    lua_pop(L, 1);
    lua_getfield(L, 2, "at");
    if (!lua_isnil(L, -1))
      *instant = (uint64_t)luaL_checkinteger(L, -1);
    lua_pop(L, 1);
    lua_getfield(L, 2, "states");
    lua_replace(L, 3);
    lua_getfield(L, 2, "label");
    lua_replace(L, 4);
    lua_getfield(L, 2, "progress");
    lua_replace(L, 2);
  }
  *slices = (uint32_t)bins;
}

/* The ids in the list at 3 that are wanted. */
static void want (lua_State *L, Work *w) {
  size_t i, n;
  if (lua_isnil(L, 3))
    return;
  luaL_checktype(L, 3, LUA_TTABLE);
  n = lua_rawlen(L, 3);
  w->only = malloc((n + 1) * sizeof(*w->only));
  if (w->only == NULL)
    luaL_error(L, "not enough memory");
  for (i = 0; i < n; i++) {
    lua_rawgeti(L, 3, (lua_Integer)i + 1);
    w->only[i] = (uint32_t)lua_tointeger(L, -1);
    lua_pop(L, 1);
  }
  w->sum.client.only = w->only;
  w->sum.client.nonly = n;
}

/* A field of the table at 4, text or nil, copied. */
static char *copied (lua_State *L, const char *key) {
  const char *text;
  char *to = NULL;
  lua_getfield(L, 4, key);
  text = lua_tostring(L, -1);
  if (text != NULL && (to = strdup(text)) == NULL)
    luaL_error(L, "not enough memory");
  lua_pop(L, 1);
  return to;
}

/* The label in the table at 4, which is wanted. */
static void wantlabel (lua_State *L, Work *w) {
  if (lua_isnil(L, 4))
    return;
  luaL_checktype(L, 4, LUA_TTABLE);
  w->sum.client.labelname = w->labelname = copied(L, "name");
  w->sum.client.labelvalue = w->labelvalue = copied(L, "value");
}

static int l_read (lua_State *L) {
  const char *path = luaL_checkstring(L, 1);
  uint32_t bins;
  uint64_t instant;
  char err[1024];
  Work *w;
  options(L, &bins, &instant);
  luaL_checkstack(L, 30, "reading a profile");
  w = lua_newuserdatauv(L, sizeof(*w), 0);
  memset(w, 0, sizeof(*w));
  luaL_setmetatable(L, TYPENAME);
  w->L = L;
  if (!readersum_start(&w->sum, bins, instant))
    return luaL_error(L, "not enough memory");
  want(L, w);
  wantlabel(L, w);
  if (!lua_isnil(L, 2))
    w->sum.client.progress = progress;
  w->sum.client.progressud = w;
  w->profile = reader_read(path, &w->sum.client, err, sizeof(err));
  if (w->profile == NULL)
    return pushfailure(L, err);
  readersum_finish(&w->sum, w->profile);
  pushprofile(L, path, w->profile, &w->sum);
  lua_pushcfunction(L, l_gc);
  lua_pushvalue(L, 5);
  lua_call(L, 1, 0);
  return 1;
}

int repair_lua (lua_State *L);  /* repairlib.c */

int luaopen_profiler_reader (lua_State *L);

int luaopen_profiler_reader (lua_State *L) {
  static const luaL_Reg functions[] = {
    {"read", l_read}, {"repair", repair_lua}, {NULL, NULL}
  };
  if (!binding_open(L, "profiler.reader", 0)) return 0;
  luaL_newmetatable(L, TYPENAME);
  lua_pushcfunction(L, l_gc);
  lua_setfield(L, -2, "__gc");
  luaL_newlib(L, functions);
  return 1;
}
