/* SPDX-License-Identifier: MIT */
/*
** points: a Lua module with the arithmetic of sample points (asamp/base/interval.h), and the lists of
** undecided (asamp/sample/pending.h) and followed samples (asamp/sample/followed.h), for specs
** without sampling.
**
**   interval(period, random, seed) -> interval g; 64-bit numbers are Lua integers
**     g:first() -> distance        g:pass(over) -> points, distance
**     g:change(period, distance) -> distance
**   pending() -> list p of undecided samples; owners and blocks are integers, 0: none
**     p:add(owner, block)
**     p:freed(block) -> true if the block was watched
**     p:resized(from, to, before, after) -> true if the block was watched
**     p:fates({[owner] = true ...} [, {[owner] = class ...}]): the dead owners; classes of owners
**       -> "0110" (1: survived), oldest sample first; "0 7 7 1", the samples' classes, or nil
**     p:watched() -> number of watched blocks
**   followed() -> list f of followed samples; owners and blocks as above
**     f:add(owner, block) -> true if the list was not full
**     f:freed(block) -> true if the block was watched
**     f:resized(from, to, before, after) -> true if the block was watched
**     f:deaths{[owner] = true ...} -> lengths of the runs of live and dead samples, in turn
**     f:watched() -> number of watched blocks
**   MIN, MAX: limits of periods in bytes; MOST: largest number of followed samples
*/
#include "followed.h"
#include "interval.h"
#include "pending.h"

#include <string.h>

#include <lua.h>
#include <lauxlib.h>

#define INTERVALNAME		"points.interval"
#define PENDINGNAME	"points.pending"
#define FOLLOWEDNAME	"points.followed"

static int p_interval (lua_State *L) {
  uint64_t period = (uint64_t)luaL_checkinteger(L, 1);
  int random = lua_toboolean(L, 2);
  uint64_t seed = (uint64_t)luaL_checkinteger(L, 3);
  Interval *g = lua_newuserdatauv(L, sizeof(*g), 0);
  luaL_setmetatable(L, INTERVALNAME);
  interval_open(g, period, random, seed);
  return 1;
}

static int g_first (lua_State *L) {
  lua_pushinteger(L, (lua_Integer)interval_first(luaL_checkudata(L, 1, INTERVALNAME)));
  return 1;
}

static int g_pass (lua_State *L) {
  uint64_t distance;
  Interval *g = luaL_checkudata(L, 1, INTERVALNAME);
  lua_pushinteger(L, (lua_Integer)interval_pass(g, (uint64_t)luaL_checkinteger(L, 2),
                                           &distance));
  lua_pushinteger(L, (lua_Integer)distance);
  return 2;
}

static int g_change (lua_State *L) {
  Interval *g = luaL_checkudata(L, 1, INTERVALNAME);
  lua_pushinteger(L, (lua_Integer)interval_change(g, (uint64_t)luaL_checkinteger(L, 2),
                                             (uint64_t)luaL_checkinteger(L, 3)));
  return 1;
}

static int p_pending (lua_State *L) {
  Pending *p = lua_newuserdatauv(L, sizeof(*p), 0);
  memset(p, 0, sizeof(*p));
  luaL_setmetatable(L, PENDINGNAME);
  return 1;
}

static Pending *pending (lua_State *L) {
  return luaL_checkudata(L, 1, PENDINGNAME);
}

static const void *address (lua_State *L, int arg) {
  return (const void *)(uintptr_t)luaL_checkinteger(L, arg);
}

static int l_add (lua_State *L) {
  lua_pushboolean(L, pending_add(pending(L), address(L, 2), address(L, 3)));
  return 1;
}

static int l_freed (lua_State *L) {
  lua_pushboolean(L, pending_freed(pending(L), address(L, 2)));
  return 1;
}

/*
** Converts the arguments from, to, before and after, starting at index 2, to the description of a
** block that was resized.
*/
static BlockResized resizing (lua_State *L) {
  static Interval random;
  BlockResized r = {address(L, 2), address(L, 3), (uint64_t)luaL_checkinteger(L, 4),
                    (uint64_t)luaL_checkinteger(L, 5), &random};
  return r;
}

static int l_resized (lua_State *L) {
  BlockResized r = resizing(L);
  lua_pushboolean(L, pending_resized(pending(L), &r));
  return 1;
}

static int isdead (void *ud, const void *owner) {
  lua_State *L = ud;
  int dead;
  lua_rawgeti(L, 2, (lua_Integer)(uintptr_t)owner);
  dead = lua_toboolean(L, -1);
  lua_pop(L, 1);
  return dead;
}

static uint32_t classof (void *ud, const void *owner) {
  lua_State *L = ud;
  uint32_t class = 0;
  if (lua_istable(L, 3)) {
    lua_rawgeti(L, 3, (lua_Integer)(uintptr_t)owner);
    class = (uint32_t)lua_tointeger(L, -1);
    lua_pop(L, 1);
  }
  return class;
}

static int l_fates (lua_State *L) {
  PendingJudge judge = {L, isdead, classof};
  luaL_Buffer b;
  size_t i;
  PendingFates f;
  luaL_checktype(L, 2, LUA_TTABLE);
  lua_settop(L, 3);
  f = pending_fates(pending(L), &judge);
  luaL_buffinit(L, &b);
  for (i = 0; i < f.n; i++)
    luaL_addchar(&b, f.survived[i] == 1 ? '1' : f.survived[i] == 0 ? '0' : '?');
  luaL_pushresult(&b);
  if (f.classes == NULL) return 1;
  luaL_buffinit(L, &b);
  for (i = 0; i < f.n; i++) {
    lua_pushfstring(L, i == 0 ? "%d" : " %d", (int)f.classes[i]);
    luaL_addvalue(&b);
  }
  luaL_pushresult(&b);
  return 2;
}

static int l_watched (lua_State *L) {
  lua_pushinteger(L, (lua_Integer)pending(L)->watched.n);
  return 1;
}

static int l_gc (lua_State *L) {
  pending_close(pending(L));
  return 0;
}

static int p_followed (lua_State *L) {
  Followed *f = lua_newuserdatauv(L, sizeof(*f), 0);
  memset(f, 0, sizeof(*f));
  luaL_setmetatable(L, FOLLOWEDNAME);
  return 1;
}

static Followed *followed (lua_State *L) {
  return luaL_checkudata(L, 1, FOLLOWEDNAME);
}

static int f_add (lua_State *L) {
  lua_pushboolean(L, followed_add(followed(L), address(L, 2), address(L, 3)));
  return 1;
}

static int f_freed (lua_State *L) {
  lua_pushboolean(L, followed_freed(followed(L), address(L, 2)));
  return 1;
}

static int f_resized (lua_State *L) {
  BlockResized r = resizing(L);
  lua_pushboolean(L, followed_resized(followed(L), &r));
  return 1;
}

static int f_deaths (lua_State *L) {
  PendingJudge judge = {L, isdead, classof};
  FollowedDeaths d;
  size_t i;
  luaL_checktype(L, 2, LUA_TTABLE);
  lua_settop(L, 2);
  d = followed_deaths(followed(L), &judge);
  lua_createtable(L, (int)d.n, 0);
  for (i = 0; i < d.n; i++) {
    lua_pushinteger(L, d.runs[i]);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  return 1;
}

static int f_watched (lua_State *L) {
  lua_pushinteger(L, (lua_Integer)followed(L)->watched.n);
  return 1;
}

static int f_gc (lua_State *L) {
  followed_close(followed(L));
  return 0;
}

static void newclass (lua_State *L, const char *name, const luaL_Reg *methods) {
  luaL_newmetatable(L, name);
  luaL_setfuncs(L, methods, 0);
  lua_pushvalue(L, -1);
  lua_setfield(L, -2, "__index");
  lua_pop(L, 1);
}

int luaopen_points (lua_State *L);

int luaopen_points (lua_State *L) {
  static const luaL_Reg intervals[] = {
    {"first", g_first}, {"pass", g_pass}, {"change", g_change}, {NULL, NULL}
  };
  static const luaL_Reg lists[] = {
    {"add", l_add}, {"freed", l_freed}, {"resized", l_resized}, {"fates", l_fates},
    {"watched", l_watched}, {"__gc", l_gc}, {NULL, NULL}
  };
  static const luaL_Reg followers[] = {
    {"add", f_add}, {"freed", f_freed}, {"resized", f_resized}, {"deaths", f_deaths},
    {"watched", f_watched}, {"__gc", f_gc}, {NULL, NULL}
  };
  static const luaL_Reg functions[] = {
    {"interval", p_interval}, {"pending", p_pending}, {"followed", p_followed},
    {NULL, NULL}
  };
  newclass(L, INTERVALNAME, intervals);
  newclass(L, PENDINGNAME, lists);
  newclass(L, FOLLOWEDNAME, followers);
  luaL_newlib(L, functions);
  lua_pushinteger(L, FOLLOWED_MOST);
  lua_setfield(L, -2, "MOST");
  lua_pushinteger(L, (lua_Integer)INTERVAL_MIN);
  lua_setfield(L, -2, "MIN");
  lua_pushinteger(L, (lua_Integer)INTERVAL_MAX);
  lua_setfield(L, -2, "MAX");
  return 1;
}
