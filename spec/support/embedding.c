/* SPDX-License-Identifier: MIT */
/*
** embedding: a client of asamp.h for specs, which keeps what it is told and
** checks the promises that need no model.
**
**   start(period, fixed, native, seed) -> true | nil, message
**   stop() -> was there a client?
**   period(n) -> true | nil, message
**   samples() -> {{kind=, size=, count=, survived= (nil: no fate), class=,
**     stack= "name:line native name:line ..."} ...}, of the last client
**   wrong() -> the first promise that was not kept, or nil
**   collections() -> number, number of major ones
**   misuse(true): callbacks call what they must not; misuse() -> how often that
**     was refused, how often not
**   symbol() -> name and file of a native function of this module
*/
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <asamp.h>
#include <lauxlib.h>

typedef struct Taken {
  int kind, fate;	/* -1: none yet */
  uint64_t size, count;
  char class[64], stack[400];
} Taken;

static Taken *taken;
static size_t n, size;
static uint64_t decided_, collections, majors;
static asamp_Frame last[8192];
static size_t nlast;
static const char *wrong;
static int states;

static lua_State *misused;	/* the client's state, where callbacks misuse it */
static const asamp_Api *misusedapi;
static long refused, obeyed;

/* What a callback must not call. */
static void trywrong (void) {
  const asamp_Client other = {NULL, NULL, NULL, NULL};
  asamp_Options o = {4096, 0, 1, 0};
  const asamp_Api *a = misusedapi;
  lua_State *L = misused;
  if (L == NULL) return;
  if (a->start(L, &o, &other) != NULL) refused++; else obeyed++;
  if (a->period(L, 4096) != NULL) refused++; else obeyed++;
  if (!a->stop(L)) refused++; else obeyed++;
}

static void append (char *to, size_t max, const char *text) {
  strncat(to, text, max - strlen(to) - 1);
}

static void allocated (void *ud, const asamp_Sample *s) {
  Taken *t;
  size_t i;
  trywrong();
  if (ud != &taken) wrong = "ud";
  if (s->number != n + 1) wrong = "numbers of samples";
  if (s->count < 1 || s->size == 0 || s->time == 0) wrong = "sample";
  if (s->kept > s->nframes || s->kept > nlast) wrong = "kept: too many";
  else for (i = 1; i <= s->kept; i++) {
    const asamp_Frame *a = &s->frames[s->nframes - i], *b = &last[nlast - i];
    if (a->function != b->function || a->line != b->line || a->address != b->address)
      wrong = "kept: not as before";
  }
  nlast = (s->nframes < 8192) ? s->nframes : 8192;
  memcpy(last, s->frames + (s->nframes - nlast), nlast * sizeof(*last));
  if (n == size) {
    size = 2 * size + 64;
    taken = realloc(taken, size * sizeof(*taken));
    if (taken == NULL) abort();
  }
  t = &taken[n++];
  memset(t, 0, sizeof(*t));
  t->kind = (int)s->kind;
  t->fate = -1;
  t->size = s->size;
  t->count = s->count;
  for (i = 0; i < s->nframes && strlen(t->stack) < 300; i++) {
    char text[128];
    const asamp_Function *f = s->frames[i].function;
    if (i > 0) append(t->stack, sizeof(t->stack), " ");
    if (f != NULL) snprintf(text, sizeof(text), "%s:%d", f->name, s->frames[i].line);
    append(t->stack, sizeof(t->stack), f != NULL ? text : "native");
    if ((f == NULL) != (s->frames[i].address != NULL)) wrong = "frame";
  }
}

static void decided (void *ud, const asamp_Fate *f) {
  trywrong();
  if (ud != &taken) wrong = "ud";
  if (f->number != ++decided_ || f->number > n) wrong = "order of fates";
  else if (taken[f->number - 1].fate != -1) wrong = "a second fate";
  else {
    taken[f->number - 1].fate = f->survived;
    if (f->class_name != NULL)
      append(taken[f->number - 1].class, 64, f->class_name);
  }
}

static void collected (void *ud, const asamp_Collection *c) {
  static uint64_t end;
  trywrong();
  if (ud != &taken) wrong = "ud";
  if (decided_ != n) wrong = "samples without a fate after a collection";
  if (c->time < end || c->phase < 0 || c->phase > 2) wrong = "collection";
  end = c->time;
  collections++;
  majors += (uint64_t)c->major;
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

static int l_start (lua_State *L) {
  const asamp_Client client = {&taken, allocated, decided, collected};
  asamp_Options o;
  const char *error;
  o.period = (uint64_t)luaL_checkinteger(L, 1);
  o.fixed = lua_toboolean(L, 2);
  o.native = lua_toboolean(L, 3);
  o.seed = (uint64_t)luaL_optinteger(L, 4, 1);
  lua_settop(L, 4);
  error = api(L)->start(L, &o, NULL);
  if (error == NULL) return luaL_error(L, "a client that is none was taken");
  {
    uint64_t before = n;
    size_t stay = nlast;
    n = decided_ = collections = majors = nlast = 0;
    wrong = NULL;
    error = api(L)->start(L, &o, &client);
    if (error != NULL) { n = decided_ = before; nlast = stay; }
  }
  return result(L, error);
}

static int l_stop (lua_State *L) {
  lua_pushboolean(L, api(L)->stop(L));
  return 1;
}

static int l_period (lua_State *L) {
  return result(L, api(L)->period(L, (uint64_t)luaL_checkinteger(L, 1)));
}

static int l_samples (lua_State *L) {
  size_t i, all = n;  /* more may come while this is done */
  const asamp_Api *a = api(L);
  lua_createtable(L, (int)all, 0);
  for (i = 0; i < all; i++) {
    const Taken copy = taken[i], *t = &copy;
    lua_createtable(L, 0, 6);
    lua_pushstring(L, a->kindname((asamp_Kind)t->kind));
    lua_setfield(L, -2, "kind");
    lua_pushinteger(L, (lua_Integer)t->size);
    lua_setfield(L, -2, "size");
    lua_pushinteger(L, (lua_Integer)t->count);
    lua_setfield(L, -2, "count");
    if (t->fate >= 0) {
      lua_pushboolean(L, t->fate);
      lua_setfield(L, -2, "survived");
    }
    if (t->class[0] != '\0') {
      lua_pushstring(L, t->class);
      lua_setfield(L, -2, "class");
    }
    lua_pushstring(L, t->stack);
    lua_setfield(L, -2, "stack");
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  return 1;
}

static int l_wrong (lua_State *L) {
  lua_pushstring(L, wrong);
  return 1;
}

static int l_collections (lua_State *L) {
  lua_pushinteger(L, (lua_Integer)collections);
  lua_pushinteger(L, (lua_Integer)majors);
  return 2;
}

static int l_misuse (lua_State *L) {
  misused = NULL;
  lua_pushinteger(L, refused);
  lua_pushinteger(L, obeyed);
  refused = obeyed = 0;
  misusedapi = api(L);
  if (lua_toboolean(L, 1)) misused = L;
  return 2;
}

static int l_symbol (lua_State *L) {
  char name[64], file[256];
  api(L)->symbol((const char *)(uintptr_t)l_symbol + 1, name, sizeof(name), file,
                 sizeof(file));
  lua_pushstring(L, name);
  lua_pushstring(L, file);
  return 2;
}

/* Of the last state that has the module. */
static int l_gc (lua_State *L) {
  (void)L;
  if (--states == 0) {
    free(taken);
    taken = NULL;
    n = size = 0;
  }
  return 0;
}

int luaopen_embedding (lua_State *L);

int luaopen_embedding (lua_State *L) {
  static const luaL_Reg functions[] = {
    {"start", l_start}, {"stop", l_stop}, {"period", l_period},
    {"samples", l_samples}, {"wrong", l_wrong},
    {"collections", l_collections}, {"misuse", l_misuse}, {"symbol", l_symbol}, {NULL, NULL}
  };
  luaL_newlib(L, functions);
  lua_newuserdatauv(L, 1, 0);
  lua_createtable(L, 0, 1);
  lua_pushcfunction(L, l_gc);
  lua_setfield(L, -2, "__gc");
  lua_setmetatable(L, -2);
  lua_setfield(L, -2, "freed");
  states++;
  return 1;
}
