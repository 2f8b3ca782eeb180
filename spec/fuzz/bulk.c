/* SPDX-License-Identifier: MIT */
/*
** Actions of the graph fuzzer that stress one part of the collector: very many raw stores
** (lua_rawset, lua_rawseti), weak tables that shrink while a collection is overdue, long chains
** of ephemerons, and variables that C functions close. The model does not contain the objects of
** these actions, so that each action checks its objects itself. They are garbage when the action
** ends, except for the tables of 'a_shrink'.
*/
#include "model.h"

#define DYING	24	/* number of values of a weak table that have no other reference */
/* number of raw stores that are certainly enough to make a collection overdue */
#define FLOOD	70000

/* {== Raw stores == */

/* Makes n raw stores into a new table, which is garbage afterwards. */
static void flood (lua_State *L, int n) {
  int i;
  w.flooded = 1;
  lua_createtable(L, 0, 0);
  for (i = 1; i <= n; i++) {
    lua_pushinteger(L, i);
    lua_rawseti(L, -2, i);
  }
  lua_pop(L, 1);
}

/*
** C function with the arguments table and value. Stores the value in the table under w.a keys
** that the model does not use. Each key is removed again 20 stores later.
*/
static int b_flood (lua_State *L) {
  int i;
  for (i = 0; i < w.a; i++) {
    lua_pushvalue(L, 2);
    lua_rawseti(L, 1, 1000000 + i);
    if (i < 20) continue;
    lua_pushnil(L);
    lua_rawseti(L, 1, 1000000 + i - 20);
  }
  if (w.b) flood(L, FLOOD);
  return 0;
}

static int b_unflood (lua_State *L) {
  int i;
  for (i = 0; i < w.a; i++) {
    lua_pushnil(L);
    lua_rawseti(L, 1, 1000000 + i);
  }
  return 0;
}

static void a_flood (lua_State *L) {
  int t = slot_of(1u << N_TABLE), s = any_slot();
  if (t < 0) return;
  w.a = 20 + (int)random_below(300);
  w.b = chance(30);
  push_slot(L, t);
  push_slot(L, s);
  call(L, b_flood, 2, 0);
  push_slot(L, t);
  calm(L, b_unflood, 1, 0);
}

/* == Raw stores ==} */

/* {== Weak tables that become shorter == */

static struct {
  int slots, mode, flood;
  /* the values of the keys from 'first' to first + dying - 1 are referenced only by this table */
  int first, dying;
} shrink;

static int b_weak (lua_State *L) {
  lua_createtable(L, shrink.slots, 0);
  lua_rawgeti(L, LUA_REGISTRYINDEX, w.mtref[shrink.mode]);
  lua_setmetatable(L, 1);
  return 1;
}

/*
** C function with the arguments table and value. Stores the value in all slots, and then nil in
** the last seven eighths of them. Then stores the dying values in some of the empty slots.
*/
static int b_prepare (lua_State *L) {
  int i;
  luaL_checkstack(L, DYING + 4, NULL);
  for (i = 1; i <= shrink.slots; i++) {
    lua_pushvalue(L, 2);
    lua_rawseti(L, 1, i);
  }
  for (i = shrink.slots / 8 + 1; i <= shrink.slots; i++) {
    lua_pushnil(L);
    lua_rawseti(L, 1, i);
  }
  for (i = 0; i < shrink.dying; i++) {
    lua_createtable(L, 1, 0);
    lua_pushinteger(L, shrink.first + i);
    lua_rawseti(L, -2, 1);
  }
  for (i = shrink.dying; i-- > 0;) lua_rawseti(L, 1, shrink.first + i);
  if (shrink.flood) flood(L, FLOOD);
  return 0;
}

/*
** C function with the arguments table and value. Stores the value under a large key, so that Lua
** computes new sizes and shrinks the array part.
*/
static int b_shrink (lua_State *L) {
  lua_rawseti(L, 1, 16 * shrink.slots);
  return 0;
}

/*
** C function that checks the dying values of the table. Each must be intact; if the table has
** weak values, it may also be missing. Then removes all of them.
*/
static int b_compare (lua_State *L) {
  int i;
  check_invariants(L);
  for (i = 0; i < 1000; i++) {  /* allocates, so that freed memory is overwritten */
    lua_createtable(L, 3, 0);
    lua_pop(L, 1);
  }
  for (i = shrink.first; i < shrink.first + shrink.dying; i++) {
    if (lua_rawgeti(L, 1, i) == LUA_TNIL) {
      if (!(shrink.mode & MODE_VALUES)) wrong("a strong value %d went while its table shrank", i);
    }
    else {
      if (!lua_istable(L, -1) || lua_rawlen(L, -1) != 1) wrong("value %d of a table that shrank", i);
      lua_rawgeti(L, -1, 1);
      if (lua_tointeger(L, -1) != i) wrong("value %d of a table that shrank has other contents", i);
      lua_pop(L, 1);
    }
    lua_pop(L, 1);
    lua_pushnil(L);
    lua_rawseti(L, 1, i);
  }
  return 0;
}

static void a_shrink (lua_State *L) {
  int s = any_slot(), to = any_slot(), i, done;
  Value v;
  Node *n;
  /* the array part has up to 32 KiB */
  shrink.slots = 64 << random_below(6);
  shrink.mode = (int)random_below(4);
  shrink.flood = chance(3);
  shrink.dying = 1 + (int)random_below(DYING);
  if (shrink.dying > shrink.slots / 8) shrink.dying = shrink.slots / 8;
  shrink.first = shrink.slots / 2 + (int)random_below((unsigned)(shrink.slots / 4));
  if (!call(L, b_weak, 0, 1)) return;
  /* reads the slot only now, because a finalizer may have stored into it */
  v = slot(s);
  if (v.tag == V_NIL) {
    lua_pop(L, 1);
    return;
  }
  n = node_new(N_TABLE, lua_topointer(L, -1));
  n->mt = shrink.mode;
  push_slot(L, s);
  lua_insert(L, -2);
  /* store() removes the table from the stack and leaves the value */
  store(L, to, node_value(n));
  push_slot(L, to);
  lua_pushvalue(L, -2);
  calm(L, b_prepare, 2, 0);
  push_slot(L, to);
  lua_pushvalue(L, -2);
  done = call(L, b_shrink, 2, 0);
  push_slot(L, to);
  calm(L, b_compare, 1, 0);
  lua_pop(L, 1);
  for (i = 1; i <= shrink.slots / 8; i++) map_set(&n->map, int_value(i), v);
  if (done) map_set(&n->map, int_value(16 * shrink.slots), v);
}

/* == Weak tables that become shorter ==} */

/* {== Ephemerons == */

/*
** C function that creates a chain of ephemerons: a table with weak keys, in which the value of
** each key is the next key. Only the first key has another reference. The fields are stored from
** the last key to the first, or from the first to the last. Between them, fields are stored whose
** key dies.
*/
static int b_chain (lua_State *L) {
  int i, j, n = w.a;
  /* returns if memory is short, because this function must not raise an error */
  if (!lua_checkstack(L, n + 8)) return 0;
  lua_createtable(L, 0, 0);
  lua_rawgeti(L, LUA_REGISTRYINDEX, w.mtref[MODE_KEYS]);
  lua_setmetatable(L, 1);
  for (i = 0; i < n; i++) {
    lua_createtable(L, 1, 0);
    lua_pushinteger(L, i);
    lua_rawseti(L, -2, 1);
  }
  for (i = 0; i < n - 1; i++) {
    j = (w.b & 1) ? n - 2 - i : i;
    lua_pushvalue(L, 2 + j);
    lua_pushvalue(L, 3 + j);
    lua_rawset(L, 1);
    lua_createtable(L, 0, 0);
    lua_pushvalue(L, -1);
    lua_rawset(L, 1);  /* the value refers to its own key, so that the entry dies */
  }
  lua_settop(L, 2);
  if (w.b & 2) lua_gc(L, LUA_GCSTEP, 1);
  if (w.b & 4) flood(L, 2000);
  for (i = 0; i < n; i++) {  /* the current key of the chain is at index 2 */
    if (!lua_istable(L, 2)) wrong("a chain of ephemerons ends at %d, not at %d", i, n);
    lua_rawgeti(L, 2, 1);
    if (lua_tointeger(L, -1) != i) wrong("link %d of a chain of ephemerons is another", i);
    lua_pop(L, 1);
    lua_rawget(L, 1);
    if (chance(8)) lua_gc(L, LUA_GCSTEP, 0);
  }
  if (!lua_isnil(L, 2)) wrong("a chain of %d ephemerons goes on", n);
  return 0;
}

static void a_chain (lua_State *L) {
  w.a = 2 + (int)random_below(chance(10) ? 150 : 20);
  w.b = (int)random_below(8);
  w.strict = 0;
  call(L, b_chain, 0, 0);
}

/* == Ephemerons ==} */

/* {== Variables to be closed == */

/*
** C function with the arguments object and value. Keeps the object in a variable to be closed.
** w.a selects how control leaves the block of the variable, such as by an error.
*/
static int b_close (lua_State *L) {
  Node *n = node_at(lua_topointer(L, 1));
  int i;
  lua_pushvalue(L, 1);
  lua_toclose(L, 3);
  if (w.b) {  /* adds a second variable, which is closed first */
    lua_pushvalue(L, 1);
    lua_toclose(L, 4);
  }
  for (i = 0; i < 10; i++) lua_createtable(L, i, i);
  n->closers = 1 + w.b;
  switch (w.a) {
    case 0: lua_settop(L, 2); break;
    case 1:
      lua_settop(L, 3 + w.b);
      if (w.b) lua_closeslot(L, 4);
      lua_closeslot(L, 3);
      break;
    case 2:
      lua_pushvalue(L, 2);
      return 1;
    default:
      lua_pushvalue(L, 2);
      return lua_error(L);
  }
  if (n->closers != 0) wrong("object %u was not closed in C", n->id);
  lua_pushvalue(L, 2);
  return 1;
}

static int b_catch (lua_State *L) {
  int status;
  lua_pushcfunction(L, b_close);
  lua_insert(L, 1);
  status = lua_pcall(L, 2, 1, 0);
  if (status != (w.a == 3 ? LUA_ERRRUN : LUA_OK))
    wrong("a C function with variables to close gave status %d", status);
  return 1;
}

static void a_toclose (lua_State *L) {
  int s = slot_of(1u << N_TABLE | 1u << N_USERDATA), from = any_slot();
  Value v = slot(from);
  Node *n;
  if (s < 0 || slot_node(s)->mt < 0) return;  /* no __close */
  n = slot_node(s);
  w.a = (int)random_below(4);
  w.b = (int)random_below(2);
  push_slot(L, s);
  push_slot(L, from);
  calm(L, b_catch, 2, 1);
  if (n->closers != 0) wrong("object %u was not closed", n->id);
  match(L, -1, v, "result of a C function with variables to close");
  store(L, any_slot(), v);
}

/* == Variables to be closed ==} */

const Choice bulk_actions[] = {
  {a_flood, 6}, {a_shrink, 12}, {a_chain, 30}, {a_toclose, 60}, {NULL, 0}
};
