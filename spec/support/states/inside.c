/* SPDX-License-Identifier: MIT */
/*
** The functions that each chunk in a state of the module 'states' (../states.c) receives as its
** first argument, in a table. They read the state's heap, control its allocator, and create
** objects of sizes that Lua code cannot choose.
*/
#include "states.h"

#include <stdlib.h>
#include <string.h>

#include "seam.h"

static State *mystate (lua_State *L) {
  void *ud;
  lua_getallocf(L, &ud);
  return ud;
}

static int in_bytes (lua_State *L) {
  lua_pushinteger(L, (lua_Integer)mystate(L)->bytes);
  return 1;
}

static int in_requests (lua_State *L) {
  lua_pushinteger(L, (lua_Integer)mystate(L)->requests);
  return 1;
}

/*
** tags(kind) -> the number of requests so far for new blocks of objects with this type tag. 0:
** for blocks that are not objects.
*/
static int in_tags (lua_State *L) {
  lua_Integer tag = luaL_checkinteger(L, 1);
  luaL_argcheck(L, 0 <= tag && tag < INTAGS, 1, "no tag");
  lua_pushinteger(L, (lua_Integer)mystate(L)->tags[tag]);
  return 1;
}

/* limit(bytes | nil): sets the largest number of bytes in use; nil: no limit */
static int in_limit (lua_State *L) {
  mystate(L)->limit = lua_isnoneornil(L, 1) ? NOLIMIT
                                            : (size_t)luaL_checkinteger(L, 1);
  return 0;
}

/* failall(n | nil): all requests after the n-th from now on are refused; nil: none */
static int in_failall (lua_State *L) {
  State *s = mystate(L);
  s->failall = lua_isnoneornil(L, 1) ? NEVER
             : s->requests + (uint64_t)luaL_checkinteger(L, 1);
  return 0;
}

/* fail(n): only the n-th request from now on is refused */
static int in_fail (lua_State *L) {
  State *s = mystate(L);
  s->fail = s->requests + (uint64_t)luaL_checkinteger(L, 1);
  return 0;
}

/* replace(): sets another function as lua_Alloc. After this the core must not call the old one. */
static int in_replace (lua_State *L) {
  State *s = mystate(L);
  s->later = 1;
  lua_setallocf(L, states_later, s);
  return 0;
}

static int in_allocated (lua_State *L) {
  lua_pushinteger(L, (lua_Integer)luaN_allocated(L));
  return 1;
}

/*
** memory() -> inuse, held, minors, majors, the number of remembered objects in all collections so
** far, and the bytes charged to nurseries
*/
static int in_memory (lua_State *L) {
  luaN_Memory m;
  luaN_memory(L, &m);
  lua_pushinteger(L, (lua_Integer)m.inuse);
  lua_pushinteger(L, (lua_Integer)m.held);
  lua_pushinteger(L, (lua_Integer)m.minors);
  lua_pushinteger(L, (lua_Integer)m.majors);
  lua_pushinteger(L, (lua_Integer)m.looked[LUAN_LREMEMBERED]);
  lua_pushinteger(L, (lua_Integer)m.charged);
  return 6;
}

/* check(): raises an error if an invariant of the heap does not hold */
static int in_check (lua_State *L) {
  const char *broken = luaN_check(L);
  return (broken == NULL) ? 0 : luaL_error(L, "%s", broken);
}

/* reserve(coroutine, n) -> true if the coroutine's stack has, or gets, space for n more values */
static int in_reserve (lua_State *L) {
  lua_State *co = lua_tothread(L, 1);
  luaL_argcheck(L, co != NULL, 1, "coroutine expected");
  lua_pushboolean(L, lua_checkstack(co, (int)luaL_checkinteger(L, 2)));
  return 1;
}

/*
** fill(coroutine, n): pushes n values onto the coroutine's stack; raises an error if a check fails
*/
static int in_fill (lua_State *L) {
  lua_State *co = lua_tothread(L, 1);
  int i, n = (int)luaL_checkinteger(L, 2), lost = 0;
  luaL_argcheck(L, co != NULL, 1, "coroutine expected");
  for (i = 1; i <= n; i++) lua_pushinteger(co, i);
  in_check(L);
  for (i = 1; i <= n; i++) lost += lua_tointeger(co, i - n - 1) != i;
  lua_pop(co, n);
  return lost ? luaL_error(L, "%d values of %d are lost", lost, n) : 0;
}

/*
** direct(n) -> true if lua_Alloc, which this function calls directly as a C module may do,
** returns a block of n / 2 bytes and enlarges it to n bytes
*/
static int in_direct (lua_State *L) {
  void *ud;
  lua_Alloc f = lua_getallocf(L, &ud);
  size_t n = (size_t)luaL_checkinteger(L, 1), half = n / 2;
  void *block = f(ud, NULL, 0, half), *grown = (block == NULL) ? NULL : f(ud, block, half, n);
  lua_pushboolean(L, grown != NULL);
  if (grown != NULL) f(ud, grown, n, 0);
  else if (block != NULL) f(ud, block, half, 0);
  return 1;
}

/*
** userdata(size [, values]) -> a full userdata with this number of user values. Each byte of its
** block is size % 251.
*/
static int in_userdata (lua_State *L) {
  size_t n = (size_t)luaL_checkinteger(L, 1);
  void *p = lua_newuserdatauv(L, n, (int)luaL_optinteger(L, 2, 0));
  memset(p, (int)(n % 251), n);
  return 1;
}

/* outside(userdata, bytes) */
static int in_outside (lua_State *L) {
  luaN_outside(L, 1, (size_t)luaL_checkinteger(L, 2));
  return 0;
}

/* intact(userdata) -> true if the userdata still has the bytes that userdata(size) wrote */
static int in_intact (lua_State *L) {
  const unsigned char *p = lua_touserdata(L, 1);
  size_t i, n = lua_rawlen(L, 1);
  for (i = 0; i < n && p[i] == n % 251; i++) {}
  lua_pushboolean(L, i == n);
  return 1;
}

/* address(value) -> the address of the value's memory */
static int in_address (lua_State *L) {
  const void *p = lua_isuserdata(L, 1) ? lua_touserdata(L, 1)
                                       : lua_topointer(L, 1);
  lua_pushinteger(L, (lua_Integer)(intptr_t)p);
  return 1;
}

/*
** lines(text) -> the set of lines with code in a chunk. While they are collected, only this C
** function refers to the chunk.
*/
static int in_lines (lua_State *L) {
  lua_Debug ar;
  if (luaL_loadstring(L, luaL_checkstring(L, 1)) != LUA_OK) return lua_error(L);
  lua_getinfo(L, ">L", &ar);
  return 1;
}

/* string(n, byte) -> a string of n bytes, created by one call of the API */
static int in_string (lua_State *L) {
  State *s = mystate(L);
  size_t n = (size_t)luaL_checkinteger(L, 1);
  char *p = realloc(s->scratch, n + 1);
  if (p == NULL) return luaL_error(L, "no memory for the spec");
  s->scratch = p;
  memset(p, (int)luaL_checkinteger(L, 2), n);
  lua_pushlstring(L, p, n);
  return 1;
}

/* table(array, hash) -> a table with space for this many elements in its array and hash part */
static int in_table (lua_State *L) {
  lua_createtable(L, (int)luaL_checkinteger(L, 1),
                     (int)luaL_checkinteger(L, 2));
  return 1;
}

/* closure(n) -> a C closure with n upvalues */
static int in_closure (lua_State *L) {
  int n = (int)luaL_checkinteger(L, 1);
  if (!lua_checkstack(L, n)) return luaL_error(L, "not enough memory");
  lua_settop(L, 0);
  lua_settop(L, n);
  lua_pushcclosure(L, in_bytes, n);
  return 1;
}

/*
** extra(thread [, n]) -> the integer in the thread's extra space. If n is given, it is stored
** there first.
*/
static int in_extra (lua_State *L) {
  lua_State *t = lua_tothread(L, 1);
  intptr_t n;
  luaL_argcheck(L, t != NULL, 1, "thread expected");
  if (!lua_isnone(L, 2)) {
    n = (intptr_t)luaL_checkinteger(L, 2);
    memcpy(lua_getextraspace(t), &n, sizeof(n));
  }
  memcpy(&n, lua_getextraspace(t), sizeof(n));
  lua_pushinteger(L, (lua_Integer)n);
  return 1;
}

static int numeral (lua_State *L) {
  lua_pushstring(L, lua_tostring(L, lua_upvalueindex(1)));
  return 1;
}

/*
** numeral(n) -> a C function whose upvalue is n. It converts the upvalue to a string and returns
** it.
*/
static int in_numeral (lua_State *L) {
  lua_settop(L, 1);
  lua_pushcclosure(L, numeral, 1);
  return 1;
}

/* push(coroutine, value ...): pushes the values onto the coroutine's stack */
static int in_push (lua_State *L) {
  lua_State *co = lua_tothread(L, 1);
  int n = lua_gettop(L) - 1;
  luaL_argcheck(L, co != NULL && lua_checkstack(co, n), 1, "no coroutine");
  lua_xmove(L, co, n);
  return 0;
}

/* pop(coroutine, n) -> the n topmost values of the coroutine's stack, which are removed */
static int in_pop (lua_State *L) {
  lua_State *co = lua_tothread(L, 1);
  int n = (int)luaL_checkinteger(L, 2);
  luaL_argcheck(L, co != NULL && lua_gettop(co) >= n, 1, "no coroutine");
  luaL_checkstack(L, n, NULL);
  lua_xmove(co, L, n);
  return n;
}

static void warned (void *ud, const char *text, int more) {
  lua_State *L = ud;
  (void)more;
  lua_getfield(L, LUA_REGISTRYINDEX, "states.warned");
  lua_pushstring(L, text);
  if (lua_pcall(L, 1, 0, 0) != LUA_OK) lua_pop(L, 1);
}

/* warn(f): all later warnings call f in the main thread */
static int in_warn (lua_State *L) {
  lua_State *mainthread;
  lua_settop(L, 1);
  lua_setfield(L, LUA_REGISTRYINDEX, "states.warned");
  lua_rawgeti(L, LUA_REGISTRYINDEX, LUA_RIDX_MAINTHREAD);
  mainthread = lua_tothread(L, -1);
  lua_setwarnf(L, warned, mainthread);
  return 0;
}

const luaL_Reg states_inside[] = {
  {"numeral", in_numeral}, {"push", in_push}, {"pop", in_pop}, {"warn", in_warn},
  {"bytes", in_bytes}, {"requests", in_requests}, {"tags", in_tags},
  {"limit", in_limit}, {"failall", in_failall}, {"fail", in_fail}, {"allocated", in_allocated},
  {"memory", in_memory}, {"check", in_check}, {"userdata", in_userdata},
  {"intact", in_intact}, {"address", in_address}, {"string", in_string},
  {"table", in_table}, {"closure", in_closure}, {"extra", in_extra},
  {"lines", in_lines}, {"reserve", in_reserve}, {"outside", in_outside},
  {"direct", in_direct}, {"fill", in_fill}, {"replace", in_replace},
  {NULL, NULL}
};
