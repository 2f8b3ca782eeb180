/* SPDX-License-Identifier: MIT */
/*
** profilegen: a Lua module with the functions that write profiles (asamp/session/profile.h), for specs
** that write files with errors or large numbers of events, without a sampler.
**
**   open{path=, followed=, format=6|7, plain=, period=, random=, native=, command=,
**        timeperiod= (ns), wall=, resolve="plain"|"hostile", number=, made=, copies=,
**        replace= (a value of place.h; default PLACE_ALL)}
**                                         -> profile p | nil, message, errno
**   p:name(id, name, line, source)        a function and its id
**   p:sample{id, line, id, line, ...; kind=, size=, count=, time=, thread=,
**            outside=, shared=}           an allocation sample; frames innermost first.
**                                         The kinds 25 to 27 are copies, and need copies=true
**                                         of 'open'
**   p:time{id, line, ...; count=, time=, thread=, shared=}
**   p:start(id), p:of(id), p:called(name),
**   p:leave(bytes [, lost [, orphans]]), p:orphans(ns, {alive, dead, ...})
**                                         for files of many states: states=true of 'open'
**   p:flood(n, {...})                     the same sample n times
**   p:collection{time=, inuse=, held=, rss=, major=, minors=, majors=,
**                duration=, tenured=, state=, fates="0110",
**                classes={id, ...}, deaths={alive, dead, ...}}
**   p:class(id, name)                     p:mark(name, value [, time])
**   p:holderpath(id, parent, step)        p:holders({id, ...})  of the followed samples
**   p:walk(start, ns)
**   p:period(n)                           p:timeperiod(ns [, wall])
**   p:allocated(n)                        p:path() -> path of the file
**   p:elsewhere() -> the reason why this path differs from the one given to 'open'
**   p:totals() -> table                   p:close() -> ok, totals
**   p:finish()                            ends the file; p stays valid
**   p:forked()      -> the exit status of a child that abandons the profile
**   kinds                                 the names of all kinds
**   now() (ns), sleep(s), kill() (SIGKILL to itself)
**   filelimit(bytes)                      further writes fail with EFBIG
**   starve(n)                             n more allocations by the code under
**                                         test succeed; negative: all of them
**
** The collector closes a profile that was not closed.
*/
#define _GNU_SOURCE
#include "profile.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <lua.h>
#include <lauxlib.h>

#include "wrapped.h"

#define TYPENAME	"profilegen"

static uint64_t now (void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* number of memory requests that succeed before all others fail; negative: all succeed */
static long plenty = -1;

static int starving (void) {
  long n = __atomic_load_n(&plenty, __ATOMIC_RELAXED);
  if (n > 0)
    __atomic_sub_fetch(&plenty, 1, __ATOMIC_RELAXED);
  return n == 0;
}

static int g_starve (lua_State *L) {
  __atomic_store_n(&plenty, (long)luaL_checkinteger(L, 1), __ATOMIC_RELAXED);
  return 0;
}

/* The userdata of a profile is a ProfileState. Its first field is a pointer to the Profile. */
static ProfileState *state (lua_State *L);

static Profile *profile (lua_State *L) {
  Profile *p = *(Profile **)luaL_checkudata(L, 1, TYPENAME);
  luaL_argcheck(L, p != NULL, 1, "profile is closed");
  return p;
}

static ProfileState *state (lua_State *L) {
  (void)profile(L);
  return lua_touserdata(L, 1);
}

/* Returns an integer field of the table at index t, or 'other' if the field is absent. */
static lua_Integer number (lua_State *L, int t, const char *key,
                           lua_Integer other) {
  lua_Integer n;
  lua_getfield(L, t, key);
  n = luaL_optinteger(L, -1, other);
  lua_pop(L, 1);
  return n;
}

static int boolean (lua_State *L, int t, const char *key) {
  int b;
  lua_getfield(L, t, key);
  b = lua_toboolean(L, -1);
  lua_pop(L, 1);
  return b;
}

static void plainname (void *ud, uint64_t address, char *symbol,
                       size_t symbolsize, char *file, size_t filesize) {
  (void)ud;
  snprintf(symbol, symbolsize, "sym_%llx", (unsigned long long)address);
  snprintf(file, filesize, "/lib/libgen.so");
}

static void hostilename (void *ud, uint64_t address, char *symbol,
                         size_t symbolsize, char *file, size_t filesize) {
  (void)ud;
  (void)address;
  snprintf(symbol, symbolsize, "std::vector<\xff>\n");
  snprintf(file, filesize, "/lib/a:b\xc3.so");
}

static int g_open (lua_State *L) {
  ProfileConfig c;
  char err[512];
  Profile **p;
  const char *resolve;
  memset(&c, 0, sizeof(c));
  luaL_checktype(L, 1, LUA_TTABLE);
  lua_settop(L, 1);
  lua_getfield(L, 1, "path");
  c.path = luaL_checkstring(L, -1);
  c.number = (unsigned)number(L, 1, "number", 1);
  c.made = boolean(L, 1, "made");
  c.replace = (int)number(L, 1, "replace", 2);
  lua_getfield(L, 1, "command");
  c.log.command = luaL_optstring(L, -1, NULL);
  lua_getfield(L, 1, "resolve");
  resolve = luaL_optstring(L, -1, "");
  c.log.format = (int)number(L, 1, "format", PROFILE_STOCK);
  c.compress = !boolean(L, 1, "plain");
  c.log.period = (uint64_t)number(L, 1, "period", 1024);
  c.log.followed = (uint64_t)number(L, 1, "followed", 0);
  c.log.random = boolean(L, 1, "random");
  c.log.timeperiod = (uint64_t)number(L, 1, "timeperiod", 0);
  c.log.wall = boolean(L, 1, "wall");
  c.log.native = boolean(L, 1, "native");
  c.log.states = boolean(L, 1, "states");
  c.log.copies = boolean(L, 1, "copies");
  c.log.resolve = strcmp(resolve, "plain") == 0 ? plainname
            : strcmp(resolve, "hostile") == 0 ? hostilename : NULL;
  p = lua_newuserdatauv(L, sizeof(ProfileState), 0);
  memset(p, 0, sizeof(ProfileState));
  luaL_setmetatable(L, TYPENAME);
  *p = profile_open(&c, err, sizeof(err));
  if (*p == NULL) {
    int error = errno;
    lua_pushnil(L);
    lua_pushstring(L, err);
    lua_pushinteger(L, error);
    return 3;
  }
  return 1;
}

static int g_name (lua_State *L) {
  profile_function(state(L), (uint64_t)luaL_checkinteger(L, 2),
                   luaL_checkstring(L, 3), (int)luaL_checkinteger(L, 4),
                   luaL_checkstring(L, 5));
  return 0;
}

/*
** Converts the table at index t, {id, line, id, line, ...}, to a vector of frames, which is a new
** userdata on the stack. Stores their number in *depth.
*/
static ProfileFrame *frames (lua_State *L, int t, size_t *depth) {
  ProfileFrame *f;
  size_t i;
  *depth = lua_rawlen(L, t) / 2;
  f = lua_newuserdatauv(L, (*depth + 1) * sizeof(*f), 0);
  memset(f, 0, (*depth + 1) * sizeof(*f));
  for (i = 0; i < *depth; i++) {
    lua_rawgeti(L, t, (lua_Integer)(2 * i + 1));
    lua_rawgeti(L, t, (lua_Integer)(2 * i + 2));
    f[i].id = (uint64_t)luaL_checkinteger(L, -2);
    f[i].line = (uint32_t)luaL_checkinteger(L, -1);
    lua_pop(L, 2);
  }
  return f;
}

/* Adds n times the sample that the table at index t describes (see p:sample). */
static void take (lua_State *L, int t, lua_Integer n) {
  size_t depth, shared = (size_t)number(L, t, "shared", 0);
  ProfileFrame *f = frames(L, t, &depth);
  ProfileSample s;
  memset(&s, 0, sizeof(s));
  s.size = (uint64_t)number(L, t, "size", 56);
  s.count = (uint64_t)number(L, t, "count", 1);
  s.thread = (uint64_t)number(L, t, "thread", state(L)->id);
  s.kind = (int)number(L, t, "kind", KIND_TABLE);
  s.outside = boolean(L, t, "outside");
  luaL_argcheck(L, s.count >= 1 && s.kind >= 0 &&
                (s.kind < KIND_COUNT || profile_iscopy(s.kind)), t, "bad count or kind");
  while (n-- > 0) {
    s.time = (uint64_t)number(L, t, "time", (lua_Integer)now());
    profile_sample(state(L), &s, shared, f, depth);
  }
}

static int g_time (lua_State *L) {
  size_t depth;
  ProfileFrame *f;
  ProfileTime s;
  luaL_checktype(L, 2, LUA_TTABLE);
  f = frames(L, 2, &depth);
  memset(&s, 0, sizeof(s));
  s.time = (uint64_t)number(L, 2, "time", (lua_Integer)now());
  s.count = (uint64_t)number(L, 2, "count", 1);
  s.thread = (uint64_t)number(L, 2, "thread", state(L)->id);
  luaL_argcheck(L, s.count >= 1, 2, "bad count");
  profile_time(state(L), &s, (size_t)number(L, 2, "shared", 0), f, depth);
  return 0;
}

/* p:of(id), for files of many states: all following events belong to the state 'id'. */
static int g_of (lua_State *L) {
  state(L)->id = (uint32_t)luaL_checkinteger(L, 2);
  state(L)->depth = PROFILE_NEWFRAMES;
  return 0;
}

static int g_start (lua_State *L) {
  g_of(L);
  profile_start(state(L));
  return 0;
}

static int g_called (lua_State *L) {
  profile_called(state(L), luaL_checkstring(L, 2));
  return 0;
}

static int g_leave (lua_State *L) {
  ProfileLeft left;
  memset(&left, 0, sizeof(left));
  profile_leave(state(L), (uint64_t)luaL_checkinteger(L, 2), &left,
                (uint64_t)luaL_optinteger(L, 3, 0), (uint64_t)luaL_optinteger(L, 4, 0));
  return 0;
}

/*
** p:orphans(ns, runs): writes a record about native memory that a closed state had allocated.
** 'runs' has run lengths: how many samples in a row are alive, then how many are dead, and so on.
*/
static int g_orphans (lua_State *L) {
  uint32_t runs[64];
  size_t i, n = lua_rawlen(L, 3);
  if (n > 64) return luaL_error(L, "too many runs");
  for (i = 0; i < n; i++) {
    lua_rawgeti(L, 3, (lua_Integer)i + 1);
    runs[i] = (uint32_t)luaL_checkinteger(L, -1);
    lua_pop(L, 1);
  }
  profile_orphans(state(L), (uint64_t)luaL_checkinteger(L, 2), runs, n);
  return 0;
}

static int g_sample (lua_State *L) {
  luaL_checktype(L, 2, LUA_TTABLE);
  take(L, 2, 1);
  return 0;
}

static int g_flood (lua_State *L) {
  luaL_checktype(L, 3, LUA_TTABLE);
  take(L, 3, luaL_checkinteger(L, 2));
  return 0;
}

static int g_collection (lua_State *L) {
  ProfileCollection c;
  const char *text;
  unsigned char *fates;
  uint32_t *classes = NULL, *deaths = NULL;
  size_t n, i, ndeaths = 0;
  luaL_checktype(L, 2, LUA_TTABLE);
  memset(&c, 0, sizeof(c));
  c.time = (uint64_t)number(L, 2, "time", (lua_Integer)now());
  c.inuse = (uint64_t)number(L, 2, "inuse", 0);
  c.held = (uint64_t)number(L, 2, "held", 0);
  c.rss = (uint64_t)number(L, 2, "rss", 0);
  c.major = boolean(L, 2, "major");
  c.minors = (uint64_t)number(L, 2, "minors", 0);
  c.majors = (uint64_t)number(L, 2, "majors", 0);
  c.duration = (uint64_t)number(L, 2, "duration", 0);
  c.tenured = (uint64_t)number(L, 2, "tenured", 0);
  c.processor = (uint64_t)number(L, 2, "processor", (lua_Integer)c.duration);
  c.planned = (uint64_t)number(L, 2, "planned", 0);
  c.charged = (uint64_t)number(L, 2, "charged", 0);
  c.left = (uint64_t)number(L, 2, "left", 0);
  c.slices = (uint64_t)number(L, 2, "slices", 0);
  c.mutator = (uint64_t)number(L, 2, "mutator", 0);
  c.looked[LOOKED_REMEMBERED] = (uint64_t)number(L, 2, "remembered", 0);
  c.looked[LOOKED_STACKS] = (uint64_t)number(L, 2, "stacks", 0);
  c.looked[LOOKED_WEAK] = (uint64_t)number(L, 2, "weak", 0);
  c.looked[LOOKED_LISTED] = (uint64_t)number(L, 2, "listed", 0);
  c.state = (int)number(L, 2, "state", 0);
  lua_getfield(L, 2, "fates");
  text = luaL_optlstring(L, -1, "", &n);
  fates = lua_newuserdatauv(L, n + 1, 0);
  for (i = 0; i < n; i++)
    fates[i] = (unsigned char)(text[i] - '0');
  if (lua_getfield(L, 2, "classes") == LUA_TTABLE) {
    classes = lua_newuserdatauv(L, (n + 1) * sizeof(*classes), 0);
    for (i = 0; i < n; i++) {
      lua_rawgeti(L, -2, (lua_Integer)i + 1);
      classes[i] = (uint32_t)luaL_optinteger(L, -1, 0);
      lua_pop(L, 1);
    }
  }
  if (lua_getfield(L, 2, "deaths") == LUA_TTABLE) {
    ndeaths = (size_t)luaL_len(L, -1);
    deaths = lua_newuserdatauv(L, (ndeaths + 1) * sizeof(*deaths), 0);
    for (i = 0; i < ndeaths; i++) {
      lua_rawgeti(L, -2, (lua_Integer)i + 1);
      deaths[i] = (uint32_t)luaL_checkinteger(L, -1);
      lua_pop(L, 1);
    }
  }
  profile_collection(state(L), &c, fates, classes, n, deaths, ndeaths);
  return 0;
}

static int g_class (lua_State *L) {
  profile_class(state(L), (uint32_t)luaL_checkinteger(L, 2),
                luaL_checkstring(L, 3));
  return 0;
}

static int g_holderpath (lua_State *L) {
  profile_holderpath(state(L), (uint32_t)luaL_checkinteger(L, 2),
                     (uint32_t)luaL_checkinteger(L, 3), luaL_checkstring(L, 4));
  return 0;
}

static int g_holders (lua_State *L) {
  size_t n = (size_t)luaL_len(L, 2), i;
  uint32_t *ids = lua_newuserdatauv(L, (n + 1) * sizeof(*ids), 0);
  for (i = 0; i < n; i++) {
    lua_rawgeti(L, 2, (lua_Integer)i + 1);
    ids[i] = (uint32_t)luaL_checkinteger(L, -1);
    lua_pop(L, 1);
  }
  profile_holders(state(L), ids, n);
  return 0;
}

static int g_walk (lua_State *L) {
  profile_walk(state(L), (uint64_t)luaL_checkinteger(L, 2), (uint64_t)luaL_checkinteger(L, 3));
  return 0;
}

static int g_mark (lua_State *L) {
  size_t n, m;
  const char *name = luaL_checklstring(L, 2, &n);
  const char *value = luaL_optlstring(L, 3, "", &m);
  profile_mark(state(L), (uint64_t)luaL_optinteger(L, 4, (lua_Integer)now()),
               name, n, value, m);
  return 0;
}

static int g_period (lua_State *L) {
  profile_period(state(L), (uint64_t)luaL_checkinteger(L, 2));
  return 0;
}

static int g_allocated (lua_State *L) {
  profile_allocated(state(L), (uint64_t)luaL_checkinteger(L, 2));
  return 0;
}

static int g_timeperiod (lua_State *L) {
  profile_timeperiod(state(L), (uint64_t)luaL_checkinteger(L, 2),
                     lua_toboolean(L, 3));
  return 0;
}

static void pushtotals (lua_State *L, const ProfileTotals *t) {
  lua_createtable(L, 0, 5);
  lua_pushinteger(L, (lua_Integer)t->samples);
  lua_setfield(L, -2, "samples");
  lua_pushinteger(L, (lua_Integer)t->timesamples);
  lua_setfield(L, -2, "timesamples");
  lua_pushinteger(L, (lua_Integer)t->lost);
  lua_setfield(L, -2, "lost");
  lua_pushinteger(L, (lua_Integer)t->bytes);
  lua_setfield(L, -2, "bytes");
  lua_pushinteger(L, t->error);
  lua_setfield(L, -2, "error");
}

static int g_path (lua_State *L) {
  lua_pushstring(L, profile_path(profile(L)));
  return 1;
}

static int g_elsewhere (lua_State *L) {
  lua_pushstring(L, profile_elsewhere(profile(L)));
  return 1;
}

static int g_totals (lua_State *L) {
  ProfileTotals t;
  profile_totals(profile(L), &t);
  pushtotals(L, &t);
  return 1;
}

static int g_finish (lua_State *L) {
  lua_pushboolean(L, profile_end(profile(L), NULL) == 0);
  return 1;
}

static int g_close (lua_State *L) {
  ProfileTotals t;
  Profile *p = profile(L);
  *(Profile **)lua_touserdata(L, 1) = NULL;
  lua_pushboolean(L, profile_close(p, &t) == 0);
  pushtotals(L, &t);
  return 2;
}

static int g_gc (lua_State *L) {
  Profile **p = luaL_checkudata(L, 1, TYPENAME);
  if (*p != NULL)
    profile_close(*p, NULL);
  *p = NULL;
  return 0;
}

static int g_forked (lua_State *L) {
  Profile *p = profile(L);
  int status = -1;
  pid_t child = fork();
  if (child == 0) {
    profile_abandon(p);
    _exit(7);
  }
  if (child > 0)
    waitpid(child, &status, 0);
  lua_pushinteger(L, WIFEXITED(status) ? WEXITSTATUS(status) : -1);
  return 1;
}

static int g_now (lua_State *L) {
  lua_pushinteger(L, (lua_Integer)now());
  return 1;
}

static int g_sleep (lua_State *L) {
  lua_Number s = luaL_checknumber(L, 1);
  struct timespec t;
  t.tv_sec = (time_t)s;
  t.tv_nsec = (long)((s - (lua_Number)t.tv_sec) * 1e9);
  while (nanosleep(&t, &t) != 0 && errno == EINTR)
    ;
  return 0;
}

static int g_kill (lua_State *L) {
  kill(getpid(), SIGKILL);
  return luaL_error(L, "alive after SIGKILL");
}

static int g_filelimit (lua_State *L) {
  struct rlimit limit;
  getrlimit(RLIMIT_FSIZE, &limit);
  limit.rlim_cur = (rlim_t)luaL_checkinteger(L, 1);
  return luaL_fileresult(L, setrlimit(RLIMIT_FSIZE, &limit) == 0, NULL);
}

int luaopen_profilegen (lua_State *L);

int luaopen_profilegen (lua_State *L) {
  static const luaL_Reg methods[] = {
    {"of", g_of}, {"start", g_start}, {"called", g_called}, {"leave", g_leave}, {"orphans", g_orphans},
    {"name", g_name}, {"sample", g_sample}, {"flood", g_flood},
    {"time", g_time}, {"collection", g_collection}, {"class", g_class},
    {"mark", g_mark}, {"period", g_period}, {"allocated", g_allocated},
    {"timeperiod", g_timeperiod}, {"holderpath", g_holderpath}, {"holders", g_holders}, {"walk", g_walk},
    {"path", g_path}, {"elsewhere", g_elsewhere}, {"totals", g_totals}, {"close", g_close},
    {"finish", g_finish}, {"forked", g_forked},
    {"__gc", g_gc}, {NULL, NULL}
  };
  static const luaL_Reg functions[] = {
    {"open", g_open}, {"now", g_now}, {"sleep", g_sleep}, {"kill", g_kill},
    {"filelimit", g_filelimit}, {"starve", g_starve}, {NULL, NULL}
  };
  int i;
  luaL_newmetatable(L, TYPENAME);
  luaL_setfuncs(L, methods, 0);
  lua_pushvalue(L, -1);
  lua_setfield(L, -2, "__index");
  luaL_newlib(L, functions);
  lua_createtable(L, KIND_COUNT, 0);
  for (i = 0; i < KIND_COUNT; i++) {
    lua_pushstring(L, profile_kindname(i));
    lua_rawseti(L, -2, i + 1);
  }
  lua_setfield(L, -2, "kinds");
  return 1;
}
