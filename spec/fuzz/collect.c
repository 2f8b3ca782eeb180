/* SPDX-License-Identifier: MIT */
/*
** Actions of the graph fuzzer on collections, their modes, metatables and finalizers. The model
** predicts exactly which objects a full collection frees. full_collect compares Lua with this
** prediction, and then removes the nodes of the freed objects from the model.
*/
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "model.h"

/* Functions of Asamp's core. They are NULL if the fuzzer is linked with upstream's Lua. */
extern void luaN_outside (lua_State *L, int idx, size_t n) __attribute__((weak));
extern unsigned long luaN_setnursery (lua_State *L, unsigned long n) __attribute__((weak));

/* {== Metamethods == */

static int b_setmetatable (lua_State *L) {
  lua_setmetatable(L, 1);
  return 0;
}

/*
** Stores a resurrected object in one of the global slots for such objects. At random, marks it
** for finalization again.
*/
static void keep_revived (lua_State *L, Node *n) {
  int i;
  for (i = GLOBALS - REVIVED; i < GLOBALS; i++)
    if (w.global[i].tag == V_BOOL) {
      revive(n);
      lua_pushvalue(L, 1);
      store(L, LOCALS + i, node_value(n));
      if (chance(2)) return;
      lua_pushvalue(L, 1);
      lua_rawgeti(L, LUA_REGISTRYINDEX, w.mtref[n->mt]);
      calm(L, b_setmetatable, 2, 0);
      n->fin = 1;
      n->seq = ++w.seq;
      return;
    }
}

/*
** The metamethod __gc of all objects. Checks that the object is unreachable in the model, and
** that its finalizer is called only once.
*/
static int on_gc (lua_State *L) {
  Node *n = node_at(lua_topointer(L, 1));
  if (n == NULL) wrong("finalizer of an unknown object at %p", lua_topointer(L, 1));
  if (!n->fin) wrong("finalizer of object %u called, but not due", n->id);
  if (!w.closing) {
    reach_now();
    if (!n->maybe && (n->marks & REACH_NOW))
      wrong("finalizer of object %u, which is reachable", n->id);
  }
  n->fin = n->maybe = 0;
  w.finalized++;
  if (w.logged == w.logsize) {
    w.logsize = w.logsize ? w.logsize * 2 : 64;
    w.log = realloc(w.log, w.logsize * sizeof *w.log);
    if (w.log == NULL) wrong("no memory for the model");
  }
  w.log[w.logged++] = n->seq;
  if (mt_fin(n->mt) == FIN_REVIVE && !w.closing) keep_revived(L, n);
  w.finalizing = 1;
  /* allocates garbage; this may raise an error if memory is refused */
  lua_createtable(L, 3, 0);
  w.finalizing = 0;
  return 0;
}

/*
** The warning function of the state. Lua calls it if a __gc has raised an error, which is allowed
** only if memory was refused. If the error was raised before on_gc ran, increments w.lost.
*/
void on_warning (void *ud, const char *message, int more) {
  (void)ud;
  (void)more;
  if (strcmp(message, "error in ") != 0) return;
  if (memory.failed == 0) wrong("a finalizer raised an error");
  if (w.finalizing) w.finalizing = 0;
  else w.lost++;
}

/*
** Returns 1 if the finalizer of n may be one of those that failed before on_gc ran (w.lost), and
** then decrements w.lost.
*/
int lost_finalizer (Node *n) {
  if (w.lost == 0) return 0;
  w.lost--;
  n->fin = n->maybe = 0;
  return 1;
}

/*
** The metamethod __close. n->closers is the number of its calls that are due; threads.c computes
** it.
*/
static int on_close (lua_State *L) {
  Node *n = node_at(lua_topointer(L, 1));
  if (n == NULL || n->closers <= 0) wrong("__close called, but not due");
  n->closers--;
  return 0;
}

const luaL_Reg metamethods[] = {{"__gc", on_gc}, {"__close", on_close}};

/*
** Checks the order of the finalizers that ran: from the newest object to the oldest. The order
** may be violated at up to 'ascents' places (-1: any number), once for each earlier collection
** that left finalizers to be called.
*/
void check_finalized (int ascents) {
  unsigned i;
  for (i = 1; ascents >= 0 && i < w.logged; i++)
    if (w.log[i] > w.log[i - 1] && ascents-- == 0)
      wrong("finalizers out of order: number %lu after %lu", w.log[i], w.log[i - 1]);
  w.logged = 0;
}

static int has_finalizer (const Node *n) {
  return mt_fin(n->mt) != FIN_NONE;
}

static void a_setmetatable (lua_State *L) {
  int s = slot_of(1u << N_TABLE | 1u << N_USERDATA), m = (int)random_below(METATABLES), t = -1;
  Node *n;
  if (s < 0) return;
  n = slot_node(s);
  if (n->kind == N_USERDATA) m -= mt_mode(m);
  /* a weak table must keep its weak mode when it receives another metatable */
  if (mt_mode(n->mt)) m = m - mt_mode(m) + mt_mode(n->mt);
  if (n->fin && mt_fin(m) == FIN_NONE) m += 4;
  if (!n->fin && !n->closable && !mt_mode(n->mt) && chance(3)) {
    m = -1;
    t = chance(3) ? -1 : slot_of(1u << N_TABLE);
  }
  push_slot(L, s);
  if (m >= 0) lua_rawgeti(L, LUA_REGISTRYINDEX, w.mtref[m]);
  else if (t >= 0) push_slot(L, t);
  else lua_pushnil(L);
  calm(L, b_setmetatable, 2, 0);
  n->mt = m;
  n->meta = t >= 0 ? slot_node(t) : NULL;
  if (has_finalizer(n) && !n->fin) {
    n->fin = 1;
    n->maybe = 0;
    n->seq = ++w.seq;
  }
}

/* == Metamethods ==} */

/* {== Collections == */

static void forget_dead (void) {
  unsigned i, j, keep = REACH_FINAL | REACH_AFTER;
  for (i = 0; i < w.nodes; i++) {
    Node *n = w.node[i];
    if (!(n->marks & keep)) continue;
    if (w.depth <= 1) n->maybe = 0;
    if (mt_mode(n->mt))
      for (j = 0; j < n->map.size; j++) {
        Entry *e = &n->map.entry[j];
        if (e->key.tag > V_NIL &&
            (!reachable(e->key, keep) || !reachable(e->value, keep)))
          map_remove(&n->map, e);
      }
  }
  reach_more(keep);
  for (i = w.nodes; i-- > 0;)
    if (!(w.node[i]->marks & (keep | REACH_HELD))) node_delete(w.node[i]);
  for (i = 0; i < w.nodes; i++) w.node[i]->marks &= ~REACH_HELD;
}

/*
** Resets the flags of resurrected objects. Called when all weak tables that are certainly
** reachable were compared and no slot was tombstoned. From then on a resurrected object is like
** any other object, and so are the objects that only it reaches.
*/
static void settle (void) {
  unsigned i;
  reach(REACH_NOW);
  for (i = 0; i < w.nodes; i++) {
    w.node[i]->visited = !(w.node[i]->marks & REACH_NOW);
    w.node[i]->revived = 0;
  }
  reach_settled();
  for (i = 0; i < w.nodes; i++)
    w.node[i]->revived = (w.node[i]->marks & REACH_NOW) && w.node[i]->visited;
}

/*
** Checks the result of LUA_GCCOUNT. It must be at most the number of bytes that Lua has from
** lua_Alloc, and at least the sum of the sizes of the objects that must be alive.
*/
static void check_count (lua_State *L) {
  size_t count = (size_t)lua_gc(L, LUA_GCCOUNT) * 1024 + (size_t)lua_gc(L, LUA_GCCOUNTB);
  size_t least = 0;
  unsigned i;
  for (i = 0; i < w.nodes; i++)
    if (w.node[i]->marks & REACH_NOW)
      least += 16 + w.node[i]->size + w.node[i]->map.count * 8u + (size_t)w.node[i]->n * 8u;
  if (count > memory.bytes || count < least)
    wrong("count says %zu bytes, of %zu held; the model needs %zu", count, memory.bytes, least);
}

/*
** Checks the number of external bytes that Lua reports. It must be at least the sum over the live
** userdata of the model, and at most the sum over all of its userdata.
*/
static void check_outside (lua_State *L) {
  size_t sum, least = 0, most = 0;
  unsigned i;
  if (luaN_outside == NULL) return;
  lua_getglobal(L, "collectgarbage");
  lua_pushstring(L, "statistics");
  lua_call(L, 1, 1);
  lua_getfield(L, -1, "outside");
  sum = (size_t)lua_tointeger(L, -1);
  lua_pop(L, 2);
  for (i = 0; i < w.nodes; i++) {
    if (w.node[i]->marks & REACH_NOW) least += w.node[i]->outside;
    most += w.node[i]->outside;
  }
  if (sum < least || sum > most)
    wrong("userdata represent %zu bytes outside; the model says %zu to %zu", sum, least, most);
}

static int b_check_outside (lua_State *L) {
  check_outside(L);
  return 0;
}

static int b_collect (lua_State *L) {
  lua_gc(L, LUA_GCCOLLECT);
  return 0;
}

/*
** Runs the finalizers that are pending. An emergency collection may have queued them, or a
** collection that was overdue after raw stores. The result of the next collection can be
** predicted only after they have run, because it treats all objects that they can access as
** reachable. Resets w.marked, because the finalizers may have changed the model.
*/
static void drain (lua_State *L) {
  static unsigned long failed;
  const char *stress = getenv("LUAN_STRESS");
  if (memory.failed == failed && !w.flooded &&
      (stress == NULL || strstr(stress, "emergency") == NULL))
    return;
  failed = memory.failed;
  w.flooded = 0;
  w.marked = 0;
  calm(L, b_collect, 0, 0);
}

void full_collect (lua_State *L) {
  unsigned i;
  int strict = w.strict;
  Node **due;
  unsigned dues = 0;
  w.collecting = 1;
  drain(L);
  reach(REACH_NOW);
  w.marked = w.action + 1;
  reach_final();
  due = fresh((w.nodes + 1) * sizeof(Node *));
  for (i = 0; i < w.nodes; i++)
    if (w.node[i]->fin && !(w.node[i]->marks & REACH_POSSIBLE)) due[dues++] = w.node[i];
  check_finalized(-1);
  calm(L, b_collect, 0, 0);
  w.collecting = 0;
  check_finalized(strict ? 0 : memory.failed ? -1 : 2);
  /*
  ** check() needs the marks from before the collection; therefore this computes another set,
  ** REACH_AFTER
  */
  reach(REACH_AFTER);
  for (i = 0; i < dues; i++)
    /* a finalizer that an earlier collection queued may have resurrected the object */
    if (due[i]->fin && !(due[i]->marks & REACH_AFTER) && !lost_finalizer(due[i]))
      wrong("a full collection did not call the finalizer of object %u", due[i]->id);
  free(due);
  check(L, 1);
  check_count(L);
  lua_gc(L, LUA_GCSTOP);
  calm(L, b_check_outside, 0, 0);
  if (!w.stopped) lua_gc(L, LUA_GCRESTART);
  forget_dead();
  if (w.depth <= 1) settle();
  check_invariants(L);
  w.marked = 0;
  w.collections++;
  w.strict = w.stopped;
}

static void a_collect (lua_State *L) {
  full_collect(L);
}

static void a_check (lua_State *L) {
  check(L, 0);
}

static int b_step (lua_State *L) {
  lua_gc(L, LUA_GCSTEP, w.a);
  return 0;
}

static void a_step (lua_State *L) {
  static const int sizes[] = {0, 0, 0, 0, 1, 1, 1, 1, 10, 10, 100, 100, 1000, 1000, -1, -1000,
    INT_MAX, INT_MIN};
  w.a = sizes[random_below(sizeof sizes / sizeof *sizes)];
  w.strict = 0;
  call(L, b_step, 0, 0);
}

static int b_mode (lua_State *L) {
  int old = w.a ? lua_gc(L, LUA_GCGEN, (int)random_below(2) * (int)random_below(100),
                         (int)random_below(2) * (int)random_below(300))
                : lua_gc(L, LUA_GCINC, (int)random_below(2) * (100 + (int)random_below(300)),
                         (int)random_below(2) * (50 + (int)random_below(900)),
                         (int)random_below(2) * (5 + (int)random_below(15)));
  if (old != (w.generational ? LUA_GCGEN : LUA_GCINC)) wrong("lua_gc names the wrong mode: %d", old);
  return 0;
}

static void a_mode (lua_State *L) {
  if (w.noswitch) return;
  w.a = chance(2);
  w.strict = 0;
  calm(L, b_mode, 0, 0);
  w.generational = w.a;
}

/*
** Stops the collector for some hundred actions, so that all objects that die meanwhile are freed
** by one full collection.
*/
static void a_stop (lua_State *L) {
  static unsigned long since;
  if (!w.stopped && chance(6)) {
    lua_gc(L, LUA_GCSTOP);
    w.stopped = 1;
    since = w.action;
    full_collect(L);
  }
  else if (w.stopped && w.action - since > 300) {
    if (chance(2)) full_collect(L);
    lua_gc(L, LUA_GCRESTART);
    w.stopped = w.strict = 0;
  }
  if (lua_gc(L, LUA_GCISRUNNING) == w.stopped) wrong("is the collector running?");
}

static void a_parameters (lua_State *L) {
  int pause = lua_gc(L, LUA_GCSETPAUSE, 200), mul = lua_gc(L, LUA_GCSETSTEPMUL, 100);
  if (lua_gc(L, LUA_GCSETPAUSE, pause) != 200 || lua_gc(L, LUA_GCSETSTEPMUL, mul) != 100)
    wrong("lua_gc forgot a parameter");
  if (lua_gc(L, 99) != -1) wrong("lua_gc took an option that is none");
  if (chance(3)) lua_gc(L, LUA_GCSETPAUSE, (int)random_below(1100) - 50);
  if (chance(3)) lua_gc(L, LUA_GCSETSTEPMUL, (int)random_below(1100) - 50);
  if (luaN_setnursery != NULL)
    luaN_setnursery(L, chance(2) ? 0 : chance(20) ? ~0ul >> 1 : 256ul << random_below(14));
}

/*
** C function with a userdata as argument. Reports w.a as the number of its external bytes. If w.b
** is 1, first reports a number near the maximum of size_t, and then 0.
*/
static int b_outside (lua_State *L) {
  static const size_t all[] = {~(size_t)0, ~(size_t)0 / 2, (size_t)1 << 60};
  if (w.b) {
    luaN_outside(L, 1, all[random_below(3)]);
    luaN_outside(L, 1, 0);
  }
  luaN_outside(L, 1, (size_t)w.a);
  return 0;
}

static void a_outside (lua_State *L) {
  int s = slot_of(1u << N_USERDATA);
  int known;
  Node *n;
  if (s < 0 || luaN_outside == NULL) return;
  n = slot_node(s);
  w.a = chance(3) ? 0 : chance(20) ? 1 << random_below(30) : (int)random_below(100000);
  w.b = chance(50);
  w.strict = 0;
  known = (n->outside > 0 && !w.b);
  /*
  ** the call may run a collection; until it returns, the model has the larger one of the old and
  ** the new number
  */
  n->outside = (n->outside > (size_t)w.a) ? n->outside : (size_t)w.a;
  push_slot(L, s);
  calm(L, b_outside, 1, 0);
  n->outside = (size_t)w.a;
  /*
  ** If memory was refused earlier, Lua may not count the first external bytes of a userdata. It
  ** needs a table for them. If lua_Alloc has refused this table, Lua does not request it again
  ** before the next major collection.
  */
  if (memory.failed != 0 && !known) {
    push_slot(L, s);
    luaN_outside(L, -1, 0);
    lua_pop(L, 1);
    n->outside = 0;
  }
}

/* == Collections ==} */

const Choice collect_actions[] = {
  {a_setmetatable, 400}, {a_collect, 6}, {a_check, 4}, {a_step, 100}, {a_mode, 8},
  {a_stop, 40}, {a_parameters, 5}, {a_outside, 60}, {NULL, 0}
};
