/* SPDX-License-Identifier: MIT */
/*
** starved: asamp/embed.c over a tracker that the spec plays, in a process that
** has no memory for stacks when the spec says so. Knows no other part of the
** sampler; one client at a time.
**
**   start()                 a client, which is told every sample
**   sample(kept, {ids...}) -> kept, {ids...}: what the tracker tells (innermost
**     first), and what the client is told of it
**   starve(on)              embed.c's requests for memory fail from here on
**   stop()
*/
#include "../../asamp/embed.h"

#include <stdlib.h>
#include <string.h>

#include <lauxlib.h>

#include "../../asamp/native.h"
#include "../../asamp/sampler.h"
#include "../../asamp/tracker.h"

static Tracker played;
static int starving;
static lua_State *told;		/* where the client's table goes */


/* {== what embed.c is linked with ====================================== */

void *__real_malloc (size_t n);
void *__wrap_malloc (size_t n);

void *__wrap_malloc (size_t n) {
  return starving ? NULL : __real_malloc(n);
}

Sampler *sampler_of (lua_State *L) {
  (void)L;
  return (Sampler *)&played;
}

Tracker *sampler_tracker (Sampler *s) {
  return (Tracker *)s;
}

uint64_t sampler_seed (void) {
  return 1;
}

void tracker_begin (Tracker *t, const TrackerClient *client, void *ud,
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

void tracker_period (Tracker *t, lua_State *L, uint64_t period) {
  (void)t; (void)L; (void)period;
}

void native_name (void *ud, uint64_t address, char *symbol, size_t symbolsize,
                  char *file, size_t filesize) {
  (void)ud; (void)address; (void)symbolsize; (void)filesize;
  *symbol = *file = '\0';
}

const char *profile_kindname (int kind) {
  (void)kind;
  return "";
}

/* }===================================================================== */


static void allocated (void *ud, const asamp_Sample *s) {
  size_t i;
  (void)ud;
  lua_pushinteger(told, (lua_Integer)s->kept);
  lua_createtable(told, (int)s->nframes, 0);
  for (i = 0; i < s->nframes; i++) {
    lua_pushinteger(told, (lua_Integer)(uintptr_t)s->frames[i].address);
    lua_rawseti(told, -2, (lua_Integer)i + 1);
  }
}


static int l_start (lua_State *L) {
  static const asamp_Client client = {NULL, allocated, NULL, NULL};
  static const asamp_Options o = {4096, 0, 1, 1};
  const char *error = embed_api.start(L, &o, &client);
  return (error != NULL) ? luaL_error(L, "%s", error) : 0;
}


static int l_sample (lua_State *L) {
  size_t kept = (size_t)luaL_checkinteger(L, 1);
  size_t n = lua_rawlen(L, 2), i;
  ProfileFrame *frames = lua_newuserdatauv(L, (n + 1) * sizeof(*frames), 0);
  ProfileSample s;
  memset(&s, 0, sizeof(s));
  s.count = 1;
  for (i = 0; i < n; i++) {
    lua_rawgeti(L, 2, (lua_Integer)i + 1);
    frames[i].id = (uint64_t)lua_tointeger(L, -1) | 1;  /* native */
    frames[i].line = 0;
    lua_pop(L, 1);
  }
  told = L;
  played.client->sample(played.ud, &s, kept, frames, n);
  return 2;
}


static int l_starve (lua_State *L) {
  starving = lua_toboolean(L, 1);
  return 0;
}


static int l_stop (lua_State *L) {
  embed_api.stop(L);
  return 0;
}


int luaopen_starved (lua_State *L);

int luaopen_starved (lua_State *L) {
  static const luaL_Reg functions[] = {
    {"start", l_start}, {"sample", l_sample}, {"starve", l_starve},
    {"stop", l_stop}, {NULL, NULL}
  };
  luaL_newlib(L, functions);
  return 1;
}
