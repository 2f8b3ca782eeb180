/* SPDX-License-Identifier: MIT */
/*
** states: a Lua module that opens further Lua states. Each has an allocator that counts, checks and
** refuses requests. The module uses only the public API and lua/seam.h, and accesses the state that
** runs the specs only through arguments and results.
**
**   open{libs=true, limit=, largest=, fail=, failall=, skew=} -> state s, status
**     largest  largest size of a block in bytes
**     limit    largest number of bytes in use
**     fail     only the n-th request from now on is refused
**     failall  all requests after the n-th from now on are refused
**     skew     0 or 8: the offset of every block from a multiple of 16
**     status   "ok", "none" (lua_newstate returned NULL), or as for s:run
**   s:run(f, ...) -> status, message | results...
**     f        text of a chunk, or a function whose only upvalue is _ENV
**     ...      arguments: nil, booleans, numbers, strings; the same types for results
**     status   "ok", "runtime", "syntax", "memory", "errerr"
**     The first argument of the chunk is a table of functions (states/inside.c).
**   s:refuse{limit=, largest=, fail=, failall=}    a missing option is off
**   s:stats() -> {bytes, peak, calls, requests, refused, later, wrong}
**     later: see 'replace' (states/inside.c); wrong: the core's first violation of the rules of
**     lua_Alloc, or nil
**   s:check() -> nil | the invariant of the heap that does not hold
**   s:memory() -> {inuse, held, minors, majors, allocated}
**   s:close() -> bytes that were not freed. A state may be closed once; s:stats still works.
**
** A request is a call for more bytes than the block had. The folder states/ has the allocator and the
** functions for chunks.
*/
#include <stdlib.h>
#include <string.h>

#include <lua.h>
#include <lauxlib.h>
#include <lualib.h>

#include "seam.h"
#include "states/states.h"

#define TYPENAME	"states"


/*
** Copies the value at index i of 'from' to the stack of 'to', if it is a nil, boolean, number or
** string. Returns 0 for other values.
*/
static int copyvalue (lua_State *from, int i, lua_State *to) {
  size_t n;
  const char *text;
  switch (lua_type(from, i)) {
    case LUA_TNIL: lua_pushnil(to); return 1;
    case LUA_TBOOLEAN: lua_pushboolean(to, lua_toboolean(from, i)); return 1;
    case LUA_TNUMBER:
      if (lua_isinteger(from, i)) lua_pushinteger(to, lua_tointeger(from, i));
      else lua_pushnumber(to, lua_tonumber(from, i));
      return 1;
    case LUA_TSTRING:
      text = lua_tolstring(from, i, &n);
      lua_pushlstring(to, text, n);
      return 1;
    default: return 0;
  }
}

static const char *statusname (int status) {
  switch (status) {
    case LUA_OK: return "ok";
    case LUA_ERRRUN: return "runtime";
    case LUA_ERRSYNTAX: return "syntax";
    case LUA_ERRMEM: return "memory";
    case LUA_ERRERR: return "errerr";
    default: return "?";
  }
}

/*
** The arguments of a chunk: the values at the indices 'first' to 'last' of the stack of 'outer'.
*/
typedef struct Arguments {
  lua_State *outer;
  int first, last;
} Arguments;

/*
** A C function whose arguments are a chunk and an Arguments. Calls the chunk with the table of
** functions and copies of the arguments. Returns the chunk's results.
*/
static int work (lua_State *L) {
  const Arguments *a = lua_touserdata(L, 2);
  int i, n = a->last - a->first + 1;
  lua_settop(L, 1);
  luaL_checkstack(L, n + 1, "arguments");
  lua_getfield(L, LUA_REGISTRYINDEX, TYPENAME);
  for (i = a->first; i <= a->last; i++)
    copyvalue(a->outer, i, L);
  lua_call(L, n + 1, LUA_MULTRET);
  return lua_gettop(L);
}

static int setup (lua_State *L) {
  lua_newtable(L);
  luaL_setfuncs(L, states_inside, 0);
  lua_setfield(L, LUA_REGISTRYINDEX, TYPENAME);
  if (lua_toboolean(L, 1)) luaL_openlibs(L);
  return 0;
}

static State *checkstate (lua_State *L) {
  return luaL_checkudata(L, 1, TYPENAME);
}

static State *checkopen (lua_State *L) {
  State *s = checkstate(L);
  luaL_argcheck(L, s->L != NULL, 1, "state is not open");
  return s;
}

static uint64_t option (lua_State *L, int t, const char *key, uint64_t off) {
  uint64_t n = off;
  if (lua_getfield(L, t, key) != LUA_TNIL)
    n = (uint64_t)luaL_checkinteger(L, -1);
  lua_pop(L, 1);
  return n;
}

static void setrefusals (lua_State *L, int t, State *s) {
  uint64_t fail, failall;
  luaL_checktype(L, t, LUA_TTABLE);
  s->limit = (size_t)option(L, t, "limit", NOLIMIT);
  s->largest = (size_t)option(L, t, "largest", NOLIMIT);
  fail = option(L, t, "fail", NEVER);
  failall = option(L, t, "failall", NEVER);
  s->fail = (fail == NEVER) ? NEVER : s->requests + fail;
  s->failall = (failall == NEVER) ? NEVER : s->requests + failall;
}

static int l_open (lua_State *L) {
  State *s;
  int status, libs;
  lua_settop(L, 1);
  if (lua_isnil(L, 1)) {
    lua_newtable(L);
    lua_replace(L, 1);
  }
  libs = lua_getfield(L, 1, "libs") == LUA_TNIL || lua_toboolean(L, -1);
  s = lua_newuserdatauv(L, sizeof(State), 0);
  memset(s, 0, sizeof(*s));
  setrefusals(L, 1, s);
  s->skew = (size_t)option(L, 1, "skew", 0);
  luaL_setmetatable(L, TYPENAME);
  if ((s->L = lua_newstate(states_allocate, s)) == NULL) {
    lua_pushliteral(L, "none");
    return 2;
  }
  lua_pushcfunction(s->L, setup);
  lua_pushboolean(s->L, libs);
  status = lua_pcall(s->L, 1, 0, 0);
  if (status != LUA_OK) lua_pop(s->L, 1);
  lua_pushstring(L, statusname(status));
  return 2;
}

static int writer (lua_State *L, const void *p, size_t n, void *ud) {
  State *s = ud;
  char *all = realloc(s->scratch, s->nscratch + n);
  (void)L;
  if (all == NULL) return 1;
  s->scratch = all;
  memcpy(all + s->nscratch, p, n);
  s->nscratch += n;
  return 0;
}

/* Loads argument 2 of L, the text of a chunk or a function, into the state s. */
static int load (lua_State *L, State *s) {
  const char *code;
  if (lua_isfunction(L, 2)) {
    s->nscratch = 0;
    lua_pushvalue(L, 2);
    luaL_argcheck(L, lua_dump(L, writer, s, 0) == 0, 2, "cannot be dumped");
    lua_pop(L, 1);
    code = s->scratch;
  }
  else code = luaL_checklstring(L, 2, &s->nscratch);
  return luaL_loadbufferx(s->L, code, s->nscratch, "=chunk", NULL);
}

static int l_run (lua_State *L) {
  State *s = checkopen(L);
  Arguments a;
  int i, status, n;
  a.outer = L;
  a.first = 3;
  a.last = lua_gettop(L);
  lua_settop(s->L, 0);
  lua_pushcfunction(s->L, work);
  status = load(L, s);
  if (status == LUA_OK) {
    lua_pushlightuserdata(s->L, &a);
    status = lua_pcall(s->L, 2, LUA_MULTRET, 0);
  }
  else lua_remove(s->L, 1);
  n = lua_gettop(s->L);
  lua_pushstring(L, statusname(status));
  luaL_checkstack(L, n, "results");
  for (i = 1; i <= n; i++)
    if (!copyvalue(s->L, i, L))
      lua_pushfstring(L, "(a %s)", luaL_typename(s->L, i));
  lua_settop(s->L, 0);
  return n + 1;
}

static int l_refuse (lua_State *L) {
  setrefusals(L, 2, checkstate(L));
  return 0;
}

static void setinteger (lua_State *L, const char *key, uint64_t n) {
  lua_pushinteger(L, (lua_Integer)n);
  lua_setfield(L, -2, key);
}

static int l_stats (lua_State *L) {
  State *s = checkstate(L);
  lua_newtable(L);
  setinteger(L, "bytes", s->bytes);
  setinteger(L, "peak", s->peak);
  setinteger(L, "calls", s->calls);
  setinteger(L, "requests", s->requests);
  setinteger(L, "refused", s->refused);
  setinteger(L, "later", s->later);
  if (s->wrong[0] != '\0') {
    lua_pushstring(L, s->wrong);
    lua_setfield(L, -2, "wrong");
  }
  return 1;
}

static int l_check (lua_State *L) {
  lua_pushstring(L, luaN_check(checkopen(L)->L));
  return 1;
}

static int l_memory (lua_State *L) {
  State *s = checkopen(L);
  luaN_Memory m;
  luaN_memory(s->L, &m);
  lua_newtable(L);
  setinteger(L, "inuse", m.inuse);
  setinteger(L, "held", m.held);
  setinteger(L, "minors", m.minors);
  setinteger(L, "majors", m.majors);
  setinteger(L, "allocated", luaN_allocated(s->L));
  return 1;
}

static int l_close (lua_State *L) {
  State *s = checkstate(L);
  if (s->L != NULL) {
    lua_State *closing = s->L;
    s->L = NULL;
    lua_close(closing);
  }
  free(s->scratch);
  s->scratch = NULL;
  lua_pushinteger(L, (lua_Integer)s->bytes);
  return 1;
}

static const luaL_Reg methods[] = {
  {"run", l_run}, {"refuse", l_refuse}, {"stats", l_stats},
  {"check", l_check}, {"memory", l_memory}, {"close", l_close},
  {"__gc", l_close}, {"__close", l_close}, {NULL, NULL}
};

static const luaL_Reg functions[] = {
  {"open", l_open}, {NULL, NULL}
};

LUAMOD_API int luaopen_states (lua_State *L) {
  luaL_newmetatable(L, TYPENAME);
  luaL_setfuncs(L, methods, 0);
  lua_pushvalue(L, -1);
  lua_setfield(L, -2, "__index");
  luaL_newlib(L, functions);
  return 1;
}
