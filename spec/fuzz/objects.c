/* SPDX-License-Identifier: MIT */
/*
** Actions of the graph fuzzer on tables, strings, userdata and closures. An action NAME has two
** functions: a_NAME chooses the parameters and updates the model, b_NAME is a C function that
** runs in protected mode.
*/
#include <stdlib.h>
#include <string.h>

#include "model.h"

static Value key;	/* key of the chosen field, unless the key is a node */

static Value random_scalar (void) {
  Value v = nil_value();
  switch (random_below(6)) {
    case 0: v.tag = V_BOOL; v.u.i = random_below(2); break;
    case 1: v.tag = V_FLOAT; v.u.n = random_below(100) + 0.5; break;
    case 2: v.tag = V_LIGHT; v.u.i = random_below(100); break;
    case 3: break;
    default: v = int_value(random_below(100));
  }
  return v;
}

static void a_scalar (lua_State *L) {
  Value v = random_scalar();
  push_scalar(L, v);
  store(L, any_slot(), v);
}

static void a_drop (lua_State *L) {
  lua_pushnil(L);
  store(L, any_slot(), nil_value());
}

static void a_copy (lua_State *L) {
  int from = any_slot();
  push_slot(L, from);
  store(L, any_slot(), slot(from));
}

/* {== Strings == */

static int b_string (lua_State *L) {
  Value v = int_value(w.string);
  v.tag = V_STRING;
  push_scalar(L, v);
  return 1;
}

static void a_string (lua_State *L) {
  Value v = int_value(w.string = strings_random());
  v.tag = V_STRING;
  if (call(L, b_string, 0, 1)) store(L, any_slot(), v);
}

/*
** C function that checks that equal short strings are the same object, also after a step of the
** collector.
*/
static int b_intern (lua_State *L) {
  b_string(L);
  lua_createtable(L, 0, 2);
  if (w.a) lua_gc(L, LUA_GCSTEP, 1);
  b_string(L);
  if (!lua_rawequal(L, 1, 3)) wrong("string %u is not equal to itself", w.string);
  if (lua_rawlen(L, 1) <= 40 && lua_tostring(L, 1) != lua_tostring(L, 3))
    wrong("string %u exists twice", w.string);
  return 0;
}

static void a_intern (lua_State *L) {
  w.string = strings_random();
  w.a = chance(8);
  if (w.a) w.strict = 0;
  call(L, b_intern, 0, 0);
}

/* C function that creates garbage: buffers, and strings that grow in steps. */
static int b_concat (lua_State *L) {
  luaL_Buffer b;
  size_t length, i;
  const char *s = strings_text(w.string, &length);
  lua_pushlstring(L, s, length);
  lua_pushinteger(L, w.a);
  lua_pushvalue(L, 1);
  lua_concat(L, 3);
  luaL_buffinit(L, &b);
  for (i = 0; i < 3; i++) {
    lua_pushvalue(L, 1);
    luaL_addvalue(&b);
  }
  luaL_pushresult(&b);
  if (lua_rawlen(L, -1) != 3 * lua_rawlen(L, 1)) wrong("a buffer lost bytes");
  return 0;
}

static void a_concat (lua_State *L) {
  w.string = strings_random();
  w.a = (int)random_below(1000);
  call(L, b_concat, 0, 0);
}

/* == Strings ==} */

/* {== New objects == */

static int b_table (lua_State *L) {
  int i, n = w.a;
  lua_createtable(L, w.b ? n : 0, w.b ? 0 : n);
  for (i = 1; i <= n; i++) {
    lua_pushinteger(L, i);
    lua_rawseti(L, 1, i);
  }
  return 1;
}

static void a_table (lua_State *L) {
  int i;
  Node *n;
  w.a = chance(400) ? 300 + (int)random_below(4000) : (int)random_below(6);
  w.b = chance(2);
  if (!call(L, b_table, 0, 1)) return;
  n = node_new(N_TABLE, lua_topointer(L, -1));
  for (i = 1; i <= w.a; i++) map_set(&n->map, int_value(i), int_value(i));
  store(L, any_slot(), node_value(n));
}

static int b_userdata (lua_State *L) {
  lua_newuserdatauv(L, (size_t)w.a, w.b);
  return 1;
}

static void a_userdata (lua_State *L) {
  Node *n;
  w.a = chance(15) ? 8000 + (int)random_below(20000) : (int)random_below(200);
  w.b = (int)random_below(chance(2) ? 2 : 6);
  if (w.a == 0 && w.noempty) w.a = 1;
  if (!call(L, b_userdata, 0, 1)) return;
  n = node_new(N_USERDATA, lua_topointer(L, -1));
  n->n = w.b;
  n->value = fresh((size_t)(w.b + 1) * sizeof(Value));
  n->size = (size_t)w.a;
  memcpy(lua_touserdata(L, -1), noise(n->id), n->size);
  store(L, any_slot(), node_value(n));
}

static int f_nothing (lua_State *L) {
  (void)L;
  return 0;
}

static int b_cclosure (lua_State *L) {
  lua_pushcclosure(L, f_nothing, lua_gettop(L));
  return 1;
}

static void a_cclosure (lua_State *L) {
  int i, count = chance(20) ? 100 : 1 + (int)random_below(5);
  Value v[100];
  Node *n;
  if (!lua_checkstack(L, count + 4)) return;
  for (i = 0; i < count; i++) {
    int s = any_slot();
    push_slot(L, s);
    v[i] = slot(s);
  }
  if (!call(L, b_cclosure, count, 1)) return;
  n = node_new(N_CCLOSURE, lua_topointer(L, -1));
  n->n = count;
  n->value = fresh((size_t)count * sizeof(Value));
  memcpy(n->value, v, (size_t)count * sizeof(Value));
  store(L, any_slot(), node_value(n));
}

/* == New objects ==} */

/* {== Fields == */

static void push_key (lua_State *L) {
  if (lua_isnil(L, 2)) {
    push_scalar(L, key);
    lua_replace(L, 2);
  }
}

/*
** C function with the arguments table, key and value. If the key is nil, it uses the variable
** 'key'. Sets the field through one of several API functions, which w.a selects.
*/
static int b_set (lua_State *L) {
  switch (w.a) {
    case 1:
      push_key(L);
      lua_settable(L, 1);
      return 0;
    case 2: if (key.tag == V_INT) {
      lua_rawseti(L, 1, key.u.i);
      return 0;
    } break;
    case 3: if (key.tag == V_INT) {
      lua_seti(L, 1, key.u.i);
      return 0;
    } break;
    case 4: if (key.tag == V_LIGHT) {
      lua_rawsetp(L, 1, (void *)(size_t)key.u.i);
      return 0;
    } break;
    case 5: if (key.tag == V_STRING) {
      size_t length;
      const char *s = strings_text((unsigned)key.u.i, &length);
      if (memchr(s, 0, length) == NULL) {
        char *copy = fresh(length + 1);
        memcpy(copy, s, length);
        lua_settop(L, 3);
        /* if this raises an error, 'copy' leaks */
        lua_pushstring(L, copy);
        free(copy);
        lua_replace(L, 2);
        lua_setfield(L, 1, lua_tostring(L, 2));
        return 0;
      }
    } break;
  }
  push_key(L);
  lua_rawset(L, 1);
  return 0;
}

/*
** Sets 'key' to a random value that can be a key. Pushes it if it is a node, otherwise pushes
** nil.
*/
static void push_random_key (lua_State *L, int limit) {
  int s = any_slot();
  key = slot(s);
  if (key.tag == V_NIL || chance(2)) key = int_value(1 + random_below((unsigned)limit));
  if (key.tag == V_NODE) push_slot(L, s);
  else lua_pushnil(L);
}

static void a_set (lua_State *L) {
  int t = slot_of(1u << N_TABLE), s = any_slot();
  Value v = slot(s);
  Node *n;
  if (t < 0) return;
  n = slot_node(t);
  push_slot(L, t);
  push_random_key(L, chance(10) ? 200 : 12);
  push_slot(L, s);
  w.a = (int)random_below(6);
  if (key.tag == V_STRING && w.a == 5 && memory.armed && (memory.limit || memory.perMillion))
    w.a = 0;
  if (call(L, b_set, 3, 0)) map_set(&n->map, key, v);
}

/*
** C function with the arguments table and value. Appends w.b elements to the table and overwrites
** some of them, as programs do with large tables.
*/
static int b_fill (lua_State *L) {
  int i;
  for (i = 0; i < w.b; i++) {
    lua_pushvalue(L, 2);
    lua_rawseti(L, 1, w.a + i);
  }
  return 0;
}

static void a_fill (lua_State *L) {
  int t = slot_of(1u << N_TABLE), s = any_slot(), i;
  Value v = slot(s);
  Node *n;
  if (t < 0) return;
  n = slot_node(t);
  w.a = 1 + (int)random_below(n->map.count + 2);
  w.b = chance(2) ? 1 : (int)random_below(40);
  push_slot(L, t);
  push_slot(L, s);
  calm(L, b_fill, 2, 0);
  for (i = 0; i < w.b; i++) map_set(&n->map, int_value(w.a + i), v);
}

static int b_get (lua_State *L) {
  push_key(L);
  if (w.a) lua_gettable(L, 1);
  else lua_rawget(L, 1);
  return 1;
}

/*
** Sets 'key' to the key of a random field of n, but only if it is not a node. Otherwise returns
** 0.
*/
static int choose_field (Node *n) {
  Entry *e = map_random(&n->map);
  if (e == NULL || e->key.tag == V_NODE) return 0;
  key = e->key;
  return 1;
}

/*
** Compares the value at the top of the Lua stack, which was read from the table n, with the model.
** Then stores it in a random slot of the program. e: the model's entry of the key that was read;
** NULL: the model has no such key, so the value must be nil. If a collection has cleared e, removes
** it from the model.
*/
static void took (lua_State *L, Node *n, Entry *e) {
  Value v = e ? e->value : nil_value();
  if (e && mt_mode(n->mt)) {
    reach_now();
    if (lua_isnil(L, -1) && may_vanish(n, e)) {
      map_remove(&n->map, e);
      v = nil_value();
    }
    else if (v.tag == V_NODE) revive(v.u.node);
  }
  match(L, -1, v, "a field that was read");
  store(L, any_slot(), v);
}

static void a_get (lua_State *L) {
  int t = slot_of(1u << N_TABLE);
  Node *n;
  if (t < 0) return;
  n = slot_node(t);
  push_slot(L, t);
  if (chance(4) || !choose_field(n)) push_random_key(L, 12);
  else lua_pushnil(L);
  w.a = chance(2);
  w.b = lua_isnil(L, -1);
  {
    Value k = w.b ? key : node_value(node_at(lua_topointer(L, -1)));
    if (call(L, b_get, 2, 1)) took(L, n, map_find(&n->map, k));
  }
}

static void a_clear (lua_State *L) {
  int t = slot_of(1u << N_TABLE);
  Node *n;
  if (t < 0) return;
  n = slot_node(t);
  if (!choose_field(n)) return;
  push_slot(L, t);
  lua_pushnil(L);
  lua_pushnil(L);
  w.a = (int)random_below(5);
  if (call(L, b_set, 3, 0)) map_set(&n->map, key, nil_value());
}

/*
** Searches by lua_next for a field whose key is a node, and stores its key and value in slots.
** The model chooses the field in advance, because the order of lua_next depends on addresses.
*/
static void a_walk (lua_State *L) {
  int t = slot_of(1u << N_TABLE), ks, found = 0;
  Node *n;
  Entry *wanted, *e = NULL;
  if (t < 0) return;
  n = slot_node(t);
  wanted = map_random(&n->map);
  if (wanted == NULL || n->map.count > 64) return;
  push_slot(L, t);
  lua_pushnil(L);
  while (!found && lua_next(L, -2)) {
    e = map_find(&n->map, value_at(L, -2));
    if (e == NULL) wrong("object %u has a field too many", n->id);
    found = e == wanted;
    if (!found) lua_pop(L, 1);
  }
  if (found) {
    Value k = wanted->key;
    lua_pushvalue(L, -2);
    if (k.tag == V_NODE) revive(k.u.node);
    store(L, ks = any_slot(), k);
    took(L, n, wanted);
    lua_pop(L, 2);
  }
  else {
    reach_now();
    if (!may_vanish(n, wanted)) wrong("object %u lost a field", n->id);
    map_remove(&n->map, wanted);
    lua_pop(L, 1);
  }
}

/*
** C function with a table as argument. Traverses it by lua_next and clears half of its fields.
** Between the steps it runs collections.
*/
static int b_clear_walk (lua_State *L) {
  Node *n = node_at(lua_topointer(L, 1));
  unsigned count = 0, all = n->map.count;
  lua_pushnil(L);
  while (lua_next(L, 1)) {
    Value k = value_at(L, 2);
    Entry *e = map_find(&n->map, k);
    unsigned h = (k.tag == V_NODE ? k.u.node->id : (unsigned)k.u.i) * 2654435761u >> 20;
    if (e == NULL) wrong("object %u has a field too many", n->id);
    match(L, 3, e->value, "a field during a traversal");
    lua_settop(L, 2);
    count++;
    if ((h + (unsigned)w.a) % 2) {
      lua_pushvalue(L, 2);
      lua_pushnil(L);
      lua_rawset(L, 1);
      map_remove(&n->map, e);
      w.marked = 0;
    }
    if (h % 8 == 0) lua_gc(L, LUA_GCSTEP, 0);
  }
  if (count != all) wrong("a traversal of object %u saw %u of %u fields", n->id, count, all);
  return 0;
}

static void a_clear_walk (lua_State *L) {
  int t = slot_of(1u << N_TABLE);
  if (t < 0 || mt_mode(slot_node(t)->mt)) return;
  push_slot(L, t);
  w.a = (int)random_below(2);
  w.strict = 0;
  calm(L, b_clear_walk, 1, 0);
}

/* == Fields ==} */

/* {== User values, upvalues, references == */

static void a_uservalue (lua_State *L) {
  int u = slot_of(1u << N_USERDATA), s = any_slot(), i;
  Node *n;
  if (u < 0) return;
  n = slot_node(u);
  i = (int)random_below((unsigned)n->n + 1);
  push_slot(L, u);
  if (chance(3) && i < n->n) {
    lua_getiuservalue(L, -1, i + 1);
    match(L, -1, n->value[i], "a user value that was read");
    store(L, s, n->value[i]);
  }
  else {
    push_slot(L, s);
    if (lua_setiuservalue(L, -2, i + 1) != (i < n->n)) wrong("lua_setiuservalue(%d)", i + 1);
    if (i < n->n) n->value[i] = slot(s);
  }
  lua_pop(L, 1);
}

static int cells (const Node *n) {
  int i;
  for (i = 0; i < 3 && n->cell[i]; i++) { /* count */ }
  return i;
}

#define LUA_FUNCTIONS	(1u << N_GET | 1u << N_SET | 1u << N_KEEP)

static void a_upvalue (lua_State *L) {
  int f = slot_of(1u << N_CCLOSURE | LUA_FUNCTIONS), s = any_slot(), i;
  Node *n;
  Value *v;
  if (f < 0) return;
  n = slot_node(f);
  i = (int)random_below((unsigned)(n->n + cells(n)));
  v = n->n ? &n->value[i] : n->cell[i]->value;
  push_slot(L, f);
  if (chance(3)) {
    lua_getupvalue(L, -1, i + 1);
    match(L, -1, *v, "an upvalue that was read");
    store(L, s, *v);
  }
  else {
    push_slot(L, s);
    if (!lua_setupvalue(L, -2, i + 1)) wrong("lua_setupvalue(%d)", i + 1);
    *v = slot(s);
  }
  lua_pop(L, 1);
}

static void a_join (lua_State *L) {
  int f = slot_of(LUA_FUNCTIONS), g = slot_of(LUA_FUNCTIONS), i, j;
  if (f < 0) return;
  i = (int)random_below((unsigned)cells(slot_node(f)));
  j = (int)random_below((unsigned)cells(slot_node(g)));
  if (w.noopenjoin && slot_node(g)->cell[j]->open) return;
  push_slot(L, f);
  push_slot(L, g);
  lua_upvaluejoin(L, -2, i + 1, -1, j + 1);
  slot_node(f)->cell[i] = slot_node(g)->cell[j];
  lua_pop(L, 2);
}

static int b_ref (lua_State *L) {
  int ref;
  lua_createtable(L, 2, 2);
  lua_insert(L, 1);
  /* the last call in this function that may raise an error */
  ref = luaL_ref(L, LUA_REGISTRYINDEX);
  lua_rawgeti(L, LUA_REGISTRYINDEX, ref);
  luaL_unref(L, LUA_REGISTRYINDEX, ref);
  return 1;
}

static void a_ref (lua_State *L) {
  int s = any_slot();
  Value v = slot(s);
  push_slot(L, s);
  if (call(L, b_ref, 1, 1)) {
    match(L, -1, v, "a reference");
    store(L, any_slot(), v);
  }
}

/* == User values, upvalues, references ==} */

const Choice object_actions[] = {
  {a_scalar, 120}, {a_drop, 250}, {a_copy, 150}, {a_string, 400}, {a_intern, 60},
  {a_concat, 60}, {a_table, 450}, {a_userdata, 120}, {a_cclosure, 120}, {a_set, 900},
  {a_fill, 100}, {a_get, 400}, {a_clear, 200}, {a_walk, 100}, {a_clear_walk, 15},
  {a_uservalue, 120}, {a_upvalue, 150}, {a_join, 40}, {a_ref, 40}, {NULL, 0}
};
