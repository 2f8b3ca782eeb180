/* SPDX-License-Identifier: MIT */
/*
** embedding: a Lua module with clients of asamp.h, for specs. They record all callbacks and check the
** guarantees of the interface that need no model.
**
** The process has RECORDS records of callbacks. A state writes to the first record until it selects
** another one. Another state may read a record while no client writes to it.
**
**   use(n)                 the functions of this state use record n (1, 2, ...)
**   start(period, fixed, native, seed, unfollowed) -> true | nil, message
**     unfollowed: the client has no callback 'died'
**   stop() -> true if there was a client
**   period(n) -> true | nil, message
**   samples() -> {{kind=, size=, count=, survived= (nil: undecided), followed=, died=,
**     left=, class=, stack= "name:line native name:line ...", holder= (the last one
**     reported: "_G > ...")} ...}, of the last client
**   holders() -> the number of samples whose holders were reported
**   snapshot(path) -> true | nil, message
**   wrong() -> the first guarantee that was violated, or nil
**   collections() -> {{major=, minors=, majors=, duration=, inuse=, held=, rss=,
**     tenured=, phase=, lost=} ...}
**   misuse(true): callbacks call functions that they must not call
**   misuse() -> the numbers of these calls that were refused and accepted
**   callapi(name [, setter]): every callback of that name calls the Lua API, or, if 'setter' is
**     "limits" or "counts", luaN_setlimits or luaN_setcounts
**   sized(clientsize, optionssize): the same as start, but the structs of client and options have
**     these sizes (nil: the size in the header)
**   sizes() -> the sizes of asamp_Client, of its part before 'died', and of asamp_Options
**   label(coroutine, name [, value]) -> nil, or the reason why the label could not be set
**   count(f) -> bytes, blocks, bytes of tables, bytes alive (api->count, api->alive)
**   symbol() -> the name and file of a native function of this module
*/
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <asamp.h>
#include <seam.h>
#include <lauxlib.h>

#define RECORDS		8
#define FRAMES		8192

enum { NONE, YOUNG, TENURED }; /* survival outcomes */

typedef struct Taken {
  int kind, fate, followed, died, left;
  uint64_t size, count;
  char class[64], stack[400], holder[400];
} Taken;

typedef struct Record {
  Taken *taken;
  size_t n, size;
  uint64_t decided, lastdeath, lastheld;
  asamp_Collection *collections;
  size_t ncollections, collections_size;
  asamp_Frame last[FRAMES];
  size_t nlast;
  const char *wrong;
  /* the Lua state in which the client was started */
  lua_State *L;
  const asamp_Api *api;
  int misused;   /* true: callbacks misuse the API */
  long refused, obeyed;
  const char *callapi;
  const char *setter;
} Record;

static Record records[RECORDS];
static int states;

static void append (char *to, size_t max, const char *text) {
  strncat(to, text, max - strlen(to) - 1);
}

static void *grow (void *list, size_t n, size_t *size, size_t element) {
  if (n < *size) return list;
  *size = 2 * *size + 64;
  list = realloc(list, *size * element);
  if (list == NULL) abort();
  return list;
}


/* {== callbacks ======================================================== */

/*
** Called first by each callback, with the callback's name. Calls functions that callbacks must
** not call if 'misused' is set. Returns the record.
*/
static Record *enter (void *ud, const char *name) {
  const asamp_Client other = {sizeof(other), NULL, NULL, NULL, NULL, NULL, NULL, NULL};
  asamp_Options o = {sizeof(o), 4096, 0, 1, 0};
  asamp_Counts counts = {.size = sizeof(counts)};
  Record *r = ud;
  if (r < records || r >= records + RECORDS) abort();
  if (r->misused) {
    if (r->api->start(r->L, &o, &other) != NULL) r->refused++; else r->obeyed++;
    if (r->api->period(r->L, 4096) != NULL) r->refused++; else r->obeyed++;
    if (!r->api->stop(r->L)) r->refused++; else r->obeyed++;
    if (r->api->holders(r->L) == 0) r->refused++; else r->obeyed++;
    if (r->api->label(r->L, "name", "value") != NULL) r->refused++; else r->obeyed++;
    if (r->api->count_start(r->L) != NULL) r->refused++; else r->obeyed++;
    if (r->api->count_stop(r->L) != NULL) r->refused++; else r->obeyed++;
    if (!r->api->count(r->L, &counts)) r->refused++; else r->obeyed++;
    if (r->api->alive(r->L) == 0) r->refused++; else r->obeyed++;
    if (!r->api->snapshot(r->L, "/dev/null", 0, NULL, 0)) r->refused++; else r->obeyed++;
  }
  if (r->callapi == NULL || strcmp(r->callapi, name) != 0) return r;
  if (strcmp(r->setter, "limits") == 0) luaN_setlimits(r->L, NULL);
  else if (strcmp(r->setter, "counts") == 0) luaN_setcounts(r->L, NULL);
  else {
    lua_pushinteger(r->L, 1);
    lua_pop(r->L, 1);
  }
  return r;
}

static void *valueof (const Record *r, uint64_t number) {
  return (void *)(uintptr_t)(number * RECORDS + (uint64_t)(r - records));
}

/* Returns the record of a sample that was reported earlier. */
static Taken *known (Record *r, const asamp_Known *s) {
  static Taken none;
  Taken *t;
  if (s->number < 1 || s->number > r->n) {
    r->wrong = "number of a sample";
    return &none;
  }
  t = &r->taken[s->number - 1];
  if (s->value != valueof(r, s->number)) r->wrong = "value of a sample";
  if (s->size != t->size || s->count != t->count) r->wrong = "size of a sample";
  if (t->died || t->left) r->wrong = "reported after the last callback";
  return t;
}

static void *allocated (void *ud, const asamp_Sample *s) {
  Record *r = enter(ud, "allocated");
  Taken *t;
  size_t i;
  if (s->number != r->n + 1) r->wrong = "numbers of samples";
  if (s->count < 1 || s->size == 0 || s->time == 0) r->wrong = "sample";
  if (s->shared > s->nframes || s->shared > r->nlast) r->wrong = "shared: too many";
  else for (i = 1; i <= s->shared; i++) {
    const asamp_Frame *a = &s->frames[s->nframes - i], *b = &r->last[r->nlast - i];
    if (a->function != b->function || a->line != b->line || a->address != b->address)
      r->wrong = "shared: not as before";
  }
  r->nlast = (s->nframes < FRAMES) ? s->nframes : FRAMES;
  memcpy(r->last, s->frames + (s->nframes - r->nlast), r->nlast * sizeof(*r->last));
  r->taken = grow(r->taken, r->n, &r->size, sizeof(*r->taken));
  t = &r->taken[r->n++];
  memset(t, 0, sizeof(*t));
  t->kind = (int)s->kind;
  t->size = s->size;
  t->count = s->count;
  for (i = 0; i < s->nframes && strlen(t->stack) < 300; i++) {
    char text[128];
    const asamp_Function *f = s->frames[i].function;
    if (i > 0) append(t->stack, sizeof(t->stack), " ");
    if (f != NULL) snprintf(text, sizeof(text), "%s:%d", f->name, s->frames[i].line);
    append(t->stack, sizeof(t->stack), f != NULL ? text : "native");
    if ((f == NULL) != (s->frames[i].address != NULL)) r->wrong = "frame";
  }
  return valueof(r, s->number);
}

static void decided (void *ud, const asamp_Known *s, const asamp_Fate *f) {
  Record *r = enter(ud, "decided");
  Taken *t = known(r, s);
  if (s->number != ++r->decided) r->wrong = "order of fates";
  if (t->fate != NONE) r->wrong = "a second fate";
  if (f->followed && !f->survived) r->wrong = "a dead one is followed";
  t->fate = f->survived ? TENURED : YOUNG;
  t->followed = f->followed;
  if (f->class_name != NULL) append(t->class, sizeof(t->class), f->class_name);
}

static void died (void *ud, const asamp_Known *s) {
  Record *r = enter(ud, "died");
  Taken *t = known(r, s);
  if (s->number <= r->lastdeath) r->wrong = "order of deaths";
  if (!t->followed) r->wrong = "death of a sample that is not followed";
  if (r->decided != r->n) r->wrong = "a death before a fate";
  r->lastdeath = s->number;
  t->died = 1;
}

static void held (void *ud, const asamp_Known *s, const asamp_Path *p) {
  Record *r = enter(ud, "held");
  Taken *t = known(r, s);
  size_t i;
  if (s->number <= r->lastheld) r->wrong = "order of held samples";
  if (!t->followed) r->wrong = "holder of a sample that is not followed";
  if ((p->number == 0) != (p->nsteps == 0)) r->wrong = "path";
  r->lastheld = s->number;
  t->holder[0] = '\0';
  for (i = 0; i < p->nsteps; i++) {
    if (i > 0) append(t->holder, sizeof(t->holder), " > ");
    append(t->holder, sizeof(t->holder), p->steps[i]);
  }
}

static void left (void *ud, const asamp_Known *s) {
  Record *r = enter(ud, "left");
  Taken *t = known(r, s);
  if (t->fate != NONE && !t->followed) r->wrong = "left, but not followed";
  t->left = 1;
}

static void collected (void *ud, const asamp_Collection *c) {
  Record *r = enter(ud, "collected");
  const asamp_Collection *before = r->collections + r->ncollections - 1;
  if (r->decided != r->n) r->wrong = "samples without a fate after a collection";
  if (c->phase < 0 || c->phase > 2 || (c->major != 0) != c->major) r->wrong = "collection";
  if (r->ncollections > 0 && c->time - c->duration < before->time) r->wrong = "pauses overlap";
  r->collections = grow(r->collections, r->ncollections, &r->collections_size,
                        sizeof(*r->collections));
  r->collections[r->ncollections++] = *c;
  r->lastdeath = 0;
}

/* }===================================================================== */


static Record *self (lua_State *L) {
  return &records[lua_tointeger(L, lua_upvalueindex(1))];
}

static const asamp_Api *api (lua_State *L) {
  const asamp_Api *a = asamp_api(L);
  if (a == NULL) luaL_error(L, "no profiler.core");
  return a;
}

static int result (lua_State *L, const char *error) {
  if (error == NULL) {
    lua_pushboolean(L, 1);
    return 1;
  }
  lua_pushnil(L);
  lua_pushstring(L, error);
  return 2;
}

/* Starts a client. The record is cleared before the first callback. */
static const char *start (Record *r, const asamp_Options *o, const asamp_Client *c) {
  const char *error = r->api->start(r->L, o, c);
  if (error == NULL) {
    free(r->taken);
    free(r->collections);
    r->taken = NULL;
    r->collections = NULL;
    r->size = r->collections_size = 0;
    r->n = r->ncollections = r->nlast = 0;
    r->decided = r->lastdeath = r->lastheld = 0;
    r->wrong = NULL;
  }
  return error;
}

static int l_start (lua_State *L) {
  asamp_Client c = {sizeof(c), NULL, allocated, decided, died, left, collected, held};
  asamp_Options o = {sizeof(o), 0, 0, 0, 0};
  Record *r = self(L);
  lua_settop(L, 5);
  o.period = (uint64_t)luaL_checkinteger(L, 1);
  o.fixed = lua_toboolean(L, 2);
  o.native = lua_toboolean(L, 3);
  o.seed = (uint64_t)luaL_optinteger(L, 4, 1);
  if (lua_toboolean(L, 5)) c.died = NULL;
  c.ud = r;
  r->api = api(L);
  r->L = L;
  return result(L, start(r, &o, &c));
}

static int l_sized (lua_State *L) {
  asamp_Client c = {sizeof(c), NULL, allocated, decided, died, left, collected, held};
  asamp_Options o = {sizeof(o), 64, 1, 0, 1};
  Record *r = self(L);
  c.ud = r;
  c.size = (size_t)luaL_optinteger(L, 1, sizeof(c));
  o.size = (size_t)luaL_optinteger(L, 2, sizeof(o));
  r->api = api(L);
  r->L = L;
  if (r->api->start(L, &o, NULL) == NULL || r->api->start(L, NULL, &c) == NULL)
    return luaL_error(L, "a client that is none was taken");
  return result(L, start(r, &o, &c));
}

static int l_sizes (lua_State *L) {
  lua_pushinteger(L, sizeof(asamp_Client));
  lua_pushinteger(L, offsetof(asamp_Client, died));
  lua_pushinteger(L, sizeof(asamp_Options));
  return 3;
}

static int l_stop (lua_State *L) {
  lua_pushboolean(L, api(L)->stop(L));
  return 1;
}

static int l_snapshot (lua_State *L) {
  char err[600];
  if (api(L)->snapshot(L, luaL_checkstring(L, 1), 1, err, sizeof(err))) {
    lua_pushboolean(L, 1);
    return 1;
  }
  lua_pushnil(L);
  lua_pushstring(L, err);
  return 2;
}

static int l_holders (lua_State *L) {
  self(L)->lastheld = 0;
  lua_pushinteger(L, (lua_Integer)api(L)->holders(L));
  return 1;
}

static int l_period (lua_State *L) {
  return result(L, api(L)->period(L, (uint64_t)luaL_checkinteger(L, 1)));
}

static void setinteger (lua_State *L, const char *key, uint64_t n) {
  lua_pushinteger(L, (lua_Integer)n);
  lua_setfield(L, -2, key);
}

static void setboolean (lua_State *L, const char *key, int b) {
  lua_pushboolean(L, b);
  lua_setfield(L, -2, key);
}

static int l_samples (lua_State *L) {
  const Record *r = self(L);
  /* reads r->n only once, because the loop allocates, which may add samples to the record */
  size_t i, all = r->n;
  const asamp_Api *a = api(L);
  lua_createtable(L, (int)all, 0);
  for (i = 0; i < all; i++) {
    const Taken copy = r->taken[i], *t = &copy;
    lua_createtable(L, 0, 9);
    lua_pushstring(L, a->kindname((asamp_Kind)t->kind));
    lua_setfield(L, -2, "kind");
    setinteger(L, "size", t->size);
    setinteger(L, "count", t->count);
    if (t->fate != NONE) setboolean(L, "survived", t->fate == TENURED);
    setboolean(L, "followed", t->followed);
    setboolean(L, "died", t->died);
    setboolean(L, "left", t->left);
    if (t->class[0] != '\0') {
      lua_pushstring(L, t->class);
      lua_setfield(L, -2, "class");
    }
    lua_pushstring(L, t->stack);
    lua_setfield(L, -2, "stack");
    lua_pushstring(L, t->holder);
    lua_setfield(L, -2, "holder");
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  return 1;
}

static int l_wrong (lua_State *L) {
  lua_pushstring(L, self(L)->wrong);
  return 1;
}

static int l_collections (lua_State *L) {
  const Record *r = self(L);
  size_t i, all = r->ncollections;
  lua_createtable(L, (int)all, 0);
  for (i = 0; i < all; i++) {
    const asamp_Collection c = r->collections[i];
    lua_createtable(L, 0, 10);
    setboolean(L, "major", c.major);
    setinteger(L, "minors", c.minors);
    setinteger(L, "majors", c.majors);
    setinteger(L, "duration", c.duration);
    setinteger(L, "inuse", c.inuse);
    setinteger(L, "held", c.held);
    setinteger(L, "rss", c.rss);
    setinteger(L, "tenured", c.tenured);
    setinteger(L, "phase", (uint64_t)c.phase);
    setinteger(L, "lost", c.lost);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  return 1;
}

static int l_misuse (lua_State *L) {
  Record *r = self(L);
  r->misused = lua_toboolean(L, 1);
  lua_pushinteger(L, r->refused);
  lua_pushinteger(L, r->obeyed);
  r->refused = r->obeyed = 0;
  return 2;
}

static int l_callapi (lua_State *L) {
  static const char *const names[] = {"allocated", "decided", "died", "left",
    "collected", "none", NULL};
  static const char *const setters[] = {"", "limits", "counts", NULL};
  self(L)->callapi = names[luaL_checkoption(L, 1, NULL, names)];
  self(L)->setter = setters[luaL_checkoption(L, 2, "", setters)];
  return 0;
}

static int l_symbol (lua_State *L) {
  char name[64], file[256];
  api(L)->symbol((const char *)(uintptr_t)l_symbol + 1, name, sizeof(name), file,
                 sizeof(file));
  lua_pushstring(L, name);
  lua_pushstring(L, file);
  return 2;
}

static int l_label (lua_State *L) {
  const asamp_Api *api = asamp_api(L);
  const char *wrong = api->label(lua_tothread(L, 1), luaL_checkstring(L, 2), luaL_optstring(L, 3, NULL));
  lua_pushstring(L, wrong);
  return 1;
}


static int l_count (lua_State *L) {
  const asamp_Api *api = asamp_api(L);
  asamp_Counts before = {.size = sizeof(before)}, after = before, wrong = {.size = 1};
  uint64_t alive;
  if (api == NULL || api->count(L, &wrong)) return luaL_error(L, "no counts");
  alive = api->alive(L);
  if (api->count_start(L) != NULL || !api->count(L, &before)) return luaL_error(L, "no counts");
  lua_pushvalue(L, 1);
  lua_call(L, 0, 0);
  api->count(L, &after);
  if (api->count_stop(L) != NULL || api->count_stop(L) == NULL) return luaL_error(L, "count_stop");
  lua_pushinteger(L, (lua_Integer)(after.bytes - before.bytes));
  lua_pushinteger(L, (lua_Integer)(after.blocks - before.blocks));
  lua_pushinteger(L, (lua_Integer)(after.kindbytes[ASAMP_TABLE] - before.kindbytes[ASAMP_TABLE]));
  lua_pushinteger(L, (lua_Integer)(api->alive(L) - alive));
  return 4;
}


static const luaL_Reg functions[] = {
  {"count", l_count},
  {"start", l_start}, {"sized", l_sized}, {"sizes", l_sizes}, {"stop", l_stop},
  {"period", l_period}, {"samples", l_samples}, {"wrong", l_wrong},
  {"collections", l_collections}, {"misuse", l_misuse}, {"callapi", l_callapi},
  {"symbol", l_symbol}, {"label", l_label}, {"holders", l_holders}, {"snapshot", l_snapshot},
  {NULL, NULL}
};

/* Registers the module's functions again, with record n as their upvalue. */
static int l_use (lua_State *L) {
  lua_Integer n = luaL_checkinteger(L, 1);
  luaL_argcheck(L, n >= 1 && n <= RECORDS, 1, "no such record");
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_pushinteger(L, n - 1);
  luaL_setfuncs(L, functions, 1);
  return 0;
}

/* Called when a state that has loaded this module is closed. Frees the records when the last
 * such state is closed. */
static int l_gc (lua_State *L) {
  int i;
  (void)L;
  if (__atomic_sub_fetch(&states, 1, __ATOMIC_RELAXED) > 0) return 0;
  for (i = 0; i < RECORDS; i++) {
    free(records[i].taken);
    free(records[i].collections);
  }
  memset(records, 0, sizeof(records));
  return 0;
}

int luaopen_embedding (lua_State *L);

int luaopen_embedding (lua_State *L) {
  luaL_newlibtable(L, functions);
  lua_pushinteger(L, 0);
  luaL_setfuncs(L, functions, 1);
  lua_pushvalue(L, -1);
  lua_pushcclosure(L, l_use, 1);
  lua_setfield(L, -2, "use");
  lua_newuserdatauv(L, 1, 0);
  lua_createtable(L, 0, 1);
  lua_pushcfunction(L, l_gc);
  lua_setfield(L, -2, "__gc");
  lua_setmetatable(L, -2);
  lua_setfield(L, -2, "freed");
  __atomic_add_fetch(&states, 1, __ATOMIC_RELAXED);
  return 1;
}
