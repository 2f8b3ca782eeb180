/* SPDX-License-Identifier: MIT */
/*
** Visits weak tables in slices (ahead.h). The two lists weak.doubtful contain entries with unmarked
** weak keys, and entries with unmarked weak values. A word of a list is a table, or a slot of the
** last table before this word. In the list of keys, a word may also be a logged object: one that
** was marked while weak.logging was 1.
*/

#include "lgc.h"

#include "ahead.h"
#include "optional.h"
#include "pace.h"
#include "traverse.h"
#include "weak.h"

/* Number of slots of the smallest weak table that slices visit. The atomic step (the pause at the
   end of marking) visits smaller weak tables. */
#define MIN_SLOTS(c)	(luaN_slicestress(c) != 0 ? 4u : 256u)

/*
** In a pass, slices visit all listed entries with unmarked weak keys or values again, so that less
** is left to the atomic step. n is the number of words (tables and slots) in the two lists. Another
** pass follows
** - if the visits of more than n / MIN_RESOLVED_PART words have marked something
** - if fewer than FEW_PASSES passes have ended, and the log of marked objects was given up because
**   it was too long (without the log, the atomic step visits the whole list of keys)
**
** MAX_PASSES limits the number of passes plus the number of rounds in which slices tombstone values
** (MIN_HIDDEN). Higher values of the three constants mean more passes, and leave less to the atomic
** step.
*/
#define MIN_RESOLVED_PART	512u
#define MAX_PASSES	32u
#define FEW_PASSES	4u

/* Slices tombstone unmarked weak values (make their slots look empty, hidden.h) in rounds. Another
   round starts if more than MIN_HIDDEN words were added to the list of unmarked weak values since
   the last round. A higher number leaves more slots to the atomic step. */
#define MIN_HIDDEN(c)	(luaN_slicestress(c) != 0 ? 2u : 1024u)

/* Cost of a visit of a listed slot that tombstones, restores or clears a weak value (hidden.h) or
   removes an entry with a dead key. Unit: the time to mark one byte. */
#define CLEAR_COST	24u

/* A visit of slot i of a table prefetches the object in slot i + PREFETCH_DISTANCE. */
#define PREFETCH_DISTANCE	12u


/* {== one slot ========================================================= */

/* bit number 'list' of the result of luaN_visitslot */
#define DOUBT(list)	(1u << (list))

unsigned luaN_visitslot (global_State *g, Table *t, int kind, unsigned asize, unsigned i) {
  Node *n = (i < asize) ? NULL : gnode(t, i - asize);
  const TValue *v = (n == NULL) ? &t->array[i] : gval(n);
  unsigned doubts = 0;
  if (isempty(v) && !luaN_ishidden(v)) {
    if (n != NULL && keyiscollectable(n)) setdeadkey(n);
    return 0;
  }
  if (n != NULL) {
    if (kind & LUAN_EPHEMERON) doubts = luaN_iskeygone(g, n) ? DOUBT(LUAN_DOUBTKEYS) : 0;
    else if (keyiscollectable(n)) luaN_mark(g, gckey(n));
  }
  if (luaN_ishidden(v)) return doubts;
  if (!(kind & LUAN_WEAKVALUES)) {
    if (doubts == 0) luaN_markvalue(g, v);
  }
  else if (luaN_isgone(g, v)) doubts |= DOUBT(LUAN_DOUBTVALUES);
  return doubts;
}

/* }===================================================================== */


/* {== the lists ========================================================= */

typedef struct Entry {
  Table *t;
  /* which references of t are weak (luaN_weakness); LUAN_STRONG if t has become strong */
  int kind;
  /* asize: number of slots of the array part of t. i: index of the entry's slot in t; array slots
     come first, then nodes. */
  unsigned asize, i;
  /* the entry's node; NULL if the slot is in the array part */
  Node *n;
  /* the value of the entry */
  TValue *v;
} Entry;


/* Returns an Entry for table t, without a slot. t may be NULL: then all fields are 0. */
static Entry entryin (global_State *g, Table *t) {
  Entry e = {t, 0, 0, 0, NULL, NULL};
  if (t != NULL) {
    e.kind = luaN_weakness(g, t);
    e.asize = luaN_asize(t);
  }
  return e;
}


/*
** Reads word k of d, one of the two lists weak.doubtful. A word is a weak table, a slot of the last
** weak table before it or, only in the list of entries with unmarked keys, a logged object: one
** that was marked while weak.logging was 1. Returns 1 if the word is a slot that must be visited,
** and stores the slot in *e. Returns 0 if there is nothing to visit:
**   - for a weak table; sets *e to the table, for the slots that follow in d
**   - for a logged object
**   - for a slot of an array or hash part that the table no longer has
**   - for a slot of a table that must be visited as a whole later (no LUAN_SCANNED)
*/
static inline int entryat (global_State *g, const luaN_Vec *d, size_t k, Entry *e) {
  void *slot = d->a[k];
  unsigned i;
  if (luaN_kindof(slot) != 0) {
    if (luaN_kindof(slot) == 1) *e = entryin(g, luaN_tableof(slot));
    return 0;
  }
  if (!(e->t->flags & LUAN_SCANNED) || !luaN_slotof(e->t, e->asize, slot, &i)) return 0;
  e->i = i;
  e->n = (i < e->asize) ? NULL : gnode(e->t, i - e->asize);
  e->v = (e->n == NULL) ? &e->t->array[i] : gval(e->n);
  return 1;
}


/* While list d is compacted in place: moves word k, a slot of table t, to index *kept, and
   increments *kept. *keptof is the table of the slot that was moved last (NULL: none). If it is not
   t, first stores the word of t at index *kept in the same way. Sets *keptof to t. Overwrites no
   unread word, because the words of t and of the slot were both read at indexes up to k. */
static inline void ahead_keep (luaN_Vec *d, size_t k, const Table *t, const Table **keptof,
                               size_t *kept) {
  void *slot = d->a[k];
  if (t != *keptof) d->a[(*kept)++] = luaN_tagged(t, 1);
  *keptof = t;
  d->a[(*kept)++] = slot;
  lua_assert(*kept <= k + 1);
}


/* }===================================================================== */


/* {== slices =========================================================== */

void luaN_begindoubting (luaN_Weak *w) {
  w->doubting = 1;
  w->resolved = 0;
  luaN_beginlist(w, LUAN_DOUBTKEYS);
}


static void *slotat (const Table *t, unsigned asize, unsigned i) {
  return (i < asize) ? (void *)&t->array[i] : (void *)gval(gnode(t, i - asize));
}


/*
** Returns 1 if slices must make a pass: visit all undecided entries (weak.doubtful) once more.
** Reason for a pass: without it, the atomic step would need a long visit of the list of entries
** with unmarked keys, because
** - objects marked since the last pass are not logged (ahead.h), so that the whole list must be
**   visited,
** - or more than LUAN_CACHED words were added to the list since the last pass.
**
** Returns 0 during a pass. Also returns 0 after MAX_PASSES passes, because passes might never end.
*/
static int needspass (const luaN_Weak *w) {
  if (w->doubting || w->passes >= MAX_PASSES) return 0;
  return !w->logging || w->doubtful[LUAN_DOUBTKEYS].n - w->visited > LUAN_CACHED;
}


/*
** Visits up to n slots of t, from index weak.slot on, and lists those with an unmarked weak key or
** value (kind: which references of t are weak, luaN_weakness). Returns 0 if slots of t are left.
** After the last slot, sets LUAN_SCANNED of t and returns 1. If a list cannot grow, returns 1
** without the flag, so that the atomic step visits t.
*/
static int visittable (global_State *g, Table *t, int kind, unsigned n) {
  luaN_Gc *c = &g->heap.gc;
  unsigned asize = luaN_asize(t), slots = luaN_slots(t), i = c->weak.slot;
  unsigned end = (n < slots - i) ? i + n : slots;
  int list, isfirst[LUAN_DOUBTS] = {1, 1};
  for (; i < end; i++) {
    unsigned doubts;
    if (i + PREFETCH_DISTANCE < slots) {
      const TValue *v = (const TValue *)slotat(t, asize, i + PREFETCH_DISTANCE);
      if (iscollectable(v)) __builtin_prefetch(gcvalue(v));
    }
    doubts = luaN_visitslot(g, t, kind, asize, i);
    for (list = 0; doubts != 0 && list < LUAN_DOUBTS; list++) {
      if (!(doubts & DOUBT(list))) continue;
      if (!luaN_listdoubt(g, list, t, slotat(t, asize, i), isfirst[list])) return 1;
      isfirst[list] = 0;
    }
  }
  c->weak.slot = end;
  if (end < slots) return 0;
  t->flags |= LUAN_SCANNED;
  if (needspass(&c->weak)) luaN_begindoubting(&c->weak);
  return 1;
}


/* Visits the next weak table that the major collection has reached (weak.inmajor, at index
   weak.next), or a part of this table, up to a cost of about 'bytes' (unit: the time to mark one
   byte). Returns the cost. Skips a table that
   - is not weak now
   - is small (MIN_SLOTS)
   - is in the remembered set as a whole
   - was visited already */
static size_t visitnext (global_State *g, size_t bytes) {
  luaN_Gc *c = &g->heap.gc;
  void **p = &c->weak.inmajor.a[c->weak.next];
  Table *t = luaN_tableof(*p);
  unsigned from, n = (unsigned)(bytes / LUAN_VISIT) + 1;
  int kind = luaN_weakness(g, t);
  if (luaN_has(LUAN_WEAKSLICES) && kind != LUAN_STRONG &&
      !(t->flags & LUAN_SCANNED) && luaN_slots(t) >= MIN_SLOTS(c) &&
      !luaN_islogged(t)) {
    if (kind != luaN_kindof(*p)) c->weak.slot = 0;
    *p = luaN_tagged(t, kind);
    from = c->weak.slot;
    if (!visittable(g, t, kind, n)) return (c->weak.slot - from) * LUAN_VISIT;
    n = luaN_slots(t) - from;
  }
  else n = 1;
  c->weak.next++;
  c->weak.slot = 0;
  return n * LUAN_VISIT;
}


/* Starts the log: from now on, each old object that is marked is appended to
   weak.doubtful[LUAN_DOUBTKEYS], the list of the entries with unmarked keys. If the object is the
   key of such an entry, the atomic step finds the entry by the log, and marks its value. */
static void beginlog (luaN_Weak *w) {
  w->visited = (unsigned)w->doubtful[LUAN_DOUBTKEYS].n;
  w->logging = 1;
}


/* Compacts the list of entries with unmarked keys after a visit of its first w->visited words:
   keeps the first 'kept' of these, and all words that were added during the visit. */
static void endvisits (luaN_Weak *w, size_t kept) {
  luaN_Vec *d = &w->doubtful[LUAN_DOUBTKEYS];
  size_t left = d->n - w->visited;
  if (left > 0) memmove(d->a + kept, d->a + w->visited, left * sizeof(*d->a));
  d->n = kept + left;
  w->visited = (unsigned)kept;
}


/*
** To be called in a pass at the end of one of the two lists weak.doubtful. After the list of
** entries with unmarked keys, continues with the list of entries with unmarked values. After that
** list, ends the pass; starts another if this one has marked enough, or if marked objects are not
** logged as possible keys (MIN_RESOLVED_PART).
*/
static void passed (luaN_Weak *w) {
  size_t n;
  if (w->again == LUAN_DOUBTKEYS) {
    endvisits(w, w->doubtkept);
    luaN_beginlist(w, LUAN_DOUBTVALUES);
    return;
  }
  w->doubtful[LUAN_DOUBTVALUES].n = w->doubtkept;
  n = w->doubtful[LUAN_DOUBTKEYS].n + w->doubtful[LUAN_DOUBTVALUES].n;
  w->doubting = (++w->passes < MAX_PASSES &&
                 (w->resolved > n / MIN_RESOLVED_PART || (!w->logging && w->passes < FEW_PASSES)));
  w->resolved = 0;
  luaN_beginlist(w, LUAN_DOUBTKEYS);
}


/* In a pass, visits entries of the list weak.doubtful[weak.again] (unmarked weak keys, or unmarked
   weak values) up to a cost of about 'bytes' (unit: the time to mark one byte), and returns the
   cost. Removes an entry from the list if its key or value is marked now. Keeps an entry whose
   table is strong now, because the table may become weak again. */
static size_t visitagain (global_State *g, size_t bytes) {
  luaN_Weak *w = &g->heap.gc.weak;
  luaN_Vec *d = &w->doubtful[w->again];
  Entry e = entryin(g, w->doubtof);
  size_t done = 0, end;
  if (w->again == LUAN_DOUBTKEYS && w->doubt == 0) beginlog(w);
  for (; w->doubt < (end = (w->again == LUAN_DOUBTKEYS) ? w->visited : d->n) && done < bytes;
       w->doubt++, done += LUAN_VISIT) {
    size_t kept = w->doubtkept;
    l_mem before = g->heap.gc.mark.reached;
    if (entryat(g, d, w->doubt, &e) &&
        (e.kind == LUAN_STRONG || luaN_visitslot(g, e.t, e.kind, e.asize, e.i) != 0)) {
      ahead_keep(d, w->doubt, e.t, &w->keptof, &kept);
      w->doubtkept = (unsigned)kept;
    }
    if (g->heap.gc.mark.reached != before) w->resolved++;
  }
  w->doubtof = e.t;
  if (w->doubt >= end) passed(w);
  return done + 1;
}


/* Returns 1 if the weak value of e may be tombstoned (its slot made to look empty, hidden.h).
   Returns 0 for a metamethod (its key starts with two underscores) and for a value in the registry:
   the core reads these without the check that restores a tombstoned value. */
static int mayhide (global_State *g, const Entry *e) {
  const Node *n = e->n;
  if (n != NULL && keyisshrstr(n)) {
    const char *s = getshrstr(keystrval(n));
    if (s[0] == '_' && s[1] == '_') return 0;
  }
  return e->t != hvalue(&g->l_registry);
}


/*
** Returns 1 if slices must tombstone unmarked weak values (make their slots look empty, hidden.h).
** They do this in rounds; a round visits the list of these values from index weak.hidden up to
** weak.doubtkept. The result is 1 if the current round is not finished, or if more than MIN_HIDDEN
** words were added to the list since the last round. It is 0 after the atomic step that decides
** which objects are dead.
*/
static int hasdoubts (const luaN_Gc *c) {
  const luaN_Weak *w = &c->weak;
  if (w->decided || !luaN_has(LUAN_TOMBSTONES)) return 0;
  return w->hidden < w->doubtkept ||
         (w->doubtful[LUAN_DOUBTVALUES].n - w->hidden > MIN_HIDDEN(c) && w->passes < MAX_PASSES);
}


/* Tombstones unmarked weak values (makes their slots look empty, hidden.h), up to a cost of about
   'bytes' (unit: the time to mark one byte), and returns the cost. Continues in the list where the
   last call has stopped. A value for which mayhide returns 0 is not tombstoned; its slot is listed
   again, for the atomic step. */
static size_t hidesome (global_State *g, size_t bytes) {
  luaN_Weak *w = &g->heap.gc.weak;
  luaN_Vec *d = &w->doubtful[LUAN_DOUBTVALUES];
  Entry e = entryin(g, w->doubtof != NULL ? w->doubtof : luaN_tablebefore(d, w->hidden));
  size_t done = 0;
  if (w->hidden >= w->doubtkept) {
    w->doubtkept = (unsigned)d->n;
    w->passes++;
  }
  for (; w->hidden < w->doubtkept && done < bytes; w->hidden++, done += CLEAR_COST) {
    if (!entryat(g, d, w->hidden, &e) || !iscollectable(e.v)) continue;
    if (e.kind & LUAN_WEAKVALUES) {
      if (!luaN_isgone(g, e.v)) continue;
      if (mayhide(g, &e)) {
        luaN_hide(e.v);
        continue;
      }
    }
    if (!luaN_listdoubt(g, LUAN_DOUBTVALUES, e.t, e.v, 1)) luaN_lookonce(g, e.t);
  }
  w->doubtof = e.t;
  return done + 1;
}


/* If the slot of e is a node without a value, makes the node's key dead. But keeps the key if the
   value is tombstoned (the slot only looks empty, hidden.h), because the value may be restored. */
static inline void bury (const Entry *e) {
  if (e->n != NULL && isempty(e->v) && !luaN_ishidden(e->v) && keyiscollectable(e->n))
    setdeadkey(e->n);
}


/* Removes the first weak.hidden words from the list of unmarked weak values. Slices have tombstoned
   these values, and have restored or cleared all of them since. */
static void dropshown (luaN_Weak *w) {
  luaN_Vec *d = &w->doubtful[LUAN_DOUBTVALUES];
  size_t k = w->hidden;
  if (k < d->n && luaN_kindof(d->a[k]) == 0) {
    void *t = luaN_tagged(luaN_tablebefore(d, k), 1);
    d->a[--k] = t;
  }
  if (k < d->n) memmove(d->a, d->a + k, (d->n - k) * sizeof(*d->a));
  d->n -= k;
  w->hidden = 0;
}


/* Restores tombstoned weak values (hidden.h), or clears them if their objects are dead, up to a
   cost of about 'bytes' (unit: the time to mark one byte). Returns the cost. To be called after
   luaN_decide, because it is not known before which objects are dead. */
static size_t showsome (global_State *g, size_t bytes) {
  luaN_Weak *w = &g->heap.gc.weak;
  luaN_Vec *d = &w->doubtful[LUAN_DOUBTVALUES];
  Entry e = entryin(g, w->doubtof);
  size_t done = 0;
  for (; w->doubt < w->hidden && done < bytes; w->doubt++, done += CLEAR_COST) {
    if (!entryat(g, d, w->doubt, &e)) continue;
    if (luaN_ishidden(e.v)) luaN_showslot(g, e.v);
    bury(&e);
  }
  w->doubtof = e.t;
  if (w->doubt >= w->hidden) {
    dropshown(w);
    luaN_beginlist(w, LUAN_DOUBTKEYS);
  }
  return done + 1;
}


int luaN_lookahead (global_State *g, size_t bytes) {
  luaN_Gc *c = &g->heap.gc;
  size_t done = 0;
  while (done < bytes) {
    if (c->weak.next < c->weak.inmajor.n) done += visitnext(g, bytes - done);
    else if (c->weak.doubting) done += visitagain(g, bytes - done);
    else if (hasdoubts(c)) done += hidesome(g, bytes - done);
    else if (c->weak.decided && c->weak.hidden > 0) done += showsome(g, bytes - done);
    else return c->mark.old.n == 0;  /* 0: first traverse mark.old */
  }
  return 0;
}

/* }===================================================================== */


/* {== the atomic step ================================================== */

/* If the key of entry e is marked and the table has weak keys and strong values, marks the value
   with everything it refers to, and increments *resolved. Returns 1 if the table has weak keys and
   the key is marked, else 0. (An array slot counts as an entry with a marked key.) */
static int ahead_resolve (global_State *g, const Entry *e, size_t *resolved) {
  if (!(e->kind & LUAN_EPHEMERON) || (e->n != NULL && luaN_iskeygone(g, e->n))) return 0;
  if (e->kind == LUAN_EPHEMERON) {
    luaN_markvalue(g, e->v);
    luaN_drain(g, 1);
    ++*resolved;
  }
  return 1;
}


/* Visits the list of entries whose keys were unmarked. If a key is marked now, removes its entry
   from the list and, if the value is strong, marks the value. Also starts the log, in which marking
   records the objects that it marks: later visits look up only these. Returns the number of values
   that it has marked. */
static size_t resolveall (global_State *g) {
  luaN_Weak *w = &g->heap.gc.weak;
  luaN_Vec *d = &w->doubtful[LUAN_DOUBTKEYS];
  Entry e = entryin(g, NULL);
  const Table *keptof = NULL;
  size_t k, resolved = 0, kept = 0;
  beginlog(w);
  g->heap.gc.pause.looked[LUAN_LWEAK] += d->n;
  for (k = 0; k < w->visited; k++)
    if (entryat(g, d, k, &e) && !ahead_resolve(g, &e, &resolved))
      ahead_keep(d, k, e.t, &keptof, &kept);
  endvisits(w, kept);
  return resolved;
}


/* Looks up o, a marked object that may be a weak key, in all ephemeron tables of weak.inmajor, and
   marks the values of the entries with this key, with everything they refer to. Returns the number
   of these values. */
static size_t resolvekey (global_State *g, GCObject *o) {
  const luaN_Vec *v = &g->heap.gc.weak.inmajor;
  size_t i, resolved = 0;
  TValue key;
  val_(&key).gc = o;
  settt_(&key, ctb(o->tt));
  for (i = 0; i < v->n; i++) {
    Table *t = luaN_tableof(v->a[i]);
    const TValue *value = (luaN_kindof(v->a[i]) == LUAN_EPHEMERON) ? luaH_get(t, &key) : NULL;
    if (value == NULL || !iscollectable(value)) continue;
    luaN_markvalue(g, value);
    luaN_drain(g, 1);
    resolved++;
  }
  return resolved;
}


int luaN_resolvedoubtful (global_State *g) {
  luaN_Weak *w = &g->heap.gc.weak;
  luaN_Vec *d = &w->doubtful[LUAN_DOUBTKEYS];
  size_t resolved = 0, lookups = 0;
  Entry e;
  if (d->n == 0) return 0;
  if (!w->logging) resolved = resolveall(g);
  e = entryin(g, luaN_tablebefore(d, w->visited));
  for (; w->logging && w->visited < d->n; w->visited++) {
    void *p = d->a[w->visited];
    g->heap.gc.pause.looked[LUAN_LWEAK]++;
    if (luaN_kindof(p) == 2) {
      resolved += resolvekey(g, (GCObject *)luaN_tableof(p));
      lookups += w->inmajor.n;
      g->heap.gc.pause.looked[LUAN_LWEAK] += w->inmajor.n;
      if (lookups > LUAN_CACHED + d->n) w->logging = 0;
    }
    else if (entryat(g, d, w->visited, &e)) ahead_resolve(g, &e, &resolved);
  }
  return resolved > 0 || !w->logging;
}


void luaN_followdoubtful (global_State *g, luaN_Chase *x) {
  const luaN_Vec *d = &g->heap.gc.weak.doubtful[LUAN_DOUBTKEYS];
  Entry e = entryin(g, NULL);
  size_t k;
  for (k = 0; k < d->n; k++)
    if (entryat(g, d, k, &e) && e.kind == LUAN_EPHEMERON && e.n != NULL) luaN_follow(g, x, e.n);
}


void luaN_cleardoubtful (global_State *g) {
  luaN_Weak *w = &g->heap.gc.weak;
  const luaN_Vec *d = &w->doubtful[LUAN_DOUBTVALUES];
  size_t k = w->hidden;
  Entry e = entryin(g, luaN_tablebefore(d, k));
  g->heap.gc.pause.looked[LUAN_LWEAK] += d->n - k;
  for (; k < d->n; k++) {
    if (!entryat(g, d, k, &e)) continue;
    if ((e.kind & LUAN_WEAKVALUES) && luaN_isgone(g, e.v)) setempty(e.v);
    bury(&e);
  }
}


int luaN_decide (global_State *g) {
  luaN_Weak *w = &g->heap.gc.weak;
  if (w->decided || w->hidden == 0) return 0;
  w->decided = 1;
  luaN_beginlist(w, LUAN_DOUBTKEYS);
  return 1;
}

/* }===================================================================== */


/* {== the sweep of entries with dead keys =============================== */

void luaN_beginclearing (global_State *g) {
  luaN_Weak *w = &g->heap.gc.weak;
  lua_assert(w->hidden == 0);
  if (w->inmajor.n == 0) luaN_forgetweak(g);
  w->doubtful[LUAN_DOUBTVALUES].n = 0;
  w->doubting = w->logging = 0;
  luaN_beginlist(w, LUAN_DOUBTKEYS);
}


size_t luaN_clearslice (global_State *g, size_t bytes) {
  luaN_Weak *w = &g->heap.gc.weak;
  luaN_Vec *d = &w->doubtful[LUAN_DOUBTKEYS];
  Entry e = entryin(g, w->doubtof);
  size_t done = 0;
  for (; w->doubt < d->n && done < bytes; w->doubt++, done += CLEAR_COST) {
    if (!entryat(g, d, w->doubt, &e)) continue;
    if (e.n != NULL && keyiscollectable(e.n) && isdead(g, gckey(e.n))) setempty(e.v);
    bury(&e);
  }
  w->doubtof = e.t;
  if (w->doubt >= d->n) luaN_forgetweak(g);
  return done + 1;
}

/* }===================================================================== */
