/* SPDX-License-Identifier: MIT */
/*
** states: Lua states of their own for specs, each over an allocator that
** counts, checks and refuses. Knows the public API and lua/seam.h only; never
** touches the state that runs the specs but through arguments and results.
**
**   open{libs=true, limit=, fail=, failall=} -> state, status
**     limit    bytes that may be outstanding at most
**     fail     the n-th request from here on is refused, once
**     failall  requests after the n-th from here on are all refused
**     status   "ok", "none" (lua_newstate gave NULL), or as of run
**   s:run(f, ...) -> status, message | results...
**     f        text of a chunk, or a function whose only upvalue is _ENV
**     ...      nil, booleans, numbers, strings; so are the results
**     status   "ok", "runtime", "syntax", "memory", "errerr"
**     the chunk is given a table of functions (see 'inside') before the "..."
**   s:refuse{limit=, fail=, failall=}    what is absent is off
**   s:stats() -> {bytes, peak, calls, requests, refused, later, wrong}
**     requests are calls for more memory; later: see 'replace'; wrong: the first broken promise of
**     the core to its lua_Alloc, or nil
**   s:check() -> nil | the invariant of the heap that does not hold
**   s:memory() -> {inuse, held, minors, majors, allocated}
**   s:close() -> bytes left (the state may be closed once; stats stay)
**
** A request is a call with more bytes than the block had. The allocator keeps
** the size of each block before it, fills what is new and what is freed.
*/
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lua.h>
#include <lauxlib.h>
#include <lualib.h>

#include "seam.h"

#define TYPENAME	"states"
#define NOLIMIT		((size_t)1 << 31)	/* what is refused with no limit set */
#define NEVER		UINT64_MAX
#define MAGIC		0x6b636f6c62206120u
#define INTAGS		16	/* largest tag of an object that is told apart */

/* Stands before each block; as large as malloc's alignment. */
typedef struct Head {
  uint64_t size, magic;
} Head;

typedef struct State {
  lua_State *L;
  size_t bytes, peak, limit;
  uint64_t calls, requests, refused;
  uint64_t later;		/* calls of the function that 'replace' sets, and one */
  uint64_t fail, failall;	/* numbers of requests, NEVER: off */
  uint64_t tags[INTAGS];	/* requests for a new block by its kind */
  char *scratch;		/* bytes of a string or of a dumped chunk */
  size_t nscratch;		/* of the latter */
  char wrong[120];		/* "" while every call was right */
} State;


/* {== the allocator ==================================================== */

static void wrong (State *s, const char *what, size_t told, size_t known) {
  if (s->wrong[0] == '\0')
    snprintf(s->wrong, sizeof(s->wrong), "call %llu: %s, told %llu, known %llu",
             (unsigned long long)s->calls, what, (unsigned long long)told,
             (unsigned long long)known);
}

static int refused (State *s, size_t more) {
  s->requests++;
  if (s->requests == s->fail || s->requests > s->failall ||
      more > s->limit || s->bytes > s->limit - more) {
    s->refused++;
    return 1;
  }
  return 0;
}

static void *serve (State *s, void *block, size_t osize, size_t nsize) {
  Head *h = (block == NULL) ? NULL : (Head *)block - 1, *n;
  size_t old = 0;
  s->calls++;
  if (h == NULL) {
    if (nsize > 0) s->tags[osize < INTAGS ? osize : 0]++;
  }
  else {
    if (h->magic != MAGIC) {
      wrong(s, "block that was not handed out", osize, 0);
      abort();  /* nothing can be done with it */
    }
    old = (size_t)h->size;
    if (old != osize) wrong(s, "wrong size of a block", osize, old);
  }
  if (nsize > old && refused(s, nsize - old)) return NULL;
  n = NULL;
  if (nsize > 0) {  /* always a new place: nobody may count on the old one */
    n = malloc(sizeof(Head) + nsize);
    if (n == NULL) return NULL;
    n->size = nsize;
    n->magic = MAGIC;
    memset(n + 1, 0xA5, nsize);
    if (h != NULL) memcpy(n + 1, h + 1, old < nsize ? old : nsize);
  }
  if (h != NULL) {
    memset(h, 0x5A, sizeof(Head) + old);
    free(h);
  }
  s->bytes += nsize - old;
  if (s->bytes > s->peak) s->peak = s->bytes;
  return (n == NULL) ? NULL : n + 1;
}

static void *allocate (void *ud, void *block, size_t osize, size_t nsize) {
  State *s = ud;
  if (s->later > 0) wrong(s, "a function that was replaced", osize, nsize);
  return serve(s, block, osize, nsize);
}

static void *later (void *ud, void *block, size_t osize, size_t nsize) {
  State *s = ud;
  s->later++;
  return serve(s, block, osize, nsize);
}

/* }===================================================================== */


/* {== inside a state: what its chunks are given ======================== */

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

/* tags(kind) -> requests for a new block of this kind (0: no object) */
static int in_tags (lua_State *L) {
  lua_Integer tag = luaL_checkinteger(L, 1);
  luaL_argcheck(L, 0 <= tag && tag < INTAGS, 1, "no tag");
  lua_pushinteger(L, (lua_Integer)mystate(L)->tags[tag]);
  return 1;
}

/* limit(bytes | nil) */
static int in_limit (lua_State *L) {
  mystate(L)->limit = lua_isnoneornil(L, 1) ? NOLIMIT
                                            : (size_t)luaL_checkinteger(L, 1);
  return 0;
}

/* failall(n | nil) */
static int in_failall (lua_State *L) {
  State *s = mystate(L);
  s->failall = lua_isnoneornil(L, 1) ? NEVER
             : s->requests + (uint64_t)luaL_checkinteger(L, 1);
  return 0;
}

/* fail(n): the n-th request from here on is refused, once */
static int in_fail (lua_State *L) {
  State *s = mystate(L);
  s->fail = s->requests + (uint64_t)luaL_checkinteger(L, 1);
  return 0;
}

/* replace(): another function is lua_Alloc from here on; the old one must rest */
static int in_replace (lua_State *L) {
  State *s = mystate(L);
  s->later = 1;
  lua_setallocf(L, later, s);
  return 0;
}

static int in_allocated (lua_State *L) {
  lua_pushinteger(L, (lua_Integer)luaN_allocated(L));
  return 1;
}

/* memory() -> inuse, held, minors, majors */
static int in_memory (lua_State *L) {
  luaN_Memory m;
  luaN_memory(L, &m);
  lua_pushinteger(L, (lua_Integer)m.inuse);
  lua_pushinteger(L, (lua_Integer)m.held);
  lua_pushinteger(L, (lua_Integer)m.minors);
  lua_pushinteger(L, (lua_Integer)m.majors);
  return 4;
}

/* check(): raises what does not hold */
static int in_check (lua_State *L) {
  const char *broken = luaN_check(L);
  return (broken == NULL) ? 0 : luaL_error(L, "%s", broken);
}

/* reserve(coroutine, n) -> whether there is room for n values now */
static int in_reserve (lua_State *L) {
  lua_State *co = lua_tothread(L, 1);
  luaL_argcheck(L, co != NULL, 1, "coroutine expected");
  lua_pushboolean(L, lua_checkstack(co, (int)luaL_checkinteger(L, 2)));
  return 1;
}

/* fill(coroutine, n): uses the room of n values; raises what does not hold */
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

/* userdata(size [, values]) -> full userdata, each byte size % 251 */
static int in_userdata (lua_State *L) {
  size_t n = (size_t)luaL_checkinteger(L, 1);
  void *p = lua_newuserdatauv(L, n, (int)luaL_optinteger(L, 2, 0));
  memset(p, (int)(n % 251), n);
  return 1;
}

/* intact(userdata) -> whether each byte is still what userdata wrote */
static int in_intact (lua_State *L) {
  const unsigned char *p = lua_touserdata(L, 1);
  size_t i, n = lua_rawlen(L, 1);
  for (i = 0; i < n && p[i] == n % 251; i++) {}
  lua_pushboolean(L, i == n);
  return 1;
}

/* address(value) -> address of its memory */
static int in_address (lua_State *L) {
  const void *p = lua_isuserdata(L, 1) ? lua_touserdata(L, 1)
                                       : lua_topointer(L, 1);
  lua_pushinteger(L, (lua_Integer)(intptr_t)p);
  return 1;
}

/* string(n, byte) -> string of n bytes, made in one piece */
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

/* table(array, hash) -> table of these sizes */
static int in_table (lua_State *L) {
  lua_createtable(L, (int)luaL_checkinteger(L, 1),
                     (int)luaL_checkinteger(L, 2));
  return 1;
}

/* closure(n) -> C closure of n upvalues */
static int in_closure (lua_State *L) {
  int n = (int)luaL_checkinteger(L, 1);
  if (!lua_checkstack(L, n)) return luaL_error(L, "not enough memory");
  lua_settop(L, 0);
  lua_settop(L, n);
  lua_pushcclosure(L, in_bytes, n);
  return 1;
}

/* extra(thread [, n]) -> the integer in its extra space, set to n first */
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

/* numeral(n) -> C function that makes a string of its upvalue and returns it */
static int in_numeral (lua_State *L) {
  lua_settop(L, 1);
  lua_pushcclosure(L, numeral, 1);
  return 1;
}

/* push(coroutine, value ...) */
static int in_push (lua_State *L) {
  lua_State *co = lua_tothread(L, 1);
  int n = lua_gettop(L) - 1;
  luaL_argcheck(L, co != NULL && lua_checkstack(co, n), 1, "no coroutine");
  lua_xmove(L, co, n);
  return 0;
}

/* pop(coroutine, n) -> the n values on its top */
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

/* warn(f): warnings call it, in the main thread */
static int in_warn (lua_State *L) {
  lua_State *mainthread;
  lua_settop(L, 1);
  lua_setfield(L, LUA_REGISTRYINDEX, "states.warned");
  lua_rawgeti(L, LUA_REGISTRYINDEX, LUA_RIDX_MAINTHREAD);
  mainthread = lua_tothread(L, -1);
  lua_setwarnf(L, warned, mainthread);
  return 0;
}

static const luaL_Reg inside[] = {
  {"numeral", in_numeral}, {"push", in_push}, {"pop", in_pop}, {"warn", in_warn},
  {"bytes", in_bytes}, {"requests", in_requests}, {"tags", in_tags},
  {"limit", in_limit}, {"failall", in_failall}, {"fail", in_fail}, {"allocated", in_allocated},
  {"memory", in_memory}, {"check", in_check}, {"userdata", in_userdata},
  {"intact", in_intact}, {"address", in_address}, {"string", in_string},
  {"table", in_table}, {"closure", in_closure}, {"extra", in_extra},
  {"reserve", in_reserve}, {"fill", in_fill}, {"replace", in_replace},
  {NULL, NULL}
};

/* }===================================================================== */


/* {== outside ========================================================== */

/* A plain value of 'from' at i onto the stack of 'to'; 0: it is not plain. */
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

/* The arguments of a chunk: indices in the stack of 'outer'. */
typedef struct Arguments {
  lua_State *outer;
  int first, last;
} Arguments;

/* work(chunk, arguments) -> results of the chunk */
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
  luaL_newlib(L, inside);
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
  luaL_setmetatable(L, TYPENAME);
  if ((s->L = lua_newstate(allocate, s)) == NULL) {
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

/* Loads the argument 2 of L, text or a function, into the state. */
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

/* }===================================================================== */
