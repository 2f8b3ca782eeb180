/* SPDX-License-Identifier: MIT */
/*
** graph SEED ACTIONS [key=value...]: runs random actions of the C API on one state and on a model
** of its objects, and compares them. Exit status 0: the state is as predicted, and no memory leaks;
** 1: a difference, printed with seed and action on stderr; 2: wrong arguments. Keys:
**
**   limit=BYTES   lua_Alloc refuses requests beyond this total
**   fail=P        lua_Alloc refuses P of a million requests to grow
**   check=K       calls luaN_check every K actions, if the Lua has it; 0: never
**   nodes=N       number of objects of the graph
**   mode=gen|inc  mode of the collector at the start
**   switch=0      does not change this mode
**   empty=0       creates no userdata of size 0: with an allocator without headers, such a userdata
**                 may have the same address as the next object
**   openjoin=0    calls no lua_upvaluejoin with an open upvalue: with assertions, Lua 5.4.7 rejects
**                 the age that the barrier sets for it
**   sample=BYTES  samples allocations with this period, and time 5000 times per second, into the
**                 profile named by GRAPH_PROFILE; LUA_CPATH must find the module
**   break=N       damages the model at action N: the run must end with status 1
**
** This file contains the slots (the roots) and the loop. An action has a protected part, which
** may raise an error, and a part that changes the model. A protected part that failed for lack of
** memory has changed nothing.
*/
#include <alloca.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <time.h>
#include <unistd.h>

#include "model.h"

extern const char *luaN_check (lua_State *L) __attribute__((weak));

static struct Options {
  unsigned long invariants, damage, sample;
} options = {20000, 0, 0};

void check_invariants (lua_State *L) {
  const char *why = luaN_check ? luaN_check(L) : NULL;
  if (why) wrong("luaN_check: %s", why);
}

/* {== Slots == */

Value slot (int s) {
  return s < LOCALS ? w.local[w.depth][s] : w.global[s - LOCALS];
}

Node *slot_node (int s) {
  return slot(s).u.node;
}

void push_slot (lua_State *L, int s) {
  if (s < LOCALS) lua_pushvalue(L, s + 1);
  else lua_rawgeti(L, LUA_REGISTRYINDEX, w.ref[s - LOCALS]);
}

/*
** Stores the value at the top of the stack in slot s, and removes it from the stack. 'v' is the
** same value in the model. If the slot is in the registry, nil is stored as another value, so
** that the key stays in the registry.
*/
void store (lua_State *L, int s, Value v) {
  if (s < LOCALS) {
    lua_replace(L, s + 1);
    w.local[w.depth][s] = v;
  }
  else {
    if (v.tag == V_NIL) {
      lua_pop(L, 1);
      lua_pushboolean(L, 0);
      v.tag = V_BOOL;
      v.u.i = 0;
    }
    lua_rawseti(L, LUA_REGISTRYINDEX, w.ref[s - LOCALS]);
    w.global[s - LOCALS] = v;
  }
}

int any_slot (void) {
  return (int)random_below(SLOTS);
}

int slot_of (unsigned kinds) {
  int i, s = any_slot();
  for (i = 0; i < SLOTS; i++, s = (s + 1) % SLOTS) {
    Value v = slot(s);
    if (v.tag == V_NODE && (1u << v.u.node->kind & kinds)) return s;
  }
  return -1;
}

/* == Slots ==} */

/*
** Calls 'f' in protected mode with the 'args' values at the top of the stack. Returns 1, or 0 if
** a memory request was refused; then there are no results. Any other error ends the process.
*/
int call (lua_State *L, lua_CFunction f, int args, int results) {
  int status;
  lua_pushcfunction(L, f);
  lua_insert(L, -args - 1);
  status = lua_pcall(L, args, results, 0);
  if (status == LUA_OK) return 1;
  if (status != LUA_ERRMEM || !memory.armed) wrong("an action raised %s", lua_tostring(L, -1));
  lua_pop(L, 1);
  w.errors++;
  return 0;
}

/* Like call(), but lua_Alloc refuses no request. For functions that must not fail. */
int calm (lua_State *L, lua_CFunction f, int args, int results) {
  int armed = memory.armed, done;
  memory.armed = 0;
  done = call(L, f, args, results);
  memory.armed = armed;
  return done;
}

/* {== The loop == */

/*
** Returns 1 if the memory in use is more than 90% of the limit. Uses LUA_GCCOUNT, not the bytes
** of lua_Alloc: a heap made of blocks takes all memory up to the limit before it collects, and
** then frees only parts of blocks. With the bytes of lua_Alloc, nearly every action would cause
** two full collections.
*/
static int isfull (lua_State *L) {
  return memory.limit && (size_t)lua_gc(L, LUA_GCCOUNT) > memory.limit / 10 * 9 / 1024;
}

static const Choice *const groups[] = {object_actions, thread_actions, collect_actions,
  bulk_actions, vector_actions};
#define GROUPS	(sizeof groups / sizeof *groups)

static Action choose (void) {
  static unsigned total;
  unsigned i, r;
  const Choice *c;
  if (total == 0)
    for (i = 0; i < GROUPS; i++)
      for (c = groups[i]; c->action; c++) total += c->weight;
  r = random_below(total);
  for (i = 0; i < GROUPS; i++)
    for (c = groups[i]; c->action; c++) {
      if (r < c->weight) return c->action;
      r -= c->weight;
    }
  return NULL;
}

static void drop_some (lua_State *L) {
  int s;
  for (s = 0; s < SLOTS; s++)
    if (!chance(3)) {
      lua_pushnil(L);
      store(L, s, nil_value());
    }
}

static void step (lua_State *L) {
  int top = lua_gettop(L);
  unsigned long failed = memory.failed;
  if (++w.action == options.damage) {
    w.global[0] = int_value(123456789);
    check(L, 0);
  }
  choose()(L);
  if (lua_gettop(L) != top) wrong("an action left %d values", lua_gettop(L) - top);
  if (memory.failed != failed) w.strict = 0;
  if (w.logged && !w.collecting) check_finalized(-1);
  if (w.nodes > w.maxnodes || isfull(L)) {
    drop_some(L);
    full_collect(L);
    full_collect(L);
  }
  if (options.invariants && w.action % options.invariants == 0) check_invariants(L);
}

/*
** C function that runs random actions in a stack frame of its own. The slots of the frame are
** roots.
*/
int run_frame (lua_State *L) {
  int s;
  unsigned long n = w.depth == 0 ? w.actions : random_below(60);
  lua_settop(L, 0);
  lua_settop(L, LOCALS);
  w.depth++;
  for (s = 0; s < LOCALS; s++) w.local[w.depth][s] = nil_value();
  while (n-- > 0 && w.action < w.actions) step(L);
  for (s = 0; s < LOCALS; s++) match(L, s + 1, slot(s), "a slot at the end of its frame");
  w.depth--;
  w.marked = 0;
  return 0;
}

/* == The loop ==} */

static int prepare (lua_State *L) {
  int i;
  luaL_openlibs(L);
  lua_setwarnf(L, on_warning, NULL);
  w.queue = lua_newthread(L);
  luaL_ref(L, LUA_REGISTRYINDEX);
  for (i = 0; i < GLOBALS; i++) {
    lua_pushboolean(L, 0);
    w.ref[i] = luaL_ref(L, LUA_REGISTRYINDEX);
    w.global[i].tag = V_BOOL;
  }
  for (i = 0; i < METATABLES; i++) {
    static const char *const modes[] = {NULL, "k", "v", "kv"};
    lua_newtable(L);
    if (mt_fin(i)) {
      lua_pushcfunction(L, metamethods[0].func);
      lua_setfield(L, -2, metamethods[0].name);
    }
    lua_pushcfunction(L, metamethods[1].func);
    lua_setfield(L, -2, metamethods[1].name);
    if (mt_mode(i)) {
      lua_pushstring(L, modes[mt_mode(i)]);
      lua_setfield(L, -2, "__mode");
    }
    w.mtref[i] = luaL_ref(L, LUA_REGISTRYINDEX);
  }
  if (luaL_loadstring(L, thread_chunk) != LUA_OK) return lua_error(L);
  lua_call(L, 0, 4);
  w.trampref = luaL_ref(L, LUA_REGISTRYINDEX);
  w.deepref = luaL_ref(L, LUA_REGISTRYINDEX);
  w.bodyref = luaL_ref(L, LUA_REGISTRYINDEX);
  w.makeref = luaL_ref(L, LUA_REGISTRYINDEX);
  return 0;
}

/*
** Makes two inputs of Lua's hash seed constant: the time, and an address on the C stack. So the
** fuzzer's seed alone determines a run. main continues at a stack address that is a multiple of
** STACK_PLACE bytes, so that the size of the environment and of the arguments does not change it.
*/
#define STACK_PLACE	65536u

time_t time (time_t *t) {
  if (t) *t = 0;
  return 0;
}

static void fix_addresses (char **argv) {
  int now = personality(0xffffffff);
  if (now == -1 || (now & ADDR_NO_RANDOMIZE)) return;
  if (personality((unsigned long)now | ADDR_NO_RANDOMIZE) == -1) return;
  execv("/proc/self/exe", argv);
}

static int usage (const char *what) {
  fprintf(stderr, "graph: bad argument '%s'; use: graph SEED ACTIONS [limit=BYTES] "
          "[fail=P] [check=K] [nodes=N] [mode=gen|inc] [switch=0] [empty=0] [openjoin=0] "
          "[sample=BYTES] [break=N]\n", what);
  return 2;
}

static int number (const char *s, unsigned long *n) {
  char *end;
  errno = 0;
  *n = strtoul(s, &end, 10);
  return *s >= '0' && *s <= '9' && *end == '\0' && errno == 0;
}

static int option (char *arg) {
  char *value = strchr(arg, '=');
  unsigned long n = 0;
  size_t length;
  if (value == NULL) return 0;
  length = (size_t)(value++ - arg);
#define IS(name)	(length == sizeof name - 1 && memcmp(arg, name, length) == 0)
  if (IS("mode")) {
    w.generational = strcmp(value, "gen") == 0;
    return w.generational || strcmp(value, "inc") == 0;
  }
  if (!number(value, &n)) return 0;
  if (IS("limit")) memory.limit = n;
  else if (IS("fail")) memory.perMillion = (unsigned)n;
  else if (IS("check")) options.invariants = n;
  else if (IS("empty")) w.noempty = n == 0;
  else if (IS("switch")) w.noswitch = n == 0;
  else if (IS("openjoin")) w.noopenjoin = n == 0;
  else if (IS("nodes") && n > 0) w.maxnodes = (unsigned)n;
  else if (IS("sample")) options.sample = n;
  else if (IS("break")) options.damage = n;
  else return 0;
  return 1;
#undef IS
}

static int start_sampling (lua_State *L) {
  luaL_loadstring(L, "local period, out = ...\n"
    "local core = require 'profiler.core'\n"
    "assert(core.open{out = out, period = period, timeperiod = 200000, native = true})\n"
    "core.on(period, true)\n"
    "assert(core.timeon(200000, false))");
  lua_pushinteger(L, (lua_Integer)options.sample);
  lua_pushstring(L, getenv("GRAPH_PROFILE"));
  lua_call(L, 2, 0);
  return 0;
}

static void finish (lua_State *L) {
  unsigned i;
  check_invariants(L);
  w.closing = 1;
  memory.armed = 0;
  lua_close(L);
  check_finalized(memory.failed ? -1 : 1);
  for (i = 0; i < w.nodes; i++)
    if (w.node[i]->fin && !lost_finalizer(w.node[i]))
      wrong("lua_close did not call the finalizer of object %u", w.node[i]->id);
  if (memory.bytes != 0) wrong("lua_close left %zu bytes", memory.bytes);
}

static __attribute__((noinline)) int fuzz (int argc, char **argv) {
  lua_State *L;
  int i;
  w.maxnodes = 3000;
  if (argc < 3) return usage(argc < 2 ? "" : argv[1]);
  if (!number(argv[1], &w.seed)) return usage(argv[1]);
  if (!number(argv[2], &w.actions)) return usage(argv[2]);
  for (i = 3; i < argc; i++)
    if (!option(argv[i])) return usage(argv[i]);
  random_seed(w.seed);
  strings_init(w.seed);
  memory.random = w.seed;
  L = lua_newstate(allocate, NULL);
  if (L == NULL) wrong("no state");
  call(L, prepare, 0, 0);
  if (w.generational) lua_gc(L, LUA_GCGEN, 0, 0);
  if (options.sample) call(L, start_sampling, 0, 0);
  memory.armed = 1;
  call(L, run_frame, 0, 0);
  memory.armed = 0;
  full_collect(L);
  finish(L);
  printf("seed %lu: %lu actions, %lu full collections, %lu finalizers, %lu came back, "
         "%lu refusals, %lu errors\n", w.seed, w.action, w.collections, w.finalized, w.back,
         memory.failed, w.errors);
  return 0;
}

int main (int argc, char **argv) {
  volatile char *room;
  fix_addresses(argv);
  room = alloca((uintptr_t)__builtin_frame_address(0) % STACK_PLACE + 1);
  room[0] = 0;
  return fuzz(argc, argv);
}
