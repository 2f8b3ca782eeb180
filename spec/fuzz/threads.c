/* SPDX-License-Identifier: MIT */
/*
** Actions of the graph fuzzer on Lua closures, coroutines, stacks and calls. Their Lua code is
** 'thread_chunk'. Its function 'body' runs in coroutines, and executes one command each time it
** is resumed. Its registers contain only values that are also in the model's Frame. Memory
** requests are refused only where the state after an error is known.
*/
#include <stdlib.h>
#include <string.h>

#include "model.h"

const char thread_chunk[] =
"local yield, error, step = coroutine.yield, error, collectgarbage\n"
"local function make(a, b, c)\n"
"  local function get() return a, b, c end\n"
"  local function set(x) b, c = x, b end\n"
"  return get, set\n"
"end\n"
"local function body(a, b, c, t0)\n"
"  local function get() return a, b, c end\n"
"  local function set(x) b, c = x, b end\n"
"  local t <close> = t0\n"
"  local cmd, x\n"
"  cmd, x = yield(get, set)\n"
"  while true do\n"
"    if cmd == 1 then a = x; cmd, x = yield(a)\n"
"    elseif cmd == 2 then b = x; cmd, x = yield()\n"
"    elseif cmd == 3 then cmd, x = yield((body(x, a, b)))\n"
"    elseif cmd == 4 then return x\n"
"    elseif cmd == 5 then error(x, 0)\n"
"    elseif cmd == 6 then set(x); cmd, x = yield(get())\n"
"    elseif cmd == 7 then\n"
"      local v = x\n"
"      local function keep() return v end\n"
"      cmd, x = yield(keep)\n"
"    elseif cmd == 8 then cmd, x = yield((body(x, a, b, x)))\n"
"    else\n"
"      for i = 1, 20 do local _ = {i, {}} end\n"
"      cmd, x = yield()\n"
"    end\n"
"  end\n"
"end\n"
"local function deep(n, v)\n"
"  local t = {n, v}\n"
"  if n == 0 then step 'step' return v end\n"
"  local r = deep(n - 1, v)\n"
"  if t[1] ~= n or not rawequal(t[2], v) then error 'a local of a deep stack changed' end\n"
"  return r\n"
"end\n"
"local function tramp(f, n)\n"
"  if n > 0 then return (tramp(f, n - 1)) end\n"
"  return (f())\n"
"end\n"
"return make, body, deep, tramp\n";

enum { SET_A = 1, SET_B, CALL, RETURN, RAISE, SWAP, BLOCK, CALL_CLOSING, CHURN };

/* {== Lua closures == */

static Node *closure (lua_State *L, int index, Kind kind, Node **cell, int n) {
  Node *f = node_new(kind, lua_topointer(L, index));
  memcpy(f->cell, cell, (size_t)n * sizeof(Node *));
  return f;
}

/*
** Creates the nodes of two closures and of the three variables (cells) that both have as
** upvalues. The closure 'get' is at the stack index 'index', 'set' is at the next one. The
** variables have the values of 'abc'.
*/
static void closures (lua_State *L, int index, const Value *abc, Node **cell, Node **get, Node **set) {
  int i;
  for (i = 0; i < 3; i++) cell[i] = cell_new(lua_upvalueid(L, index, i + 1), abc[i]);
  *get = closure(L, index, N_GET, cell, 3);
  *set = closure(L, index + 1, N_SET, cell + 1, 2);
}

static int b_make (lua_State *L) {
  /* if w.a is 1, also compiles a new prototype */
  if (w.a)
    if (luaL_loadstring(L, "local a, b, c = ...\n"
        "local function get() return a, b, c end\n"
        "local function set(x) b, c = x, b end\n"
        "return get, set, 'a string', 12.5, {1, 2, x = 'y'}") != LUA_OK) return lua_error(L);
  if (!w.a) lua_rawgeti(L, LUA_REGISTRYINDEX, w.makeref);
  lua_insert(L, 1);
  lua_call(L, 3, 2);
  return 2;
}

static void a_make (lua_State *L) {
  Value v[3];
  Node *cell[3], *get, *set;
  int i;
  for (i = 0; i < 3; i++) {
    int s = any_slot();
    v[i] = slot(s);
    push_slot(L, s);
  }
  w.a = chance(10);
  if (!call(L, b_make, 3, 2)) return;
  closures(L, lua_gettop(L) - 1, v, cell, &get, &set);
  store(L, any_slot(), node_value(set));
  store(L, any_slot(), node_value(get));
}

static int b_call (lua_State *L) {
  lua_call(L, lua_gettop(L) - 1, w.a);
  return w.a;
}

static void swap (Node *set, Value x) {
  set->cell[1]->value[0] = set->cell[0]->value[0];
  set->cell[0]->value[0] = x;
}

static void a_call (lua_State *L) {
  int f = slot_of(1u << N_GET | 1u << N_SET | 1u << N_KEEP), s = any_slot();
  Value x = slot(s);
  Node *n;
  if (f < 0) return;
  n = slot_node(f);
  push_slot(L, f);
  if (n->kind == N_SET) {
    push_slot(L, s);
    w.a = 0;
    if (call(L, b_call, 2, 0)) swap(n, x);
  }
  else {
    w.a = n->kind == N_GET ? 3 : 1;
    if (!call(L, b_call, 1, w.a)) return;
    while (w.a-- > 0) {
      match(L, -1, n->cell[w.a]->value[0], "a result");
      store(L, any_slot(), n->cell[w.a]->value[0]);
    }
  }
}

/* == Lua closures ==} */

/* {== Coroutines == */

static int b_thread (lua_State *L) {
  lua_newthread(L);
  return 1;
}

static void due_closers (Node *n, int from) {
  int i;
  for (i = from; i < n->frames; i++)
    if (n->frame[i].tbc.tag == V_NODE) n->frame[i].tbc.u.node->closers++;
}

static void leave_block (Frame *f) {
  if (f->cell4) f->cell4->open = 0;
  f->cell4 = f->keep = NULL;
}

/*
** Removes the frames from index 'from' on from the model of a coroutine. Checks that their
** variables to be closed were closed.
*/
static void unwind (Node *n, int from) {
  while (n->frames > from) {
    Frame *f = &n->frame[--n->frames];
    int i;
    for (i = 0; i < 3; i++) f->cell[i]->open = 0;
    leave_block(f);
    if (f->tbc.tag == V_NODE && f->tbc.u.node->closers != 0)
      wrong("object %u was not closed", f->tbc.u.node->id);
  }
}

static void close_coroutine (lua_State *L, Node *n, lua_State *co) {
  int armed = memory.armed;
  memory.armed = 0;
  due_closers(n, 0);
  lua_closethread(co, L);
  lua_settop(co, 0);
  unwind(n, 0);
  memory.armed = armed;
}

/*
** Resumes the coroutine and moves the values that it yields to L. No memory request is refused
** while they are moved.
*/
static int resume (lua_State *L, lua_State *co, int args) {
  int n = 0, status = lua_resume(co, L, args, &n);
  if (status == LUA_OK || status == LUA_YIELD) {
    int armed = memory.armed;
    memory.armed = 0;
    if (!lua_checkstack(L, n + 4)) wrong("no room for %d results", n);
    memory.armed = armed;
    lua_xmove(co, L, n);
  }
  return status;
}

/*
** Adds a call of 'body' to the model of a coroutine. The closures get and set are at the top of
** the stack, and are removed from it.
*/
static void enter_frame (lua_State *L, Node *n, const Value *abc, Value tbc) {
  Frame *f = &n->frame[n->frames++];
  int i;
  memset(f, 0, sizeof *f);
  f->tbc = tbc;
  if (tbc.tag == V_NODE) tbc.u.node->closable = 1;
  closures(L, lua_gettop(L) - 1, abc, f->cell, &f->get, &f->set);
  for (i = 0; i < 3; i++) f->cell[i]->open = 1;
  store(L, any_slot(), node_value(f->set));
  store(L, any_slot(), node_value(f->get));
}

static int can_close (Value v) {
  return v.tag == V_NODE && (v.u.node->kind == N_TABLE || v.u.node->kind == N_USERDATA) &&
         v.u.node->mt >= 0;
}

/* Starts a new coroutine, or runs 'body' again in a coroutine that has ended. */
static void a_start (lua_State *L) {
  int s = slot_of(1u << N_COROUTINE), d = any_slot(), i, armed = memory.armed, status;
  Value v[4];
  Node *n;
  lua_State *co;
  if (s < 0 || slot_node(s)->frames || chance(2)) {
    if (!call(L, b_thread, 0, 1)) return;
    n = node_new(N_COROUTINE, lua_topointer(L, -1));
    n->frame = fresh(FRAMES * sizeof(Frame));
    store(L, s = d, node_value(n));
  }
  n = slot_node(s);
  push_slot(L, s);
  co = lua_tothread(L, -1);
  lua_rawgeti(L, LUA_REGISTRYINDEX, w.bodyref);
  for (i = 0; i < 4; i++) {
    int from = any_slot();
    v[i] = slot(from);
    if (i == 3 && !can_close(v[i])) v[i] = nil_value();
    if (v[i].tag == V_NIL) lua_pushnil(L);
    else push_slot(L, from);
  }
  if (v[3].tag == V_NODE) memory.armed = 0;
  lua_xmove(L, co, 5);
  status = resume(L, co, 4);
  memory.armed = armed;
  if (status == LUA_YIELD) enter_frame(L, n, v, v[3]);
  else if (status == LUA_ERRMEM && armed) {
    w.errors++;
    close_coroutine(L, n, co);
  }
  else wrong("a coroutine started with status %d", status);
  lua_pop(L, 1);
}

static void expect (lua_State *L, int results, int from) {
  if (lua_gettop(L) - from != results)
    wrong("%d results from a coroutine, not %d", lua_gettop(L) - from, results);
}

static void take_result (lua_State *L, Value v) {
  match(L, -1, v, "a result of a coroutine");
  store(L, any_slot(), v);
}

static int choose_command (Node *n, Value x) {
  static const int commands[] = {SET_A, SET_A, SET_B, CALL, CALL, RETURN, SWAP, SWAP, BLOCK,
    BLOCK, CHURN, CALL_CLOSING, CALL_CLOSING, RETURN, SET_B};
  int c = chance(60) ? RAISE : commands[random_below(sizeof commands / sizeof *commands)];
  if (c == CALL_CLOSING && !can_close(x)) c = CALL;
  if ((c == CALL || c == CALL_CLOSING) && n->frames == FRAMES) c = RETURN;
  return c;
}

/*
** Updates the model after a coroutine has executed a command with the argument x. The results of
** the command are on the stack of L, above index 'from'.
*/
static void obeyed (lua_State *L, Node *n, int command, Value x, int from) {
  Frame *f = &n->frame[n->frames - 1];
  Value abc[3];
  int i;
  switch (command) {
    case SET_A:
      expect(L, 1, from);
      f->cell[0]->value[0] = x;
      take_result(L, x);
      break;
    case SET_B:
      expect(L, 0, from);
      f->cell[1]->value[0] = x;
      break;
    case CALL: case CALL_CLOSING:
      expect(L, 2, from);
      abc[0] = x;
      abc[1] = f->cell[0]->value[0];
      abc[2] = f->cell[1]->value[0];
      enter_frame(L, n, abc, command == CALL ? nil_value() : x);
      break;
    case RETURN:
      expect(L, 1, from);
      unwind(n, n->frames - 1);
      take_result(L, x);
      break;
    case SWAP:
      expect(L, 3, from);
      swap(f->set, x);
      for (i = 3; i-- > 0;) take_result(L, f->get->cell[i]->value[0]);
      break;
    case BLOCK:
      expect(L, 1, from);
      f->cell4 = cell_new(lua_upvalueid(L, -1, 1), x);
      f->cell4->open = 1;
      f->keep = closure(L, -1, N_KEEP, &f->cell4, 1);
      store(L, any_slot(), node_value(f->keep));
      break;
    default: expect(L, 0, from);
  }
}

static void a_resume (lua_State *L) {
  int s = slot_of(1u << N_COROUTINE), sx = any_slot(), armed = memory.armed, command, status, top;
  Value x = slot(sx);
  Node *n;
  Frame *f;
  lua_State *co;
  if (s < 0 || slot_node(s)->frames == 0) return;
  n = slot_node(s);
  f = &n->frame[n->frames - 1];
  command = choose_command(n, x);
  if (command != CALL && command != BLOCK && command != CHURN) memory.armed = 0;
  push_slot(L, s);
  co = lua_tothread(L, -1);
  top = lua_gettop(L);
  lua_pushinteger(L, command);
  push_slot(L, sx);
  lua_xmove(L, co, 2);
  f->command = int_value(command);
  f->x = x;
  leave_block(f);
  if (command == RETURN) due_closers(n, n->frames - 1);
  status = resume(L, co, 2);
  if (command == RAISE) {
    if (status != LUA_ERRRUN) wrong("an error in a coroutine gave status %d", status);
    match(co, -1, x, "an error object");
    close_coroutine(L, n, co);
  }
  else if (status == LUA_ERRMEM && memory.armed) {
    w.errors++;
    close_coroutine(L, n, co);
  }
  else if (status != (command == RETURN && n->frames == 1 ? LUA_OK : LUA_YIELD))
    wrong("command %d of a coroutine gave status %d: %s", command, status, lua_tostring(co, -1));
  else obeyed(L, n, command, x, top);
  memory.armed = armed;
  lua_settop(L, top - 1);
}

static void a_close (lua_State *L) {
  int s = slot_of(1u << N_COROUTINE);
  if (s < 0) return;
  push_slot(L, s);
  close_coroutine(L, slot_node(s), lua_tothread(L, -1));
  lua_pop(L, 1);
}

static void a_setlocal (lua_State *L) {
  int s = slot_of(1u << N_COROUTINE), from = any_slot(), i, level;
  Node *n;
  lua_State *co;
  lua_Debug ar;
  if (s < 0 || slot_node(s)->frames == 0) return;
  n = slot_node(s);
  level = 1 + (int)random_below((unsigned)n->frames);
  i = (int)random_below(3);
  push_slot(L, s);
  co = lua_tothread(L, -1);
  push_slot(L, from);
  if (!lua_getstack(co, level, &ar)) wrong("coroutine %u lost a frame", n->id);
  lua_xmove(L, co, 1);
  if (lua_setlocal(co, &ar, i + 1) == NULL) wrong("lua_setlocal(%d)", i + 1);
  n->frame[n->frames - level].cell[i]->value[0] = slot(from);
  lua_pop(L, 1);
}

/* == Coroutines ==} */

/* {== Stacks: threads that never run == */

#define HEIGHT	400

static void a_stack (lua_State *L) {
  Node *n;
  if (!call(L, b_thread, 0, 1)) return;
  n = node_new(N_STACK, lua_topointer(L, -1));
  n->value = fresh(HEIGHT * sizeof(Value));
  store(L, any_slot(), node_value(n));
}

static void a_stack_use (lua_State *L) {
  int s = slot_of(1u << N_STACK), from = any_slot(), i;
  Node *n;
  lua_State *co;
  if (s < 0) return;
  n = slot_node(s);
  push_slot(L, s);
  co = lua_tothread(L, -1);
  i = (int)random_below((unsigned)n->n + 1);
  switch (random_below(5)) {
    case 0: case 1: {
      int count = chance(10) ? 100 : 1 + (int)random_below(4);
      if (!lua_checkstack(co, count + 1)) break;
      while (count-- > 0 && n->n < HEIGHT) {
        push_slot(L, from);
        lua_xmove(L, co, 1);
        n->value[n->n++] = slot(from);
        from = any_slot();
      }
      break;
    }
    case 2: if (n->n > 0) {
      Value v = n->value[--n->n];
      lua_xmove(co, L, 1);
      match(L, -1, v, "the top of a stack");
      store(L, from, v);
    } break;
    case 3: if (i < n->n && lua_checkstack(co, 2)) {
      push_slot(L, from);
      lua_xmove(L, co, 1);
      if (chance(2)) lua_replace(co, i + 1);
      else {
        lua_copy(co, -1, i + 1);
        lua_pop(co, 1);
      }
      n->value[i] = slot(from);
    } break;
    default: {
      int top = n->n - (int)random_below(6);
      if (top < 0 || chance(20)) top = 0;
      lua_settop(co, top);
      n->n = top;
    }
  }
  lua_pop(L, 1);
}

/* == Stacks ==} */

/* {== Calls == */

static int b_deep (lua_State *L) {
  lua_rawgeti(L, LUA_REGISTRYINDEX, w.deepref);
  lua_pushinteger(L, w.a);
  lua_pushvalue(L, 1);
  lua_call(L, 2, 1);
  return 1;
}

static void a_deep (lua_State *L) {
  int s = any_slot();
  Value v = slot(s);
  w.a = chance(30) ? 3000 : (int)random_below(100);
  w.strict = 0;
  push_slot(L, s);
  if (!call(L, b_deep, 1, 1)) return;
  match(L, -1, v, "the result of a deep recursion");
  store(L, any_slot(), v);
}

static int b_tramp (lua_State *L) {
  lua_rawgeti(L, LUA_REGISTRYINDEX, w.trampref);
  lua_pushcfunction(L, run_frame);
  lua_pushinteger(L, w.a);
  lua_call(L, 2, 0);
  return 0;
}

/*
** Runs actions in a nested stack frame of the fuzzer. The frame is called from C, through a Lua
** function, or in a coroutine.
*/
static void a_descend (lua_State *L) {
  int kind = (int)random_below(3), depth = w.depth;
  if (depth >= DEPTH) return;
  w.a = (int)random_below(50);
  if (kind == 0) call(L, run_frame, 0, 0);
  else if (kind == 1) call(L, b_tramp, 0, 0);
  else if (call(L, b_thread, 0, 1)) {
    lua_State *co = lua_tothread(L, -1);
    int n = 0, status;
    lua_pushcfunction(co, run_frame);
    status = lua_resume(co, L, 0, &n);
    if (status != LUA_OK && !(status == LUA_ERRMEM && memory.armed))
      wrong("a frame in a thread ended with status %d: %s", status, lua_tostring(co, -1));
    lua_pop(L, 1);
  }
  w.depth = depth;
  w.marked = 0;
}

/* == Calls ==} */

const Choice thread_actions[] = {
  {a_make, 120}, {a_call, 150}, {a_start, 80}, {a_resume, 350}, {a_close, 12},
  {a_setlocal, 60}, {a_stack, 25}, {a_stack_use, 180}, {a_deep, 12}, {a_descend, 25},
  {NULL, 0}
};
