/* SPDX-License-Identifier: MIT */
/*
** Compares Lua with the model. Walks the graph of all Lua objects through the C API, from the
** slots of the running frame and of the registry, and in parallel the graph of the model. Checks
** the identity and the contents of every visited value. Allocates nothing in the Lua state except
** stack space of the thread 'queue'. During the walk, lua_Alloc refuses no request.
*/
#include <stdlib.h>
#include <string.h>

#include "model.h"

static Node **queue;
static unsigned queued, queuesize;

/* Returns 1 if a collection that is not full may have removed the entry e of the weak table n. */
int may_vanish (const Node *n, const Entry *e) {
  int mode = mt_mode(n->mt);
  return ((mode & MODE_KEYS) && !reachable(e->key, REACH_NOW)) ||
         ((mode & MODE_VALUES) && e->value.tag == V_NODE &&
          (n->revived || e->value.u.node->revived || !reachable(e->value, REACH_NOW)));
}

/* Returns 1 if a full collection must have removed the entry e of the weak table n. */
static int must_vanish (const Node *n, const Entry *e) {
  int mode = mt_mode(n->mt);
  if (!(n->marks & REACH_NOW) || n->revived) return 0;
  return ((mode & MODE_KEYS) && !reachable(e->key, REACH_FINAL | REACH_AFTER)) ||
         ((mode & MODE_VALUES) && !reachable(e->value, REACH_POSSIBLE | REACH_AFTER));
}

/*
** Checks that the value at the top of the stack is v. If v is a node that this walk has not
** visited yet, queues it.
*/
static void see (lua_State *L, Value v, const char *where) {
  Node *n = v.u.node;
  match(L, -1, v, where);
  if (v.tag != V_NODE || n->visited == w.stamp) return;
  n->visited = w.stamp;
  if (!lua_checkstack(w.queue, 4)) wrong("no room for the queue of a check");
  lua_pushvalue(L, -1);
  lua_xmove(L, w.queue, 1);
  queue[queued++] = n;
}

static void see_pop (lua_State *L, Value v, const char *where) {
  see(L, v, where);
  lua_pop(L, 1);
}

static void check_border (lua_State *L, Node *n) {
  size_t border = lua_rawlen(L, -1);
  if ((border > 0 && !map_find(&n->map, int_value((long long)border))) ||
      map_find(&n->map, int_value((long long)border + 1)))
    wrong("object %u: %zu is no border", n->id, border);
}

/* Compares the table at the top of the stack with its node n in the model. */
static void check_table (lua_State *L, Node *n, int collected) {
  unsigned count = 0, i;
  int weak = mt_mode(n->mt);
  lua_pushnil(L);
  while (lua_next(L, -2)) {
    Entry *e = map_find(&n->map, value_at(L, -2));
    if (e == NULL) wrong("object %u has a field too many", n->id);
    if (e->seen == w.stamp) wrong("lua_next names a field of object %u twice", n->id);
    e->seen = w.stamp;
    count++;
    if (collected && must_vanish(n, e)) wrong("weak table %u holds a dead object", n->id);
    if (weak && may_vanish(n, e)) match(L, -1, e->value, "a weak field");
    else see(L, e->value, "a field");
    lua_pop(L, 1);
    if (!may_vanish(n, e)) see(L, e->key, "a key");
  }
  if (count < n->map.count)
    for (i = 0; i < n->map.size; i++) {
      Entry *e = &n->map.entry[i];
      if (e->key.tag <= V_NIL || e->seen == w.stamp) continue;
      if (!may_vanish(n, e)) wrong("object %u (mode %d) lost a field", n->id, weak);
      map_remove(&n->map, e);
    }
  check_border(L, n);
}

static void check_userdata (lua_State *L, Node *n) {
  int i;
  if (lua_rawlen(L, -1) != n->size) wrong("userdata %u has another size", n->id);
  if (n->size && memcmp(lua_touserdata(L, -1), noise(n->id), n->size) != 0)
    wrong("userdata %u is damaged", n->id);
  for (i = 0; i < n->n; i++) {
    lua_getiuservalue(L, -1, i + 1);
    see_pop(L, n->value[i], "a user value");
  }
  if (lua_getiuservalue(L, -1, n->n + 1) != LUA_TNONE) wrong("a user value too many");
  lua_pop(L, 1);
}

static void check_metatable (lua_State *L, Node *n) {
  if (!lua_getmetatable(L, -1)) {
    if (n->mt >= 0 || n->meta) wrong("object %u lost its metatable", n->id);
    return;
  }
  if (n->meta) see(L, node_value(n->meta), "a metatable");
  else {
    if (n->mt < 0) wrong("object %u has a metatable", n->id);
    lua_rawgeti(L, LUA_REGISTRYINDEX, w.mtref[n->mt]);
    if (!lua_rawequal(L, -1, -2)) wrong("object %u has another metatable", n->id);
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
}

static void check_function (lua_State *L, Node *n) {
  int i;
  for (i = 0; i < n->n; i++) {
    if (!lua_getupvalue(L, -1, i + 1)) wrong("closure %u lost an upvalue", n->id);
    see_pop(L, n->value[i], "an upvalue");
  }
  for (i = 0; i < 3 && n->cell[i]; i++) {
    if (lua_upvalueid(L, -1, i + 1) != n->cell[i]->address)
      wrong("closure %u has another upvalue %d", n->id, i + 1);
    lua_getupvalue(L, -1, i + 1);
    see_pop(L, n->cell[i]->value[0], "a shared upvalue");
  }
}

static void check_local (lua_State *L, lua_State *co, lua_Debug *ar, int i, Value v) {
  if (!lua_getlocal(co, ar, i)) wrong("local %d of a coroutine is missing", i);
  lua_xmove(co, L, 1);
  see_pop(L, v, "a local of a coroutine");
}

static void check_coroutine (lua_State *L, Node *n) {
  lua_State *co = lua_tothread(L, -1);
  lua_Debug ar;
  int i;
  if (lua_status(co) != (n->frames ? LUA_YIELD : LUA_OK)) wrong("coroutine %u: status", n->id);
  for (i = 0; i < n->frames; i++) {
    Frame *f = &n->frame[i];
    if (!lua_getstack(co, n->frames - i, &ar)) wrong("coroutine %u lost a frame", n->id);
    check_local(L, co, &ar, 1, f->cell[0]->value[0]);
    check_local(L, co, &ar, 2, f->cell[1]->value[0]);
    check_local(L, co, &ar, 3, f->cell[2]->value[0]);
    check_local(L, co, &ar, 4, f->tbc);
    check_local(L, co, &ar, 5, node_value(f->get));
    check_local(L, co, &ar, 6, node_value(f->set));
    check_local(L, co, &ar, 7, f->tbc);
    check_local(L, co, &ar, 8, f->command);
    check_local(L, co, &ar, 9, f->x);
    if (f->keep) {
      check_local(L, co, &ar, 10, f->cell4->value[0]);
      check_local(L, co, &ar, 11, node_value(f->keep));
    }
  }
}

static void check_stack (lua_State *L, Node *n) {
  lua_State *co = lua_tothread(L, -1);
  int i;
  if (lua_gettop(co) != n->n) wrong("stack %u has %d values, not %d", n->id, lua_gettop(co), n->n);
  for (i = 0; i < n->n; i++) {
    lua_pushvalue(co, i + 1);
    lua_xmove(co, L, 1);
    see_pop(L, n->value[i], "a stack");
  }
}

static int b_check (lua_State *L) {
  int s, collected = w.a;
  unsigned i;
  if (!lua_checkstack(w.queue, 4)) wrong("no room for the queue of a check");
  for (i = 0; i < queued; i++) {
    Node *n = queue[i];
    lua_pushvalue(w.queue, (int)i + 1);
    lua_xmove(w.queue, L, 1);
    switch (n->kind) {
      case N_TABLE: check_table(L, n, collected); break;
      case N_USERDATA: check_userdata(L, n); break;
      case N_STACK: check_stack(L, n); break;
      case N_COROUTINE: check_coroutine(L, n); break;
      default: check_function(L, n);
    }
    if (n->kind == N_TABLE || n->kind == N_USERDATA) check_metatable(L, n);
    s = lua_gettop(L);
    if (s != 1) wrong("a check left %d values", s);
    lua_pop(L, 1);
  }
  lua_settop(w.queue, 0);
  return 0;
}

/*
** Compares the Lua state with the model. 'collected' must be 1 if a full collection has just
** ended; the marks REACH_NOW must then be those from before the collection.
*/
void check (lua_State *L, int collected) {
  int s, armed = memory.armed;
  memory.armed = 0;
  if (!collected) reach_now();
  if (queuesize < w.nodes) {
    queuesize = w.nodes * 2;
    free(queue);
    queue = fresh(queuesize * sizeof(Node *));
  }
  w.stamp += 2;
  queued = 0;
  for (s = w.depth ? 0 : LOCALS; s < SLOTS; s++) {
    push_slot(L, s);
    see_pop(L, slot(s), "a slot");
  }
  w.a = collected;
  calm(L, b_check, 0, 0);
  memory.armed = armed;
}
