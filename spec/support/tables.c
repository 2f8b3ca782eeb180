/* SPDX-License-Identifier: MIT */
/*
** tables: a Lua module with the hash tables of the profile reader and writer. Each function returns
** the number of entries that it has visited ("steps"), so that specs can detect long collision chains.
**
**   ids(list) -> steps          inserts the ids into a map and finds each again
**   strings(list) -> steps      does the same with strings in a string table
**   nodes(list) -> steps        does the same with nodes of a call tree below the root
*/
#include "strtab.h"
#include "tree.h"

#include <string.h>

#include <lua.h>
#include <lauxlib.h>

unsigned long long tables_steps;

static int t_ids (lua_State *L) {
  IdMap m = {0};
  lua_Integer i, n = luaL_len(L, 1);
  int ok = 1, round;
  tables_steps = 0;
  for (round = 0; round < 2; round++) {
    for (i = 1; i <= n; i++) {
      uint64_t id;
      lua_rawgeti(L, 1, i);
      id = (uint64_t)lua_tointeger(L, -1);
      lua_pop(L, 1);
      if (round == 0)
        ok = ok && idmap_set(&m, id, (uint32_t)i);
      else
        ok = ok && idmap_get(&m, id) == (uint32_t)i;
    }
  }
  idmap_free(&m);
  luaL_argcheck(L, ok, 1, "an id was not found again");
  lua_pushinteger(L, (lua_Integer)tables_steps);
  return 1;
}

static int t_strings (lua_State *L) {
  StrTab t;
  lua_Integer i, n = luaL_len(L, 1);
  int ok = strtab_init(&t, 1u << 30), round;
  tables_steps = 0;
  for (round = 0; round < 2; round++) {
    for (i = 1; i <= n; i++) {
      size_t length;
      const char *s;
      uint32_t number;
      lua_rawgeti(L, 1, i);
      s = lua_tolstring(L, -1, &length);
      number = strtab_put(&t, s, length);
      ok = ok && strcmp(t.text + number, s) == 0 &&
           strtab_find(&t, s, length) == number;
      lua_pop(L, 1);
    }
  }
  strtab_free(&t);
  luaL_argcheck(L, ok, 1, "a string was not found again");
  lua_pushinteger(L, (lua_Integer)tables_steps);
  return 1;
}

static int t_nodes (lua_State *L) {
  Tree t;
  lua_Integer i, n = luaL_len(L, 1);
  int ok = tree_init(&t), round;
  tables_steps = 0;
  for (round = 0; round < 2; round++) {
    for (i = 1; i <= n; i++) {
      lua_rawgeti(L, 1, i);
      ok = ok && tree_child(&t, 0, (uint64_t)lua_tointeger(L, -1), 0) ==
                 (uint32_t)i;
      lua_pop(L, 1);
    }
  }
  tree_free(&t);
  luaL_argcheck(L, ok, 1, "a node was not found again");
  lua_pushinteger(L, (lua_Integer)tables_steps);
  return 1;
}

int luaopen_tables (lua_State *L);

int luaopen_tables (lua_State *L) {
  static const luaL_Reg functions[] = {
    {"ids", t_ids}, {"strings", t_strings}, {"nodes", t_nodes}, {NULL, NULL}
  };
  luaL_newlib(L, functions);
  return 1;
}
