/* SPDX-License-Identifier: MIT */
/*
** Actions of the graph fuzzer on a big table that exists during the whole run. They store young
** and old objects in thousands of its slots, exchange and erase them, set strong and weak
** metatables, and resize its parts. The general model does not contain this table. This file has
** a model of its own: for each cell, the number of its object, which the object has in field [1],
** and whether the object may be missing.
*/
#include "model.h"

#define ARRAY	1500
#define KEYS	400
#define CELLS	(ARRAY + KEYS)
#define MANY	200	/* largest number of stores in one action */

static struct {
  /*
  ** 'ref' is a registry reference to a table: [1] is the big table, [2] is a table with strong
  ** references to objects, [3] is a table of the keys
  */
  int made, ref;
  int mode;
  int last;	/* number of the last object that was created */
  struct {
    /* number of the object in the cell; 0: the cell is false, -1: it is nil */
    int number;
    /* 1 if the table [2] also refers to the object */
    char held;
    char loose;	/* 1 if at any time since it was stored, the object was a weak value */
  } cell[CELLS];
} big;

enum { BIG = 1, HELD, KEY, TOP = KEY };

/*
** Pushes three tables to the stack indices 1 to 3: the big table, the table of strong references,
** and the table of the keys.
*/
static void push_tables (lua_State *L) {
  int i;
  lua_settop(L, 0);
  luaL_checkstack(L, 20, NULL);
  lua_rawgeti(L, LUA_REGISTRYINDEX, big.ref);
  for (i = BIG; i <= TOP; i++) lua_rawgeti(L, 1, i);
  lua_remove(L, 1);
}

static int v_make (lua_State *L) {
  int i;
  lua_createtable(L, TOP, 0);
  lua_createtable(L, ARRAY, KEYS);
  lua_createtable(L, CELLS, 0);
  lua_createtable(L, KEYS, 0);
  for (i = 0; i < ARRAY; i++) {
    lua_pushboolean(L, 0);
    lua_rawseti(L, 2, i + 1);
  }
  for (i = 1; i <= KEYS; i++) {
    lua_createtable(L, 0, 0);
    lua_pushvalue(L, -1);
    lua_rawseti(L, 4, i);
    lua_pushboolean(L, 0);
    lua_rawset(L, 2);
  }
  for (i = 0; i < CELLS; i++) {
    lua_pushboolean(L, 0);
    lua_rawseti(L, 3, i + 1);
    big.cell[i].number = 0;
  }
  lua_rawseti(L, 1, KEY);
  lua_rawseti(L, 1, HELD);
  lua_rawseti(L, 1, BIG);
  big.ref = luaL_ref(L, LUA_REGISTRYINDEX);
  big.made = 1;
  big.mode = 0;
  return 0;
}

static void cell_get (lua_State *L, int c) {
  if (c < ARRAY) lua_rawgeti(L, BIG, c + 1);
  else {
    lua_rawgeti(L, KEY, c - ARRAY + 1);
    lua_rawget(L, BIG);
  }
}

/*
** Stores the value at the top of the stack in cell c of the big table, and removes it from the
** stack. May raise an error.
*/
static void cell_set (lua_State *L, int c) {
  if (c < ARRAY) lua_rawseti(L, BIG, c + 1);
  else {
    lua_rawgeti(L, KEY, c - ARRAY + 1);
    lua_insert(L, -2);
    lua_rawset(L, BIG);
  }
}

static void held_set (lua_State *L, int c) {
  lua_rawseti(L, HELD, c + 1);
}

/* Pushes the contents of a cell of the big table, and compares them with the model. */
static void cell_check (lua_State *L, int c) {
  int number = big.cell[c].number;
  cell_get(L, c);
  if (number == 0) {
    if (!lua_isboolean(L, -1)) wrong("cell %d of a big table is not false", c);
  }
  else if (lua_isnil(L, -1)) {
    if (number > 0 && (big.cell[c].held || !big.cell[c].loose))
      wrong("cell %d of a big table has lost its value", c);
    big.cell[c].number = -1;
  }
  else {
    if (number < 0 || !lua_istable(L, -1) || lua_rawlen(L, -1) != 1)
      wrong("cell %d of a big table holds something else", c);
    lua_rawgeti(L, -1, 1);
    if (lua_tointeger(L, -1) != number) wrong("cell %d of a big table holds another value", c);
    lua_pop(L, 1);
  }
}

/*
** Stores the value at the top of the stack in cell c, in Lua and in the model, and removes it
** from the stack.
*/
static void cell_put (lua_State *L, int c, int number, int held) {
  lua_pushboolean(L, 0);
  held_set(L, c);
  big.cell[c].held = 0;
  /* until the store has succeeded, the model does not know which value the cell has */
  big.cell[c].loose = 1;
  lua_pushvalue(L, -1);
  cell_set(L, c);
  big.cell[c].number = number;
  big.cell[c].loose = (big.mode & MODE_VALUES) != 0;
  if (!held) lua_pop(L, 1);
  else {
    held_set(L, c);
    big.cell[c].held = 1;
  }
}

static void new_object (lua_State *L) {
  lua_createtable(L, 1, 0);
  lua_pushinteger(L, ++big.last);
  lua_rawseti(L, -2, 1);
}

static int v_store (lua_State *L) {
  int i;
  push_tables(L);
  for (i = 0; i < w.a; i++) {
    new_object(L);
    cell_put(L, (int)random_below(CELLS), big.last, !chance(4));
  }
  return 0;
}

/* C function that stores one object in w.a cells. */
static int v_share (lua_State *L) {
  int i, held = chance(2), number;
  push_tables(L);
  new_object(L);
  number = big.last;
  for (i = 0; i < w.a; i++) {
    lua_pushvalue(L, -1);
    cell_put(L, (int)random_below(CELLS), number, held);
  }
  return 0;
}

/* C function that exchanges the values of cells. Allocates only if a key is missing. */
static int v_permute (lua_State *L) {
  int i;
  push_tables(L);
  for (i = 0; i < w.a; i++) {
    int c = (int)random_below(CELLS), d = (int)random_below(CELLS);
    int m, n, f = big.cell[c].held, g = big.cell[d].held;
    if (c == d) continue;
    cell_check(L, c);
    cell_check(L, d);
    m = big.cell[c].number;
    n = big.cell[d].number;
    if (m > 0 && n > 0) {
      cell_put(L, c, n, g);
      cell_put(L, d, m, f);
    }
    else lua_pop(L, 2);
  }
  return 0;
}

static int v_erase (lua_State *L) {
  int i;
  push_tables(L);
  for (i = 0; i < w.a; i++) {
    lua_pushboolean(L, 0);
    cell_put(L, (int)random_below(CELLS), 0, 0);
  }
  return 0;
}

static int v_mode (lua_State *L) {
  int i, mode = chance(2) ? 0 : (int)random_below(4);
  push_tables(L);
  lua_createtable(L, 0, 1);
  if (mode) {
    lua_pushstring(L, mode == MODE_KEYS ? "k" : mode == MODE_VALUES ? "v" : "kv");
    lua_setfield(L, -2, "__mode");
  }
  lua_setmetatable(L, BIG);
  big.mode = mode;
  for (i = 0; i < CELLS && (mode & MODE_VALUES); i++) big.cell[i].loose = 1;
  return 0;
}

/* C function that adds integer keys and removes them again, so that the array part is resized. */
static int v_resize (lua_State *L) {
  int i, first = chance(2) ? ARRAY + 1 : 4 * ARRAY;
  push_tables(L);
  for (i = 0; i < w.a; i++) {
    lua_pushinteger(L, i);
    lua_rawseti(L, BIG, first + i);
  }
  for (i = 0; i < w.a; i++) {
    lua_pushnil(L);
    lua_rawseti(L, BIG, first + i);
  }
  return 0;
}

/*
** C function that replaces some keys by others. When the hash part is full, a rehash frees the
** nodes of the removed keys.
*/
static int v_rekey (lua_State *L) {
  int i;
  push_tables(L);
  for (i = 0; i < w.a; i++) {
    int k = (int)random_below(KEYS) + 1;
    lua_createtable(L, 0, 0);
    lua_rawgeti(L, KEY, k);
    lua_rawget(L, BIG);
    lua_pushvalue(L, -2);
    lua_insert(L, -2);
    /* may raise an error, but then it has changed nothing */
    lua_rawset(L, BIG);
    lua_rawgeti(L, KEY, k);
    lua_pushnil(L);
    lua_rawset(L, BIG);
    lua_rawseti(L, KEY, k);
  }
  return 0;
}

static int v_erasekeys (lua_State *L) {
  push_tables(L);
  lua_pushnil(L);
  /* removes keys that v_resize has left because memory was refused */
  while (lua_next(L, BIG)) {
    int extra = lua_isinteger(L, -2) && lua_tointeger(L, -2) > ARRAY;
    lua_pop(L, 1);
    if (!extra) continue;
    lua_pushvalue(L, -1);
    lua_pushnil(L);
    lua_rawset(L, BIG);
  }
  return 0;
}

static int v_check (lua_State *L) {
  int c;
  push_tables(L);
  for (c = 0; c < CELLS; c++) {
    cell_check(L, c);
    lua_pop(L, 1);
  }
  return 0;
}

/*
** Tables to which only numbers are appended. Such a table stresses two cases. The array of an old
** table grows: often it is the block that was allocated last, and then grows in place. Every
** second table also has a full hash part of FULL keys. A number finds no free node in it, and
** marking it takes more than one slice.
*/
#define APPENDED	512	/* number of slots of the largest array that is allocated in lines of a block */
#define FULL	4096	/* number of keys that fill the hash part */

static struct {
  int made, ref, n;
} tail;

static int v_start (lua_State *L) {
  int i, keys = chance(2) ? FULL : 0;
  lua_settop(L, 0);
  lua_createtable(L, 0, keys);
  for (i = 0; i < keys; i++) {
    lua_pushnumber(L, i + 0.5);
    lua_pushboolean(L, 1);
    lua_rawset(L, 1);
  }
  tail.ref = luaL_ref(L, LUA_REGISTRYINDEX);
  tail.made = 1;
  tail.n = 0;
  return 0;
}

static int v_append (lua_State *L) {
  int i;
  lua_settop(L, 0);
  lua_rawgeti(L, LUA_REGISTRYINDEX, tail.ref);
  for (i = 0; i < w.a && tail.n < APPENDED; i++) {
    lua_pushinteger(L, tail.n + 1);
    lua_rawseti(L, 1, tail.n + 1);
    tail.n++;
  }
  for (i = 1; i <= tail.n; i++) {
    lua_rawgeti(L, 1, i);
    if (lua_tointeger(L, -1) != i) wrong("number %d that was appended is another", i);
    lua_pop(L, 1);
  }
  if (tail.n == APPENDED) {
    luaL_unref(L, LUA_REGISTRYINDEX, tail.ref);
    tail.made = 0;
  }
  return 0;
}

static void a_append (lua_State *L) {
  w.a = 1 + (int)random_below(MANY);
  if (tail.made) call(L, v_append, 0, 0);
  else calm(L, v_start, 0, 0);
}

/*
** A table that receives keys of all kinds, and loses them in the order in which they were added,
** until it has grown a few times. While a large hash part grows, its next node vector is filled
** in steps.
*/
#if defined(LUAI_ASSERT)
/*
** log2 of the largest number of keys. It is smaller in this build, because it verifies the heap
** all the time.
*/
#define GROWNLOG	12
#else
#define GROWNLOG	16
#endif

static struct {
  /*
  ** 'ref' is a registry reference to a table: [1] is the growing table, [2] has the objects that
  ** are keys in it
  */
  int made, ref;
  /* the table has the keys number 'first' to n - 1; if it has more than 'most', it is replaced */
  int first, n, most;
} grown;

enum { GROWN = 1, OBJECTS };

static void grown_tables (lua_State *L) {
  lua_settop(L, 0);
  luaL_checkstack(L, 20, NULL);
  lua_rawgeti(L, LUA_REGISTRYINDEX, grown.ref);
  lua_rawgeti(L, 1, GROWN);
  lua_rawgeti(L, 1, OBJECTS);
  lua_remove(L, 1);
}

static void grown_key (lua_State *L, int i) {
  switch (i % 5) {
    case 0: lua_pushnumber(L, i + 0.5); break;
    case 1: lua_pushinteger(L, (lua_Integer)i * 7919 + (1 << 30)); break;
    case 2: lua_rawgeti(L, OBJECTS, i); break;
    case 3: lua_pushfstring(L, "a key of more than forty bytes, no short string: %d", i); break;
    default: lua_pushfstring(L, "key %d", i); break;
  }
}

static void grown_check (lua_State *L, int i) {
  grown_key(L, i);
  lua_rawget(L, GROWN);
  if (lua_tointeger(L, -1) != i) wrong("key %d of a table that grows has another value", i);
  lua_pop(L, 1);
}

static int v_beginkeys (lua_State *L) {
  lua_settop(L, 0);
  lua_createtable(L, OBJECTS, 0);
  lua_createtable(L, 0, 0);
  lua_rawseti(L, 1, GROWN);
  lua_createtable(L, 0, 0);
  lua_rawseti(L, 1, OBJECTS);
  grown.ref = luaL_ref(L, LUA_REGISTRYINDEX);
  grown.made = 1;
  grown.first = grown.n = 0;
  grown.most = 1 << (8 + (int)random_below(GROWNLOG - 7));
  return 0;
}

static int v_come (lua_State *L) {
  int i;
  grown_tables(L);
  for (i = 0; i < w.a; i++) {
    lua_createtable(L, 1, 0);
    lua_rawseti(L, OBJECTS, grown.n);
    grown_key(L, grown.n);
    if (chance(2)) lua_pushinteger(L, grown.n);
    else lua_pushfstring(L, "%d", grown.n);
    lua_rawset(L, GROWN);
    grown.n++;
  }
  grown_check(L, grown.first + (int)random_below((unsigned)(grown.n - grown.first)));
  return 0;
}

static int v_go (lua_State *L) {
  int i;
  grown_tables(L);
  for (i = 0; i < w.a && grown.first < grown.n - 1; i++) {
    grown_key(L, grown.first);
    lua_pushnil(L);
    lua_rawset(L, GROWN);
    grown.first++;
    lua_pushnil(L);
    lua_rawseti(L, OBJECTS, grown.first - 1);
  }
  return 0;
}

static int v_checkkeys (lua_State *L) {
  int i, n = 0;
  grown_tables(L);
  for (i = grown.first; i < grown.n; i++) grown_check(L, i);
  for (lua_pushnil(L); lua_next(L, GROWN); lua_pop(L, 1)) n++;
  if (n != grown.n - grown.first) wrong("a table that grows has %d keys", n);
  return 0;
}

static void a_grow (lua_State *L) {
  w.a = 1 + (int)random_below(chance(4) ? 10 * MANY : MANY);
  if (!grown.made) calm(L, v_beginkeys, 0, 0);
  else if (grown.n > grown.first && chance(6)) call(L, v_go, 0, 0);
  else call(L, v_come, 0, 0);
  if (chance(200)) calm(L, v_checkkeys, 0, 0);
  if (grown.n - grown.first <= grown.most && !chance(1000)) return;
  calm(L, v_checkkeys, 0, 0);
  luaL_unref(L, LUA_REGISTRYINDEX, grown.ref);
  grown.made = 0;
}

static void a_vector (lua_State *L) {
  static const lua_CFunction act[] = {v_store, v_store, v_store, v_share, v_permute, v_permute,
    v_erase, v_mode, v_resize, v_rekey, v_rekey, v_check};
  if (!big.made) {
    calm(L, v_make, 0, 0);
    return;
  }
  w.a = 1 + (int)random_below(MANY);
  call(L, act[random_below(sizeof(act) / sizeof(act[0]))], 0, 0);
  if (chance(10)) calm(L, v_erasekeys, 0, 0);
  /* drops the big table, so that the next action creates another one */
  if (chance(200)) {
    luaL_unref(L, LUA_REGISTRYINDEX, big.ref);
    big.made = 0;
  }
}

const Choice vector_actions[] = {{a_vector, 60}, {a_append, 20}, {a_grow, 20}, {NULL, 0}};
