/* SPDX-License-Identifier: MIT */
/* Exact counts (counting.h). A state has one Counting, a userdata in its registry. The numbers in
   it only grow; the result of a count is the difference of two reads. Sums over kinds of blocks
   leave out stacks (LUAN_KSTACK): whether a call makes a stack grow depends on earlier calls and
   collections. */
#include "counting.h"

#include <stdio.h>
#include <string.h>

#include "sample.h"

#define COUNTER	"profiler.counter"

/* The counts of a Lua state. */
typedef struct Counting {
  unsigned depth;	/* number of running counts */
  luaN_Counts counts;	/* allocations made while a count was running */
} Counting;

/* A counter of profiler.counter. */
typedef struct Counter {
  Counting *counting;	/* the exact counts of the Lua state */
  int active;		/* 1: the counter counts; 0: it is closed */
  /* While 'active' is 1: counting->counts at the start of this counter. After that: the allocations
     that this counter has counted. */
  luaN_Counts counts;
} Counter;

static const char key = 0;	/* the address of 'key' is the key of the Counting in the
                                   registry */

static void counting_count (lua_State *L, Counting *c) {
  if (c->depth++ == 0) luaN_setcounts(L, &c->counts);
}

static void counting_uncount (lua_State *L, Counting *c) {
  if (c->depth > 0 && --c->depth == 0) luaN_setcounts(L, NULL);
}

/* Returns the sum of n[kind] over all kinds of blocks except stacks. */
static uint64_t sum (const uint64_t n[LUAN_KINDS]) {
  uint64_t all = 0;
  int i;
  for (i = 0; i < LUAN_KINDS; i++) all += n[i];
  return all - n[LUAN_KSTACK];
}

/* Returns the Counting of the state; NULL: counting_open was not called. */
static Counting *counting_record (lua_State *L) {
  Counting *c;
  lua_rawgetp(L, LUA_REGISTRYINDEX, &key);
  c = lua_touserdata(L, -1);
  lua_pop(L, 1);
  return c;
}

int counting_start (lua_State *L) {
  Counting *c = counting_record(L);
  if (c != NULL) counting_count(L, c);
  return c != NULL;
}

int counting_stop (lua_State *L) {
  Counting *c = counting_record(L);
  int running = (c != NULL && c->depth > 0);
  if (running) counting_uncount(L, c);
  return running;
}

int counting_read (lua_State *L, asamp_Counts *to) {
  const Counting *c = counting_record(L);
  if (c == NULL) return 0;
  to->bytes = sum(c->counts.bytes);
  to->blocks = sum(c->counts.blocks);
  memcpy(to->kindbytes, c->counts.bytes, sizeof(to->kindbytes));
  memcpy(to->kindblocks, c->counts.blocks, sizeof(to->kindblocks));
  return 1;
}

/* Returns the size of a thread with its stack, in bytes. counting_alive subtracts this size,
   because the size of a stack depends on earlier calls. */
static uint64_t threadbytes (lua_State *L) {
  luaN_Object o;
  luaN_object(L, L, &o);
  return o.size;
}

uint64_t counting_alive (lua_State *L) {
  lua_State *main = luaN_main(L);
  luaN_Memory m;
  if (lua_gc(L, LUA_GCCOLLECT) != 0 || lua_gc(L, LUA_GCCOLLECT) != 0) return 0;
  luaN_memory(L, &m);
  return m.inuse - luaN_statebytes(L) - threadbytes(L) - (main != L ? threadbytes(main) : 0);
}

/* {== functions for Lua ================================================ */

/* Raises an error unless argument 1 can be called. */
static void checkcalled (lua_State *L) {
  int type = lua_type(L, 1);
  if (type != LUA_TFUNCTION && type != LUA_TTABLE && type != LUA_TUSERDATA)
    luaL_checktype(L, 1, LUA_TFUNCTION);
}

static int counting_nothing (lua_State *L) {
  (void)L;
  return 0;
}

/* Returns the results of count(f, ...) to Lua. l_count calls this function after f; if f has
   yielded, this function is the continuation of l_count. The stack has the Counting, the numbers of
   bytes and blocks that were counted before the call of f, and the results of f. */
static int counted (lua_State *L, int status, lua_KContext k) {
  const Counting *c = lua_touserdata(L, 1);
  uint64_t bytes = sum(c->counts.bytes) - (uint64_t)lua_tointeger(L, 2);
  uint64_t blocks = sum(c->counts.blocks) - (uint64_t)lua_tointeger(L, 3);
  (void)status; (void)k;
  luaL_checkstack(L, 1, NULL);
  lua_pushinteger(L, (lua_Integer)bytes);
  lua_copy(L, -1, 2);
  lua_pop(L, 1);
  lua_pushinteger(L, (lua_Integer)blocks);
  lua_copy(L, -1, 3);
  lua_pop(L, 1);
  return lua_gettop(L) - 1;
}

/* count(f, ...) -> bytes, blocks, results of f: counts the allocations of the call f(...). The
   Counting is a to-be-closed value, so that an error in f ends the count. counting_nothing is
   called before the count, so that the call frame for f is allocated already and not counted. */
static int l_count (lua_State *L) {
  Counting *c = lua_touserdata(L, lua_upvalueindex(1));
  checkcalled(L);
  luaL_checkstack(L, 2 * LUA_MINSTACK, NULL);
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_pushinteger(L, 0);
  lua_pushinteger(L, 0);
  lua_rotate(L, 1, 3);
  lua_pushcfunction(L, counting_nothing);
  lua_call(L, 0, 0);
  counting_count(L, c);
  lua_toclose(L, 1);
  lua_pushinteger(L, (lua_Integer)sum(c->counts.bytes));
  lua_copy(L, -1, 2);
  lua_pop(L, 1);
  lua_pushinteger(L, (lua_Integer)sum(c->counts.blocks));
  lua_copy(L, -1, 3);
  lua_pop(L, 1);
  lua_callk(L, lua_gettop(L) - 4, LUA_MULTRET, 0, counted);
  return counted(L, LUA_OK, 0);
}

/* __close of the Counting: ends the count that l_count has started. */
static int l_countend (lua_State *L) {
  Counting *c = counting_record(L);
  if (c != NULL && lua_touserdata(L, 1) == c) counting_uncount(L, c);
  return 0;
}

/* Returns the bytes in use after two full collections (counting_alive). Raises an error if no
   collection is possible. */
static uint64_t checkedalive (lua_State *L) {
  uint64_t n = counting_alive(L);
  if (n == 0) luaL_error(L, "profiler.alive needs a full collection, which a finalizer cannot run; "
                            "call profiler.alive outside of finalizers");
  return n;
}

/* Returns the result of alive(f, ...) to Lua. l_alive calls this function after f; if f has
   yielded, this function is the continuation of l_alive. The top of the stack is the number of
   bytes alive before the call of f. */
static int alive (lua_State *L, int status, lua_KContext k) {
  (void)status; (void)k;
  lua_pushinteger(L, (lua_Integer)checkedalive(L) - lua_tointeger(L, -1));
  return 1;
}

/* alive(f, ...) -> number of bytes that the call f(...) has left alive: counting_alive after the
   call minus counting_alive before it */
static int l_alive (lua_State *L) {
  int n = lua_gettop(L), i;
  checkcalled(L);
  luaL_checkstack(L, n + LUA_MINSTACK, NULL);
  lua_pushinteger(L, (lua_Integer)checkedalive(L));
  for (i = 1; i <= n; i++) lua_pushvalue(L, i);
  lua_callk(L, n - 1, 0, 0, alive);
  return alive(L, LUA_OK, 0);
}

/* counter() -> a Counter, which counts allocations until 'close', __close or __gc */
static int l_counter (lua_State *L) {
  Counting *c = lua_touserdata(L, lua_upvalueindex(1));
  Counter *r = lua_newuserdatauv(L, sizeof(*r), 0);
  memset(r, 0, sizeof(*r));
  luaL_setmetatable(L, COUNTER);
  r->counting = c;
  r->active = 1;
  counting_count(L, c);
  r->counts = c->counts;
  return 1;
}

/* Returns the counted allocations of a kind since 'from': now[kind] - from[kind]. If 'kind' is
   negative, returns the sum over all kinds except stacks. */
static uint64_t difference (const uint64_t *now, const uint64_t *from, int kind) {
  return (kind < 0) ? sum(now) - sum(from) : now[kind] - from[kind];
}

/* Raises an error for argument 2, the invalid name of a kind of block. */
static int unknownkind (lua_State *L, const char *name) {
  char known[256];
  size_t n = 0;
  int i;
  for (i = 0; i < LUAN_KINDS && n < sizeof(known); i++)
    n += (size_t)snprintf(known + n, sizeof(known) - n, "%s%s", i > 0 ? ", " : "",
                          profile_kindname(i));
  return luaL_argerror(L, 2, lua_pushfstring(L, "unknown kind of block '%s' (known: %s)", name,
                                             known));
}

/* read([kind]) -> bytes, blocks: allocations of this kind of block since the counter was created;
   without an argument, allocations of all kinds except stacks */
static int l_read (lua_State *L) {
  const Counter *r = luaL_checkudata(L, 1, COUNTER);
  const char *name = luaL_optlstring(L, 2, NULL, NULL);
  static const luaN_Counts none;
  const luaN_Counts *now = r->active ? &r->counting->counts : &r->counts;
  const luaN_Counts *from = r->active ? &r->counts : &none;
  int kind = -1;
  if (name != NULL) {
    for (kind = 0; kind < LUAN_KINDS && strcmp(name, profile_kindname(kind)) != 0; kind++) {}
    if (kind == LUAN_KINDS) return unknownkind(L, name);
  }
  lua_pushinteger(L, (lua_Integer)difference(now->bytes, from->bytes, kind));
  lua_pushinteger(L, (lua_Integer)difference(now->blocks, from->blocks, kind));
  return 2;
}

/* close(), __close and __gc of a Counter: end its count. Afterwards, 'read' returns the final
   numbers. */
static int l_counterend (lua_State *L) {
  Counter *r = luaL_checkudata(L, 1, COUNTER);
  const luaN_Counts *now = &r->counting->counts;
  int i;
  if (!r->active) return 0;
  for (i = 0; i < LUAN_KINDS; i++) {
    r->counts.bytes[i] = now->bytes[i] - r->counts.bytes[i];
    r->counts.blocks[i] = now->blocks[i] - r->counts.blocks[i];
  }
  r->active = 0;
  counting_uncount(L, r->counting);
  return 0;
}

void counting_open (lua_State *L) {
  static const luaL_Reg functions[] = {
    {"count", l_count}, {"counter", l_counter}, {"alive", l_alive}, {NULL, NULL}
  };
  static const luaL_Reg ofrecord[] = {{"__close", l_countend}, {NULL, NULL}};
  static const luaL_Reg ofcounter[] = {
    {"read", l_read}, {"close", l_counterend}, {"__close", l_counterend}, {"__gc", l_counterend},
    {NULL, NULL}
  };
  Counting *c = lua_newuserdatauv(L, sizeof(*c), 0);
  memset(c, 0, sizeof(*c));
  luaL_newlib(L, ofrecord);
  lua_setmetatable(L, -2);
  lua_pushvalue(L, -1);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &key);
  luaL_newmetatable(L, COUNTER);
  lua_pushvalue(L, -1);
  lua_setfield(L, -2, "__index");
  luaL_setfuncs(L, ofcounter, 0);
  lua_pop(L, 1);
  luaL_setfuncs(L, functions, 1);
}

/* }===================================================================== */
