/* SPDX-License-Identifier: MIT */
/*
** The Lua module profiler.core: the interface of the sampler for profiler.lua, which checks the
** arguments. Failures of the system are returned as nil, message, errno. The file also has the
** functions that the Lua core calls if the environment variable ASAMP is set.
*/
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "binding.h"
#include "embed.h"
#include "clock.h"
#include "complain.h"
#include "control.h"
#include "counting.h"
#include "decimal.h"
#include "interval.h"
#include "labels.h"
#include "limiting.h"
#include "luafields.h"
#include "process.h"
#include "sampler.h"
#include "snapshot.h"
#include "snapshotlib.h"
#include "timing.h"
#include "uncancelled.h"

/* Returns the sampler of the state. Raises an error if there is none. */
static Sampler *corelib_check (lua_State *L) {
  Sampler *s = sampler_of(L);
  if (s == NULL)
    luaL_error(L, luaN_isclosing(L) ? "the Lua state is being closed; use the profiler earlier"
                                    : "not enough memory for the profiler; raise ulimit -v");
  return s;
}

/* Reads SamplerOptions from the fields of the table at index 1. Leaves strings of the table on the
   stack, because *o points to them. */
static void options (lua_State *L, SamplerOptions *o) {
  luaL_checktype(L, 1, LUA_TTABLE);
  memset(o, 0, sizeof(*o));
  lua_settop(L, 1);
  lua_getfield(L, 1, "out");
  lua_getfield(L, 1, "command");
  lua_getfield(L, 1, "seed");
  o->out = lua_tostring(L, 2);
  o->number = (unsigned)getinteger(L, "number");
  o->made = getboolean(L, "made");
  o->replace = (int)getinteger(L, "replace");
  o->command = lua_tostring(L, 3);
  o->seeded = !lua_isnil(L, 4);
  o->seed = (uint64_t)lua_tointeger(L, 4);
  o->format = getboolean(L, "extended") ? PROFILE_EXTENDED : PROFILE_STOCK;
  o->compress = getboolean(L, "compress");
  o->native = getboolean(L, "native");
  o->random = getboolean(L, "random");
  o->summary = (int)getinteger(L, "summary");
  o->holders = getboolean(L, "holders");
  o->holdersevery = (uint64_t)getinteger(L, "holdersevery");
  o->ending = getboolean(L, "snapshot") ? snapshot_ending : NULL;
  o->mallocs = (uint64_t)getinteger(L, "mallocs");
  o->copies = getboolean(L, "copies");
  o->timeperiod = (uint64_t)getinteger(L, "timeperiod");
  o->wall = getboolean(L, "wall");
  o->rate = (uint64_t)getinteger(L, "rate");
  o->ring.ns = (uint64_t)getinteger(L, "ringtime");
  o->ring.most = (size_t)getinteger(L, "ring");
}

/* Pushes the results of a function: true if 'ok' is not 0, else nil, 'err' and errno. Returns the
   number of results. */
static int result (lua_State *L, int ok, const char *err) {
  int e = errno;
  if (!ok) return pushfailed(L, err, e);
  lua_pushboolean(L, 1);
  return 1;
}

/* open(t) -> true: opens a session, which writes a profile; on failure nil, message, errno. The
   table t has the fields that options() reads, and 'period', the sampling period in bytes. */
static int corelib_open (lua_State *L) {
  Sampler *s = corelib_check(L);
  SamplerOptions o;
  char err[512];
  options(L, &o);
  luaL_checkstring(L, 2);
  errno = 0;
  return result(L, sampler_open(s, &o, (uint64_t)getinteger(L, "period"), err, sizeof(err)),
                err);
}

/* setup(t) -> true: profiles every Lua state that this process creates from now on; on failure nil,
   message, errno. Call it once. The table t has the fields that options() reads, and
   - period: period of allocation sampling, bytes; alloc: true: samples allocations
   - exact: as in timeon
   - listen, rotate, keep, max: see ControlOptions (control.h) */
static int l_setup (lua_State *L) {
  SamplerShared with;
  ControlOptions control;
  char err[512];
  memset(&with, 0, sizeof(with));
  options(L, &with.options);
  with.rates.alloc = getboolean(L, "alloc");
  with.rates.period = (uint64_t)getinteger(L, "period");
  with.rates.timens = with.options.timeperiod;
  with.rates.most = with.options.rate;
  with.clock = with.options.wall ? TIMER_WALL : getboolean(L, "exact") ? TIMER_EXACT : TIMER_CPU;
  memset(&control, 0, sizeof(control));
  if (lua_getfield(L, 1, "listen") == LUA_TSTRING) control.listen = strdup(lua_tostring(L, -1));
  control.rotate = (uint64_t)getinteger(L, "rotate");
  control.keep = (uint64_t)getinteger(L, "keep");
  control.most = (uint64_t)getinteger(L, "max");
  control_setup(&control);
  errno = 0;
  return result(L, process_setup(&with, err, sizeof(err)), err);
}

/* path(pattern, pid) -> path of a profile: replaces the placeholders in 'pattern' (process_path)
   for the process 'pid' and the present time; "": not enough memory */
static int l_path (lua_State *L) {
  char *to = process_path(luaL_checkstring(L, 1), (unsigned long)luaL_checkinteger(L, 2), 1,
                          clock_read(CLOCK_REALTIME) / 1000);
  lua_pushstring(L, to != NULL ? to : "");
  free(to);
  return 1;
}

/* on(period, random): starts allocation sampling in the open session, every 'period' bytes;
   'random' true: at random distances with this mean */
static int l_on (lua_State *L) {
  sampler_on(corelib_check(L), L, (uint64_t)luaL_checkinteger(L, 1),
             lua_toboolean(L, 2));
  return 0;
}

/* off() -> true if allocation sampling was on. Stops allocation sampling. */
static int l_off (lua_State *L) {
  lua_pushboolean(L, sampler_off(corelib_check(L), L));
  return 1;
}

/* timeon(period, wall, exact) -> true: starts time sampling in the open session, every 'period' ns;
   on failure nil, message, errno. Samples wall time if 'wall' is true, else CPU time. If 'exact' is
   true and 'wall' is not, fails where perf events cannot measure CPU time. */
static int l_timeon (lua_State *L) {
  char err[512];
  TimerClock clock = lua_toboolean(L, 2) ? TIMER_WALL
                   : lua_toboolean(L, 3) ? TIMER_EXACT : TIMER_CPU;
  errno = 0;
  return result(L, sampler_timeon(corelib_check(L), L, (uint64_t)luaL_checkinteger(L, 1), clock,
                                  err, sizeof(err)), err);
}

/* timeoff() -> true if time sampling was on. Stops time sampling. */
static int l_timeoff (lua_State *L) {
  lua_pushboolean(L, sampler_timeoff(corelib_check(L), L));
  return 1;
}

/* close() -> true: ends the session; on failure nil, message, errno */
static int l_close (lua_State *L) {
  int e = sampler_close(corelib_check(L), L);
  snapshot_check();
  if (e != 0) {
    return pushfailed(L, profile_message(e), e);
  }
  lua_pushboolean(L, 1);
  return 1;
}

/* period(bytes): changes the period of allocation sampling in the session */
static int l_period (lua_State *L) {
  sampler_period(corelib_check(L), L, (uint64_t)luaL_checkinteger(L, 1));
  return 0;
}

#define NUMBER_TEXT	48	/* space for a Lua number as text, in bytes, including the NUL */

/* Copies the text of a number to 'room', with '.' as the decimal point in every locale. Returns
   'room'. */
static const char *withpoint (const char *number, char room[NUMBER_TEXT]) {
  snprintf(room, NUMBER_TEXT, "%s", number);
  decimal_point(room);
  return room;
}

/* mark(name, value) -> true if a session was open. Adds a mark to the session's profile. */
static int l_mark (lua_State *L) {
  char room[NUMBER_TEXT];
  size_t n, m;
  const int isnumber = (lua_type(L, 2) == LUA_TNUMBER);
  const char *name = luaL_checklstring(L, 1, &n);
  const char *value = luaL_checklstring(L, 2, &m);
  if (isnumber) {
    value = withpoint(value, room);
    m = strlen(value);
  }
  lua_pushboolean(L, sampler_mark(corelib_check(L), name, n, value, m));
  return 1;
}

/* Pushes the labels of a set as a table {name = value}. */
static void pushset (lua_State *L, uint32_t set) {
  ProfileLabel labels[PROFILE_LABELS];
  size_t i, n = labels_of(NULL, set, labels);
  lua_createtable(L, 0, (int)n);
  for (i = 0; i < n; i++) {
    lua_pushstring(L, labels[i].value);
    lua_setfield(L, -2, labels[i].name);
  }
}

/* stats(sets) -> the table that profiler.lua documents. If 'sets' is true, it has 'labels', a list
   with {bytes, labels} for each set of labels. The numbers are read before the tables are created,
   so that they do not include the memory of the tables. */
static int l_stats (lua_State *L) {
  SamplerStats t;
  Sampler *s = corelib_check(L);
  SamplerSet *rows = NULL;
  uint32_t i, n = 0;
  int sets = lua_toboolean(L, 1);
  if (sets) rows = lua_newuserdatauv(L, sampler_setcount(s) * sizeof(*rows), 0);
  sampler_stats(s, L, &t);
  if (sets) t.bytes = sampler_sets(s, L, rows, &n);
  lua_createtable(L, 0, 12);
  setboolean(L, "open", t.open);
  setboolean(L, "on", t.on);
  setinteger(L, "period", t.period);
  setinteger(L, "samples", t.samples);
  setinteger(L, "natives", t.natives);
  setinteger(L, "bytes", t.bytes);
  setinteger(L, "lost", t.lost);
  setinteger(L, "unfollowed", t.unfollowed);
  setboolean(L, "timing", t.timing);
  setinteger(L, "timesamples", t.timesamples);
  setinteger(L, "minor", t.minors);
  setinteger(L, "major", t.majors);
  setnumber(L, "time", (lua_Number)t.nanoseconds / 1e9);
  setstring(L, "file", t.file);
  if (t.error != 0) setstring(L, "error", profile_message(t.error));
  if (!sets) return 1;
  lua_createtable(L, (int)n, 0);
  for (i = 0; i < n; i++) {
    lua_createtable(L, 0, 2);
    setinteger(L, "bytes", rows[i].bytes);
    pushset(L, rows[i].set);
    lua_setfield(L, -2, "labels");
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  lua_setfield(L, -2, "labels");
  return 1;
}

/* dump([path]) -> path of the written file; on failure nil, message. Writes the newest events,
   which a flight recorder keeps, to the file 'path' (nil: to its next file). Uses the recorder of
   the process or, if there is none, that of the session. If the session has no recorder either,
   writes all events so far to the session's file. */
static int l_dump (lua_State *L) {
  Sampler *s = corelib_check(L);
  const char *to = lua_tostring(L, 1);
  char path[4096], err[1024];
  int ok = (sampler_attached(L) != NULL && process_isring())
         ? process_dump(to, path, sizeof(path), err, sizeof(err))
         : sampler_dump(s, to, path, sizeof(path), err, sizeof(err));
  if (!ok) luaL_pushfail(L);
  lua_pushstring(L, ok ? path : err);
  return ok ? 1 : 2;
}

/* holders() -> number of live samples. Writes to the profile, for each of these samples, the path
   of references that keeps its object alive. */
static int l_holders (lua_State *L) {
  lua_pushinteger(L, (lua_Integer)sampler_holders(corelib_check(L), L));
  return 1;
}

/* distance() -> number of bytes until the next sample; nil: sampling is off */
static int l_distance (lua_State *L) {
  uint64_t d = sampler_distance(corelib_check(L), L);
  if (d == UINT64_MAX) luaL_pushfail(L);
  else lua_pushinteger(L, (lua_Integer)d);
  return 1;
}

/* allocated() -> number of bytes that the state has allocated so far, with external bytes */
static int l_allocated (lua_State *L) {
  lua_pushinteger(L, (lua_Integer)luaN_allocated(L));
  return 1;
}

/* check() -> true, or nil and the invariant of the heap that is violated */
static int l_check (lua_State *L) {
  const char *broken = luaN_check(L);
  if (broken != NULL) return pushfailure(L, broken);
  lua_pushboolean(L, 1);
  return 1;
}

/* session() -> number for a new session: 1 at the first call in this process, then 2, ... */
static int l_session (lua_State *L) {
  static unsigned int sessions;
  lua_pushinteger(L, __atomic_add_fetch(&sessions, 1, __ATOMIC_RELAXED));
  return 1;
}

static int l_getpid (lua_State *L) {
  lua_pushinteger(L, getpid());
  return 1;
}

/* complain(text): prints the line "profiler: TEXT" on stderr or in the system's log (complain.h) */
static int l_complain (lua_State *L) {
  complain("%s", luaL_checkstring(L, 1));
  return 0;
}

#define LABELS_ATONCE	64	/* largest number of changes in one call of labels_change */

/* Sets *c to the label whose name and value are on top of the stack. Returns 0 if they are
   invalid. The pointers in *c refer to these strings or, if the value is a number, to its text
   in 'number'. */
static int getlabel (lua_State *L, LabelChange *c, char number[NUMBER_TEXT]) {
  int type = lua_type(L, -1);
  if (lua_type(L, -2) != LUA_TSTRING) return 0;
  c->name = lua_tolstring(L, -2, &c->namelength);
  if (c->namelength == 0 || memchr(c->name, '=', c->namelength) != NULL) return 0;
  c->value = NULL;
  if (type == LUA_TBOOLEAN) {
    if (!lua_toboolean(L, -1)) return 1;
    c->value = "true";
    c->valuelength = 4;
    return 1;
  }
  if (type != LUA_TSTRING && type != LUA_TNUMBER) return 0;
  c->value = lua_tolstring(L, -1, &c->valuelength);
  if (type == LUA_TNUMBER) {
    c->value = withpoint(c->value, number);
    c->valuelength = strlen(c->value);
  }
  return 1;
}

/* label(t) -> true: changes the labels of the calling coroutine. t maps names to a string, number
   or true; false removes a label. If t is invalid, returns false; labels then stay as they were. */
static int l_label (lua_State *L) {
  LabelChange changes[LABELS_ATONCE];
  char numbers[LABELS_ATONCE][NUMBER_TEXT];
  uint32_t set = luaN_label(L);
  size_t n = 0;
  lua_settop(L, 1);
  if (!lua_istable(L, 1)) return lua_pushboolean(L, 0), 1;
  lua_pushnil(L);
  while (lua_next(L, 1)) {
    if (!getlabel(L, &changes[n], numbers[n])) return lua_pushboolean(L, 0), 1;
    lua_pop(L, 1);
    if (++n < LABELS_ATONCE) continue;
    set = labels_change(set, changes, n);
    if (set == LABELS_NOMEMORY) return luaL_error(L, "not enough memory");
    n = 0;
  }
  if (n > 0) set = labels_change(set, changes, n);
  if (set == LABELS_NOMEMORY) return luaL_error(L, "not enough memory");
  luaN_setlabel(L, set);
  lua_pushboolean(L, 1);
  return 1;
}

/* labelled() -> number of the set of labels of the calling coroutine */
static int l_labelled (lua_State *L) {
  lua_pushinteger(L, (lua_Integer)luaN_label(L));
  return 1;
}

/* relabel{number}: gives the calling coroutine the set of labels with that number */
static int l_relabel (lua_State *L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  lua_rawgeti(L, 1, 1);
  luaN_setlabel(L, (unsigned)luaL_checkinteger(L, -1));
  return 0;
}

/* labels() -> the labels of the calling coroutine as a table {name = value} */
static int l_labels (lua_State *L) {
  pushset(L, luaN_label(L));
  return 1;
}

static const luaL_Reg functions[] = {
  {"open", corelib_open},
  {"setup", l_setup},
  {"path", l_path},
  {"on", l_on},
  {"off", l_off},
  {"timeon", l_timeon},
  {"timeoff", l_timeoff},
  {"close", l_close},
  {"period", l_period},
  {"mark", l_mark},
  {"dump", l_dump},
  {"holders", l_holders},
  {"label", l_label},
  {"labelled", l_labelled},
  {"relabel", l_relabel},
  {"labels", l_labels},
  {"stats", l_stats},
  {"distance", l_distance},
  {"allocated", l_allocated},
  {"check", l_check},
  {"snapshot", snapshot_lua},
  {"session", l_session},
  {"getpid", l_getpid},
  {"complain", l_complain},
  {NULL, NULL}
};

/* Pushes the same table at each call in a state, because profiler.lua stores its own module in this
   table. */
LUAMOD_API int luaopen_profiler_core (lua_State *L) {
  static const char key = 0;
  if (!binding_open(L, "profiler.core", 1)) return 0;
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, &key) == LUA_TTABLE) return 1;
  luaL_newlib(L, functions);
  lua_pushvalue(L, -1);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &key);
  counting_open(L);
  limiting_open(L);
  setinteger(L, "MIN", INTERVAL_MIN);
  setinteger(L, "MAX", INTERVAL_MAX);
  lua_pushlightuserdata(L, (void *)&embed_api);  /* asamp.h */
  lua_setfield(L, -2, "api");
  lua_pushliteral(L, "asamp " ASAMP_RELEASE);
  lua_setfield(L, -2, "release");
  setinteger(L, "MINRATE", TIMING_MIN);
  setinteger(L, "MAXRATE", TIMING_MAX);
  return 1;
}

/* {== called by the Lua core (attach.h) ================================ */

int asamp_setup (const char *wish, const char *home);
void asamp_join (lua_State *L);

/* Applies 'wish', the value of the environment variable ASAMP: runs the Lua module profiler.process
   in a temporary state, with modules from folders below 'home'. Called once. On failure returns 0,
   after a line on stderr or in the system's log. */
int asamp_setup (const char *wish, const char *home) {
  static const char chunk[] =
    "local wish, home = ... "
    "package.path = home .. '/share/asamp/?.lua;' .. home .. '/share/lua/5.4/?.lua' "
    "package.cpath = home .. '/lib/asamp/?.so;' .. home .. '/lib/lua/5.4/?.so' "
    "return require 'profiler.process'.setup(wish)";
  char err[9000];
  lua_State *L;
  int ok = 0;
  if (!binding_try("profiler.core", 1, __builtin_return_address(0), err, sizeof(err))) {
    complain("%s", err);
    return 0;
  }
  L = luaL_newstate();
  if (L == NULL) {
    complain("ASAMP: nothing is profiled: not enough memory; raise the limit (ulimit -v)");
    return 0;
  }
  lua_pushboolean(L, 1);
  lua_setfield(L, LUA_REGISTRYINDEX, "LUA_NOENV");  /* ignores LUA_PATH and LUA_CPATH */
  luaL_openlibs(L);
  if (luaL_loadbufferx(L, chunk, sizeof(chunk) - 1, "=asamp", NULL) == LUA_OK) {
    lua_pushstring(L, wish);
    lua_pushstring(L, home);
    ok = lua_pcallk(L, 2, 2, 0, 0, NULL) == LUA_OK && lua_toboolean(L, -2);
  }
  if (!ok) complain("%s; nothing is profiled", lua_tostring(L, -1));
  lua_close(L);
  return ok;
}

/* Starts the profiling of a new Lua state. Called after asamp_setup. */
void asamp_join (lua_State *L) {
  UNCANCELLED;
  process_join(L);
  control_ensure();
}

/* }===================================================================== */
