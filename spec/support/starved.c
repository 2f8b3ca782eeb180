/* SPDX-License-Identifier: MIT */
/*
** starved: a Lua module with asamp/module/embed.c, the interface for embedded clients, in which
** memory requests fail when a spec wants it. The spec simulates the tracker, which would report
** samples. The module uses no other part of the sampler, and supports one client at a time.
**
**   start(follows)          starts a client with all callbacks; 'died' only if follows is true
**   room() -> true if there is memory for a sample
**   sample(shared, {ids...}) -> shared, {ids...}: reports a sample as the tracker does (innermost
**     frame first), and returns the data that the client receives. Only if room() is true
**   collection({fates...}, {runs...}) -> the data that the client receives: words for each survival
**     outcome ("decided NUMBER young"; "survived", "followed") and each death ("died NUMBER"),
**     "collected" at the end
**   starve("stacks" or "all" or nil)  the requests for stacks, all memory requests of embed.c, or
**     none fail
**   stop() -> "left NUMBER left NUMBER ...": the samples that were alive at the end
*/
#include "embed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lauxlib.h>

#include "native.h"
#include "sampler.h"
#include "snapshot.h"
#include "tracker.h"

static Tracker played;
/* The argument of starve(), which selects the requests that fail; NULL: none fails. */
static const char *starving;
static uint64_t number;		/* number of the last sample that was reported */
static lua_State *received;  /* Lua state on whose stack the callback puts the data of a sample */
static luaL_Buffer *text;	/* buffer to which the other callbacks append words */


/* {== functions that embed.c is linked with ====================================== */

void *__real_malloc (size_t n);
void *__wrap_malloc (size_t n);

void *__wrap_malloc (size_t n) {
  return (starving != NULL) ? NULL : __real_malloc(n);
}

void *__real_realloc (void *p, size_t n);
void *__wrap_realloc (void *p, size_t n);

void *__wrap_realloc (void *p, size_t n) {
  return (starving != NULL && *starving == 'a') ? NULL : __real_realloc(p, n);
}

Sampler *sampler_of (lua_State *L) {
  (void)L;
  return (Sampler *)&played;
}

Sampler *sampler_tostart (lua_State *L) {
  return sampler_of(L);
}

Tracker *sampler_tracker (Sampler *s) {
  return (Tracker *)s;
}

uint64_t sampler_seed (void) {
  return 1;
}

void tracker_start (Tracker *t, const TrackerClient *client, void *ud,
                    uint64_t period, int native) {
  (void)period; (void)native;
  t->client = client;
  t->ud = ud;
}

void tracker_on (Tracker *t, lua_State *L, uint64_t period, int random,
                 uint64_t seed) {
  (void)t; (void)L; (void)period; (void)random; (void)seed;
}

void tracker_end (Tracker *t, lua_State *L) {
  (void)L;
  t->client = NULL;
}

int snapshot_take (lua_State *L, const SnapshotWish *wish, Snapshot *s, char *err,
                   size_t size) {
  (void)L; (void)wish; (void)s; (void)err; (void)size;
  return 0;
}

void snapshot_check (void) { }

size_t trackholders_now (Tracker *t, lua_State *L) {
  (void)t; (void)L;
  return 0;
}

void tracker_period (Tracker *t, lua_State *L, uint64_t period) {
  (void)t; (void)L; (void)period;
}

uint64_t native_id (const void *address) {
  return (uint64_t)(uintptr_t)address;
}

void native_name (void *ud, uint64_t id, char *symbol, size_t symbolsize,
                  char *file, size_t filesize) {
  (void)ud; (void)id; (void)symbolsize; (void)filesize;
  *symbol = *file = '\0';
}

const char *profile_kindname (int kind) {
  (void)kind;
  return "";
}

/* }===================================================================== */


/*
** Added to the addresses of frames, because low addresses are ids of frames without code
** (frameids.h).
*/
#define CODE	0x10000u


/* Returns the value that the client attaches to sample number n. */
static void *valueof (uint64_t n) {
  return (void *)(uintptr_t)(n * 8);
}


/*
** Appends the name of a callback and the number of its sample. Appends "as another", too, if the
** data of the sample differ from those of its first callback.
*/
static void append (const char *what, const asamp_Known *s) {
  char words[80];
  int right = (s->value == valueof(s->number) && s->size == s->number + 1 &&
               s->count == s->number + 2);
  snprintf(words, sizeof(words), " %s %llu%s", what, (unsigned long long)s->number,
           right ? "" : " as another");
  luaL_addstring(text, words);
}


static void decided (void *ud, const asamp_Known *s, const asamp_Fate *f) {
  (void)ud;
  append("decided", s);
  luaL_addstring(text, f->followed ? " followed" : f->survived ? " survived" : " young");
}


static void died (void *ud, const asamp_Known *s) {
  (void)ud;
  append("died", s);
}


static void left (void *ud, const asamp_Known *s) {
  (void)ud;
  append("left", s);
}


static void collected (void *ud, const asamp_Collection *c) {
  (void)ud; (void)c;
  luaL_addstring(text, " collected");
}


static void *allocated (void *ud, const asamp_Sample *s) {
  size_t i;
  (void)ud;
  lua_pushinteger(received, (lua_Integer)s->shared);
  lua_createtable(received, (int)s->nframes, 0);
  for (i = 0; i < s->nframes; i++) {
    lua_pushinteger(received, (lua_Integer)((uintptr_t)s->frames[i].address - CODE));
    lua_rawseti(received, -2, (lua_Integer)i + 1);
  }
  return valueof(s->number);
}


static int l_start (lua_State *L) {
  asamp_Client client = {sizeof(client), NULL, allocated, decided, died, left,
                         collected, NULL};
  asamp_Options o = {sizeof(o), 4096, 0, 1, 1};
  const char *error;
  if (!lua_toboolean(L, 1)) client.died = NULL;
  number = 0;
  error = embed_api.start(L, &o, &client);
  return (error != NULL) ? luaL_error(L, "%s", error) : 0;
}


static int l_room (lua_State *L) {
  lua_pushboolean(L, played.client->room(played.ud, 1));
  return 1;
}


static int l_sample (lua_State *L) {
  size_t shared = (size_t)luaL_checkinteger(L, 1);
  size_t n = lua_rawlen(L, 2), i;
  ProfileFrame *frames = lua_newuserdatauv(L, (n + 1) * sizeof(*frames), 0);
  ProfileSample s;
  memset(&s, 0, sizeof(s));
  s.size = ++number + 1;
  s.count = number + 2;
  for (i = 0; i < n; i++) {
    lua_rawgeti(L, 2, (lua_Integer)i + 1);
    frames[i].id = (CODE + (uint64_t)lua_tointeger(L, -1)) | 1;  /* native */
    frames[i].line = 0;
    lua_pop(L, 1);
  }
  received = L;
  played.client->sample(played.ud, &s, shared, frames, n);
  return 2;
}


/*
** Returns the integers of the list at stack index i, in memory that the Lua state owns, and their
** number in '*n'.
*/
static lua_Integer *numbers (lua_State *L, int i, size_t *n) {
  lua_Integer *list;
  size_t k;
  *n = lua_rawlen(L, i);
  list = lua_newuserdatauv(L, (*n + 1) * sizeof(*list), 0);
  for (k = 0; k < *n; k++) {
    lua_rawgeti(L, i, (lua_Integer)k + 1);
    list[k] = lua_tointeger(L, -1);
    lua_pop(L, 1);
  }
  return list;
}


static int l_collection (lua_State *L) {
  ProfileCollection c;
  PendingFates f;
  FollowedDeaths d;
  luaL_Buffer b;
  size_t i;
  lua_Integer *fates = numbers(L, 1, &f.n), *runs = numbers(L, 2, &d.n);
  unsigned char *survived = lua_newuserdatauv(L, f.n + 1, 0);
  uint32_t *deaths = lua_newuserdatauv(L, (d.n + 1) * sizeof(*deaths), 0);
  for (i = 0; i < f.n; i++) survived[i] = (unsigned char)fates[i];
  for (i = 0; i < d.n; i++) deaths[i] = (uint32_t)runs[i];
  memset(&c, 0, sizeof(c));
  f.survived = survived;
  f.classes = NULL;
  f.samples = NULL;
  d.runs = deaths;
  luaL_buffinit(L, &b);
  text = &b;
  played.client->collection(played.ud, &c, &f, &d);
  luaL_pushresult(&b);
  return 1;
}


static int l_starve (lua_State *L) {
  static const char *const what[] = {"stacks", "all", NULL};
  starving = lua_isnoneornil(L, 1) ? NULL : what[luaL_checkoption(L, 1, NULL, what)];
  return 0;
}


static int l_stop (lua_State *L) {
  luaL_Buffer b;
  luaL_buffinit(L, &b);
  text = &b;
  embed_api.stop(L);
  luaL_pushresult(&b);
  return 1;
}


int luaopen_starved (lua_State *L);

int luaopen_starved (lua_State *L) {
  static const luaL_Reg functions[] = {
    {"start", l_start}, {"room", l_room}, {"sample", l_sample},
    {"collection", l_collection}, {"starve", l_starve}, {"stop", l_stop},
    {NULL, NULL}
  };
  luaL_newlib(L, functions);
  return 1;
}
