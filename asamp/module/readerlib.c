/* SPDX-License-Identifier: MIT */
/*
** profiler.reader: a Lua module in C that reads a profile into a Lua table. In the comments of this
** file, "Sets 'x'" means: sets the field x of the table on top of the stack.
**
** Sizes are in bytes. 'started', 'ended', 'duration', 'timeperiod', 'ring.seconds' and
** 'ring.wanted' are in seconds. Other times and durations are in us; these times count from the
** start of the profile. "Columns" are lists of equal length: row i consists of the i-th element of
** each list. A sample that represents n sampling periods counts n times.
*/
#include "luafields.h"
#include "reader.h"
#include "readersum.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define TYPENAME	"profiler.reader.profile"

/* Sets the field 'key' to 'us', converted to seconds. */
static void setseconds (lua_State *L, const char *key, uint64_t us) {
  setnumber(L, key, (lua_Number)us / 1e6);
}

/* Sets 'functions', a list of the functions in stacks, {name, line, file, native} each. */
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

/* Pushes a new list for n elements and stores it in the field 'key' of the table on top of the
   stack. Returns the stack index of the list. */
static int list (lua_State *L, const char *key, size_t n) {
  lua_createtable(L, n < INT32_MAX ? (int)n : 0, 0);
  lua_pushvalue(L, -1);
  lua_setfield(L, -3, key);
  return lua_gettop(L);
}

/* Sets nkeys fields of the table at index 'to' to new lists for n elements, and columns[k] to the
   stack index of list k. Leaves 2 * nkeys values on the stack. */
static void lists (lua_State *L, int to, const char *const keys[], int nkeys, size_t n,
                   int columns[]) {
  int k;
  for (k = 0; k < nkeys; k++) {
    lua_pushvalue(L, to);
    columns[k] = list(L, keys[k], n);
  }
}

/* Sets element i of the list at stack index 'to' to an integer. */
static void readerlib_put (lua_State *L, int to, size_t i, uint64_t n) {
  lua_pushinteger(L, (lua_Integer)n);
  lua_rawseti(L, to, (lua_Integer)i);
}

/* Sets 'nodes', the call tree, as columns: parent (parent[i] < i; 0 is the root), fn (index in
   'functions'), line. */
static void pushtree (lua_State *L, const ReadProfile *r) {
  static const char *const keys[] = {"parent", "fn", "line"};
  int nodes = lua_gettop(L) + 1;
  int columns[3];
  uint32_t i;
  lua_createtable(L, 0, 3);
  lists(L, nodes, keys, 3, r->tree.n - 1, columns);
  for (i = 1; i < r->tree.n; i++) {
    const TreeNode *node = &r->tree.nodes[i];
    readerlib_put(L, columns[0], i, node->parent);
    readerlib_put(L, columns[1], i, (uint64_t)r->fn[i] + 1);
    readerlib_put(L, columns[2], i, node->line);
  }
  lua_settop(L, nodes);
  lua_setfield(L, -2, "nodes");
}

/* Adds the column 'key' to the table at index 'sites'. The column has one element for each Site of
   'table': the double at the byte offset 'offset'. Pops the values above 'sites' from the stack. */
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

/* Returns 1 if the allocation samples represent different numbers of bytes. */
static int isuneven (const ReadProfile *r) {
  return r->periods > 0 || (r->mallocs > 0 && r->mallocs != r->period);
}

/* Adds the columns that only some profiles need to the table at index 'sites'. Their names are
   those of the fields of Site (sitetable.h). */
static void pushothers (lua_State *L, const ReadProfile *r, const ReaderSum *sum, int sites) {
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

/* Sets 'sites', totals for each node of the call tree and kind of sample, as columns: node (0:
   unknown stack), kind (index in 'kinds'), samples, bytes, survived, survivedbytes, later
   (survivors that died later), laterbytes, undecided (without an outcome), undecidedbytes. Also
   sets 'bytes' to the sum of the column 'bytes', and so on for all columns after it. */
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
      readerlib_put(L, columns[k], i + 1, values[k]);
      total[k] += values[k];
    }
  }
  pushothers(L, r, sum, profile + 1);
  lua_settop(L, profile + 1);
  lua_setfield(L, profile, "sites");
  for (k = 3; k < NKEYS; k++)
    setinteger(L, keys[k], total[k]);
}

/* Pushes a table with four columns of a SiteTable: node, kind, samples, bytes. The parameter 'kind'
   is the name of the second column in the pushed table. */
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
      readerlib_put(L, columns[k], i + 1, values[k]);
  }
  lua_settop(L, result);
}

/* Sets 'copies', if copied bytes were sampled, as columns: node, sort, samples, bytes. 'sort' is
   the reason of the copy. 0: to make a new string; 1: to make a new string that replaces the copied
   one (s = s .. x); 2: to enlarge a buffer or table. */
static void pushcopies (lua_State *L, const ReadProfile *r, const ReaderSum *sum) {
  if (!r->copying)
    return;
  pushcolumns(L, &sum->copies, "sort");
  lua_setfield(L, -2, "copies");
}

/* Sets 'lifeclasses', totals of the sampled blocks that died, by kind of block and lifetime, as
   columns: node (here the kind of block, not a call tree node), digits (number of binary digits of
   the lifetime in us: a range of lifetimes), samples, bytes, objects. */
static void pushtimes (lua_State *L, const ReaderSum *sum) {
  pushcolumns(L, &sum->times, "digits");
  pushnumbers(L, &sum->times, lua_gettop(L), "objects", offsetof(Site, objects));
  lua_setfield(L, -2, "lifeclasses");
}

/* Sets 'ages', survival by age (ages.h): a list of nonempty cells {behind, before, bytes,
   survived}. 'bytes' is the number of bytes allocated at an age, 'survived' the part that survived.
   The first two fields are the age as two bins, numbers of ranges of byte counts. The first bin is
   that of the bytes allocated later, until the next collection. The second bin is that of the bytes
   allocated earlier, since the previous collection. The fields 'first' (AGES_FIRST) and 'doubling'
   (AGES_DOUBLING) of the list describe the bins. */
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

/* Sets 'holders', the references that keep live samples alive, if the file has them. Columns of
   samples: node, path (0: unknown), samples, bytes. Columns of paths: parent (number of the path
   without the last reference; 0: empty path), step (text of the last reference). */
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
    readerlib_put(L, columns[0], i + 1, r->paths[i].parent);
    lua_pushstring(L, r->text.text + r->paths[i].step);
    lua_rawseti(L, columns[1], (lua_Integer)i + 1);
  }
  lua_settop(L, holders);
  lua_setfield(L, -2, "holders");
}

/* Sets 'kinds', a list of the kinds of samples: {name, class, time (true: time samples), blocks,
   objects, outside} each. The last three are totals as in KindTotals (readersum.h). */
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

/* Sets 'collections', a list with a table of totals for each span. A span is a group of successive
   collections. The fields of the table are those of Span (course.h). */
static void pushcollections (lua_State *L, const Course *c) {
  static const char *const looked[] = {"remembered", "stacks", "weak", "listed"};
  size_t i;
  int k;
  lua_createtable(L, (int)c->n, 0);
  for (i = 0; i < c->n; i++) {
    const Span *s = &c->spans[i];
    lua_createtable(L, 0, 21);
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
    if (s->mutator > 0)
      setinteger(L, "mutator", s->mutator);
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

/* Sets the field 'key' to {inuse, held, rss}: bytes of the heap in use, bytes reserved for the
   heap, resident bytes of the process. */
static void setsizes (lua_State *L, const char *key, uint64_t inuse, uint64_t held, uint64_t rss) {
  lua_createtable(L, 0, 3);
  setinteger(L, "inuse", inuse);
  setinteger(L, "held", held);
  setinteger(L, "rss", rss);
  lua_setfield(L, -2, key);
}

/* Sets 'course', totals of all collections, with the fields of Course (course.h). Sets nothing if
   there are no collections. */
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

/* Sets 'marks', a list of the marks that the program has set: {time, name, value} each. If there
   are too many, the list has only every second (fourth, eighth, ...) mark. */
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

/* Sets 'walktimes', a list of the walks of the heap for paths of references: {time, duration} each.
   If there are too many, the list has only every second (fourth, eighth, ...) walk. */
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

/* Sets the field 'key' to 'number': as an integer if all values of the marks with this name are
   integers, else as a float. */
static void setmark (lua_State *L, const char *key, const MarkName *m, double number) {
  if (m->integers == m->count && number > -0x1p53 && number < 0x1p53)
    lua_pushinteger(L, (lua_Integer)number);
  else
    lua_pushnumber(L, number);
  lua_setfield(L, -2, key);
}

/* Sets 'marknames', a list with totals for each name of marks: {name, count, first and last (times
   of the first and last mark), value (of the last mark)}. If all values are numbers, also {least,
   mean, most}. */
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

/* Sets 'pictures', a list of the snapshots of the process's resident memory: {time, rows} each. A
   row has the bytes of one kind of memory, the kind, and the file or source line that uses the
   memory, or "". Sets nothing if the file has no such snapshots. */
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

/* Numbers of columns in the fields 'gone', 'bins' and 'born' of a profile. These columns are the
   first ones in the list 'keys' of pushslices. */
enum { GONEKEYS = 5, BINKEYS = 11, BORNKEYS = 12 };

/* Pushes a table with totals for each slice of time or, for 'born', of allocated bytes. It has the
   field 'width', the length of a slice (us or bytes), and the first nkeys columns of 'keys'. */
static void pushslices (lua_State *L, const Bins *b, int nkeys) {
  static const char *const keys[BORNKEYS] = {
    "bin", "node", "kind", "samples", "bytes", "survived", "survivedbytes",
    "later", "laterbytes", "undecided", "undecidedbytes", "last"
  };
  int k, result, columns[BORNKEYS];
  size_t i;
  lua_createtable(L, 0, nkeys + 4);
  result = lua_gettop(L);
  setinteger(L, "width", b->width);
  lists(L, result, keys, nkeys, b->n, columns);
  for (i = 0; i < b->n; i++) {
    const BinRow *row = &b->rows[i];
    const uint64_t values[BORNKEYS] = {
      row->bin, row->node, row->kind + (uint64_t)1, row->samples, row->bytes,
      row->survived, row->survivedbytes, row->later, row->laterbytes,
      row->undecided, row->undecidedbytes, row->last
    };
    for (k = 0; k < nkeys; k++)
      readerlib_put(L, columns[k], i + 1, values[k]);
  }
  lua_settop(L, result);
}

/* Sets two fields of the profile's table.
   bins  totals for each slice of time: the table of pushslices, with the fields 'start' (0) and
         'n' (number of slices). If the period of time samples has changed, also the column 'time':
         the time of the time samples, in sampling periods.
   gone  totals of the survivors that died later, for each slice of the time of death. The 'width'
         of these slices may differ. */
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

/* Sets three tables for timelines. Each has totals for equal slices of an axis.
   born    totals of the samples whose survival is known. A slice is a range of the bytes that had
           been allocated when a block was allocated (ReadSample.born).
   alive   totals of the samples alive at the end, in slices like those of 'born'. The column 'path'
           is the number of the path of references that keeps the blocks alive (0: unknown).
           'vector' is 1 for the array or hash part of a table.
   worked  totals of the time samples. A slice is a period of time. */
static void pushborn (lua_State *L, const ReaderSum *sum) {
  const Bins *alive = &sum->alive;
  int columns[7];
  static const char *const keys[7] = {"bin", "node", "path", "vector", "samples", "bytes", "last"};
  size_t i;
  int k, result;
  pushslices(L, &sum->born, BORNKEYS);
  lua_setfield(L, -2, "born");
  lua_createtable(L, 0, 8);
  result = lua_gettop(L);
  setinteger(L, "width", alive->width);
  lists(L, result, keys, 7, alive->n, columns);
  for (i = 0; i < alive->n; i++) {
    const BinRow *row = &alive->rows[i];
    const uint64_t values[7] = {row->bin, row->node, row->kind >> 1, row->kind & 1, row->samples,
                                row->bytes, row->last};
    for (k = 0; k < 7; k++)
      readerlib_put(L, columns[k], i + 1, values[k]);
  }
  lua_settop(L, result);
  lua_setfield(L, -2, "alive");
  pushslices(L, &sum->worked, 5);
  lua_setfield(L, -2, "worked");
}

/* Sets the fields that describe the file: its origin, times and format. 'complete' is false if the
   end of the file is missing or data are damaged; 'message' is the reason. 'live' is true while the
   file is being written. 'profiles' is the number of merged profiles. */
static void setorigin (lua_State *L, const char *path, const ReadProfile *r) {
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
}

/*
** Sets the fields that describe the sampling: periods, samples, outcomes, collections, and walks of
** the heap.
**
**   - offset: number of bytes of the file that were read
**   - periods: number of changes of the sampling period
**   - uneven: true if allocation samples represent different numbers of bytes
**   - wall, cpu: true if there are samples of wall time, of CPU time
**   - ring: only in files of a flight recorder, which keeps the newest events. 'samples' and
**     'bytes' count the live samples whose events the recorder has dropped. 'seconds' is the
**     duration of the kept part, 'wanted' the requested duration
**   - followed: 0 if the file has no deaths
*/
static void setsampling (lua_State *L, const ReadProfile *r, const ReaderSum *sum) {
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
}

/* Sets 'labels', a list of totals: of the samples without labels, then of those with each set of
   labels. In an element, 'labels' is the set, {name = value}, and 'exact' the exact number of bytes
   allocated with the set, if known. Sets nothing if the file has no labels. */
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
    lua_createtable(L, 0, NKEYS + 2);
    for (k = 0; k < NKEYS; k++)
      setinteger(L, keys[k], values[k]);
    if (sum->exactlabels)
      setinteger(L, "exact", t->exact);
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

/* In a profile of a process, sets the lists 'states' and 'threads', with the fields of ReadState
   and ReadThread (reader.h), and 'begun', the number of Lua states that were ever created. In other
   profiles, sets nothing. */
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
    setinteger(L, "begin", s->opened);
    setinteger(L, "end_", s->closed);
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

static void pushprofile (lua_State *L, const char *path, const ReadProfile *r,
                         const ReaderSum *sum) {
  lua_createtable(L, 0, 52);
  setorigin(L, path, r);
  setsampling(L, r, sum);
  pushsites(L, r, sum);
  /* Sets 'lifetimes', totals of the survivors that died later, as columns: node, digits, samples,
     bytes. The lifetime of a block is measured in bytes: those that the state allocated from the
     block's allocation to its death. 'digits' is the number of binary digits of the lifetime. */
  pushcolumns(L, &sum->lives, "digits");
  lua_setfield(L, -2, "lifetimes");
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
  if (sum->born.most > 0)
    pushborn(L, sum);
  pushfunctions(L, r);
  pushtree(L, r);
  pushstates(L, r);
  pushlabels(L, r, sum);
}

/* The objects of a call of l_read, in a userdata whose finalizer frees them after an error. */
typedef struct Work {
  lua_State *L;
  ReadProfile *profile;
  uint32_t *only;	/* ids of the Lua states that the option 'states' selects; NULL: all */
  char *labelname, *labelvalue;  /* option 'label'; NULL: none */
  ReaderSum sum;
} Work;

/* Frees the objects of a Work, argument 1. Also the Work's __gc. */
static int readerlib_gc (lua_State *L) {
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

/* Calls the progress function at index 2 with the finished share. An error of the function stops
   the reading. */
static void readerlib_progress (void *ud, double fraction) {
  Work *w = ud;
  lua_pushvalue(w->L, 2);
  lua_pushnumber(w->L, fraction);
  if (lua_pcall(w->L, 1, 0, 0) != LUA_OK) {
    w->sum.client.stop = lua_tostring(w->L, -1);  /* the stack keeps the string alive */
    if (w->sum.client.stop == NULL)
      w->sum.client.stop = "progress failed";
  }
}

/* Returns a time in us, the field 'key' of the options at index 2; 'none' if it is nil. */
static uint64_t readerlib_timeof (lua_State *L, const char *key, uint64_t none) {
  uint64_t t;
  lua_getfield(L, 2, key);
  t = lua_isnil(L, -1) ? none : (uint64_t)luaL_checkinteger(L, -1);
  lua_pop(L, 1);
  return t;
}

/* The numeric options of 'read'. */
typedef struct Numbers {
  uint32_t bins;
  /* Times in us that restrict the samples. The option 'at' becomes ReaderSum.instant: only samples
     alive at that time count. 'since' and 'till' become the fields with these names: only samples
     from 'since' to before 'till' count. */
  uint64_t at, since, till;
} Numbers;

/* Reads the options, argument 2: a table, nil or none. Raises an error if the argument or a number
   in it is invalid.

   Stores in *to:
   - bins: number of slices of time, 0 to BINS_MOST
   - at, since, till: times that restrict the samples (Numbers)

   Leaves on the stack, each nil if it was not given:
   - index 2: progress
   - index 3: states, a list of ascending ids
   - index 4: label, {name, value}; value nil: samples without that label */
static void options (lua_State *L, Numbers *to) {
  lua_Integer bins = 0;
  to->at = to->till = READERSUM_EVER;
  to->since = 0;
  lua_settop(L, 2);
  lua_pushnil(L);
  lua_pushnil(L);
  if (!lua_isnoneornil(L, 2)) {
    luaL_checktype(L, 2, LUA_TTABLE);
    lua_getfield(L, 2, "bins");
    bins = luaL_optinteger(L, -1, 0);
    luaL_argcheck(L, bins >= 0 && bins <= BINS_MOST, 2,
                  "the number of bins must be 0 to 16384");
    lua_pop(L, 1);
    to->at = readerlib_timeof(L, "at", READERSUM_EVER);
    to->since = readerlib_timeof(L, "since", 0);
    to->till = readerlib_timeof(L, "till", READERSUM_EVER);
    lua_getfield(L, 2, "states");
    lua_replace(L, 3);
    lua_getfield(L, 2, "label");
    lua_replace(L, 4);
    lua_getfield(L, 2, "progress");
    lua_replace(L, 2);
  }
  to->bins = (uint32_t)bins;
}

/* Restricts the reading to the Lua states in the list at index 3, unless it is nil. */
static void readerlib_want (lua_State *L, Work *w) {
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

/* Returns a copy of the string field 'key' of the table at index 4; NULL if it is not a string.
   Raises an error if out of memory. */
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

/* Restricts the reading to samples and collections with the label {name, value} at index 4, unless
   it is nil. */
static void wantlabel (lua_State *L, Work *w) {
  if (lua_isnil(L, 4))
    return;
  luaL_checktype(L, 4, LUA_TTABLE);
  w->sum.client.labelname = w->labelname = copied(L, "name");
  w->sum.client.labelvalue = w->labelvalue = copied(L, "value");
}

/* read(path [, options]) -> the profile as a table (see pushprofile); on failure nil, message */
static int l_read (lua_State *L) {
  const char *path = luaL_checkstring(L, 1);
  Numbers numbers;
  char err[1024];
  Work *w;
  options(L, &numbers);
  luaL_checkstack(L, 30, "reading a profile");
  w = lua_newuserdatauv(L, sizeof(*w), 0);
  memset(w, 0, sizeof(*w));
  luaL_setmetatable(L, TYPENAME);
  w->L = L;
  if (!readersum_start(&w->sum, numbers.bins, numbers.at))
    return luaL_error(L, "not enough memory");
  w->sum.since = numbers.since;
  w->sum.till = numbers.till;
  readerlib_want(L, w);
  wantlabel(L, w);
  if (!lua_isnil(L, 2))
    w->sum.client.progress = readerlib_progress;
  w->sum.client.progressud = w;
  w->profile = reader_read(path, &w->sum.client, err, sizeof(err));
  if (w->profile == NULL)
    return pushfailure(L, err);
  readersum_finish(&w->sum, w->profile);
  pushprofile(L, path, w->profile, &w->sum);
  lua_pushcfunction(L, readerlib_gc);
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
  lua_pushcfunction(L, readerlib_gc);
  lua_setfield(L, -2, "__gc");
  luaL_newlib(L, functions);
  return 1;
}
