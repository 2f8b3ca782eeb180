/* SPDX-License-Identifier: MIT */
/*
** profiler.reader: the reader for Lua. A plain C module for Lua 5.4.
**
**   read(path) -> profile | nil, message
**   isatty()   -> is standard output a terminal?
**
** A profile is a table (times in seconds, sizes in bytes):
**   path, version, interpreter, own, compressed, lines, random, command
**   complete (false: damaged or cut; then 'message' tells where and why;
**     a message may also tell that limits left something out)
**   offset                       bytes of the log that were read
**   period, periods              bytes a sample stands for, at first; how
**                                often it was set again
**   started, ended, duration     since the epoch; nil when unknown
**   samples, bytes               of allocations; bytes = samples x period
**   fates (does the file tell any?), survived, survivedbytes, undecided
**   timesamples, undetailed
**   minors, majors               collections there were
**   kinds[k] = {name, time (true: no type, samples of time), blocks (that
**     were sampled), objects (that these stand for, estimated), outside (of
**     the blocks, outside the nursery)}
**   functions[f] = {name, line, file, native}
**   nodes = {parent = {}, fn = {}, line = {}}: the call tree; parent[i] < i,
**     0 is the root; a node's stack is its function and its parents'
**   sites = {node = {}, kind = {}, samples = {}, bytes = {}, survived = {},
**     survivedbytes = {}, undecided = {}}: totals of each (node, kind);
**     node 0 when the stack is not known
**   collections[i] = {time, inuse, held, rss, decided, survived, major}
*/
#include "reader.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <lua.h>
#include <lauxlib.h>

#define TYPENAME	"profiler.reader.reading"

static void setinteger (lua_State *L, const char *key, uint64_t n) {
  lua_pushinteger(L, (lua_Integer)n);
  lua_setfield(L, -2, key);
}

static void setboolean (lua_State *L, const char *key, int b) {
  lua_pushboolean(L, b);
  lua_setfield(L, -2, key);
}

/* Microseconds as seconds. */
static void setseconds (lua_State *L, const char *key, uint64_t us) {
  lua_pushnumber(L, (lua_Number)us / 1e6);
  lua_setfield(L, -2, key);
}

/* The function that "py:name:line:file" (or any text) names. */
static void pushfunction (lua_State *L, const char *text, uint64_t id) {
  const char *name = strchr(text, ':');
  const char *line = name != NULL ? strchr(name + 1, ':') : NULL;
  const char *file = line != NULL ? strchr(line + 1, ':') : NULL;
  lua_createtable(L, 0, 4);
  if (file != NULL) {
    lua_pushlstring(L, name + 1, (size_t)(line - name - 1));
    lua_setfield(L, -2, "name");
    setinteger(L, "line", (uint64_t)strtoull(line + 1, NULL, 10));
    lua_pushstring(L, file + 1);
    lua_setfield(L, -2, "file");
    setboolean(L, "native", strncmp(text, "n:", 2) == 0);
  }
  else {
    if (*text != '\0')
      lua_pushstring(L, text);
    else
      lua_pushfstring(L, "[unknown %p]", (void *)(uintptr_t)id);
    lua_setfield(L, -2, "name");
    setinteger(L, "line", 0);
    lua_pushliteral(L, "-");
    lua_setfield(L, -2, "file");
    setboolean(L, "native", (int)(id & 1));
  }
}

/*
** Index of the function with that id in the table at 'functions'. Functions
** are told apart by their names: a C function's frames have as many ids as
** it has call sites. 'byid' and 'byname' are tables of what is known.
*/
static lua_Integer functionof (lua_State *L, const Reading *r, uint64_t id,
                               int functions, int byid, int byname) {
  const uint32_t *at;
  const char *text;
  lua_Integer f;
  if (lua_rawgeti(L, byid, (lua_Integer)id) == LUA_TNUMBER) {
    f = lua_tointeger(L, -1);
    lua_pop(L, 1);
    return f;
  }
  at = id != 0 ? idmap_find(&r->names, id) : NULL;
  text = at != NULL ? r->text + *at : "";
  pushfunction(L, text, id);
  if (*text == '\0')
    lua_getfield(L, -1, "name");
  else
    lua_pushstring(L, text);
  lua_pushvalue(L, -1);
  if (lua_rawget(L, byname) == LUA_TNUMBER)
    f = lua_tointeger(L, -1);
  else {
    f = (lua_Integer)lua_rawlen(L, functions) + 1;
    lua_pushvalue(L, -2);
    lua_pushinteger(L, f);
    lua_rawset(L, byname);
    lua_pushvalue(L, -3);
    lua_rawseti(L, functions, f);
  }
  lua_pop(L, 4);  /* old value, name, function, what 'byid' had */
  lua_pushinteger(L, f);
  lua_rawseti(L, byid, (lua_Integer)id);
  return f;
}

/* A new list of 'n' in the field 'key' of the table on the top; its index. */
static int list (lua_State *L, const char *key, size_t n) {
  lua_createtable(L, n < INT32_MAX ? (int)n : 0, 0);
  lua_pushvalue(L, -1);
  lua_setfield(L, -3, key);
  return lua_gettop(L);
}

static void put (lua_State *L, int to, size_t i, uint64_t n) {
  lua_pushinteger(L, (lua_Integer)n);
  lua_rawseti(L, to, (lua_Integer)i);
}

/* Fields 'functions' and 'nodes' of the table on the top. */
static void pushtree (lua_State *L, const Reading *r) {
  int profile = lua_gettop(L);
  int functions, byid, byname, parent, fn, line;
  uint32_t i;
  functions = list(L, "functions", 0);
  lua_newtable(L);
  byid = lua_gettop(L);
  lua_newtable(L);
  byname = lua_gettop(L);
  lua_createtable(L, 0, 3);
  parent = list(L, "parent", r->tree.n - 1);
  lua_pushvalue(L, byname + 1);
  fn = list(L, "fn", r->tree.n - 1);
  lua_pushvalue(L, byname + 1);
  line = list(L, "line", r->tree.n - 1);
  for (i = 1; i < r->tree.n; i++) {
    const TreeNode *node = &r->tree.nodes[i];
    put(L, parent, i, node->parent);
    put(L, fn, i, (uint64_t)functionof(L, r, node->id, functions, byid,
                                       byname));
    put(L, line, i, node->line);
  }
  lua_pushvalue(L, byname + 1);
  lua_setfield(L, profile, "nodes");
  lua_settop(L, profile);
}

/* Field 'sites' of the table on the top, and the totals over them. */
static void pushsites (lua_State *L, const Reading *r) {
  static const char *const keys[] = {
    "node", "kind", "samples", "bytes", "survived", "survivedbytes",
    "undecided"
  };
  enum { NKEYS = sizeof(keys) / sizeof(keys[0]) };
  int profile = lua_gettop(L);
  uint64_t sum[NKEYS] = {0};
  size_t i, n = r->ledger.nsites;
  int k;
  lua_createtable(L, 0, NKEYS);
  for (k = 0; k < NKEYS; k++) {
    lua_createtable(L, n < INT32_MAX ? (int)n : 0, 0);
    for (i = 0; i < n; i++) {
      const Site *s = &r->ledger.sites[i];
      const uint64_t values[NKEYS] = {
        s->node, s->kind + (uint64_t)1, s->samples, s->bytes, s->survived,
        s->survivedbytes, s->undecided
      };
      put(L, -2, i + 1, values[k]);
      sum[k] += values[k];
    }
    lua_setfield(L, -2, keys[k]);
  }
  lua_setfield(L, profile, "sites");
  for (k = 3; k < NKEYS; k++)
    setinteger(L, keys[k], sum[k]);
}

static void pushkinds (lua_State *L, const Reading *r) {
  uint32_t i;
  lua_createtable(L, (int)r->nkinds, 0);
  for (i = 0; i < r->nkinds; i++) {
    const ReadKind *kind = &r->kinds[i];
    lua_createtable(L, 0, 5);
    if (i == READER_UNKNOWN)
      lua_pushliteral(L, "[unknown]");
    else if (i == READER_TIMESAMPLE)
      lua_pushliteral(L, "[time sample]");
    else if (r->text[kind->name] != '\0')
      lua_pushstring(L, r->text + kind->name);
    else
      lua_pushfstring(L, "[type %I]", (LUAI_UACINT)kind->type);
    lua_setfield(L, -2, "name");
    setboolean(L, "time", i == READER_TIMESAMPLE);
    setinteger(L, "blocks", kind->blocks);
    lua_pushnumber(L, kind->objects);
    lua_setfield(L, -2, "objects");
    setinteger(L, "outside", kind->outside);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  lua_setfield(L, -2, "kinds");
}

static void pushcollections (lua_State *L, const Reading *r) {
  size_t i;
  lua_createtable(L, (int)r->ncollections, 0);
  for (i = 0; i < r->ncollections; i++) {
    const ReadCollection *c = &r->collections[i];
    lua_createtable(L, 0, 7);
    setseconds(L, "time", c->time);
    setinteger(L, "inuse", c->inuse);
    setinteger(L, "held", c->held);
    setinteger(L, "rss", c->rss);
    setinteger(L, "decided", c->decided);
    setinteger(L, "survived", c->survived);
    setboolean(L, "major", c->major);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  lua_setfield(L, -2, "collections");
}

static void pushprofile (lua_State *L, const char *path, const Reading *r) {
  lua_createtable(L, 0, 40);
  lua_pushstring(L, path);
  lua_setfield(L, -2, "path");
  lua_pushstring(L, r->interpreter);
  lua_setfield(L, -2, "interpreter");
  if (r->command != 0) {
    lua_pushstring(L, r->text + r->command);
    lua_setfield(L, -2, "command");
  }
  if (r->message[0] != '\0') {
    lua_pushstring(L, r->message);
    lua_setfield(L, -2, "message");
  }
  if (r->started != 0)
    setseconds(L, "started", r->started);
  if (r->ended != 0)
    setseconds(L, "ended", r->ended);
  setseconds(L, "duration", r->duration);
  setinteger(L, "version", (uint64_t)r->version);
  setboolean(L, "own", r->own);
  setboolean(L, "compressed", r->packed);
  setboolean(L, "lines", r->lines);
  setboolean(L, "random", r->random);
  setboolean(L, "complete", r->complete);
  setboolean(L, "fates", r->fates);
  setinteger(L, "offset", r->offset);
  setinteger(L, "period", r->period);
  setinteger(L, "periods", r->periods);
  setinteger(L, "samples", r->samples);
  setinteger(L, "timesamples", r->timesamples);
  setinteger(L, "undetailed", r->undetailed);
  setinteger(L, "minors", r->minors);
  setinteger(L, "majors", r->majors);
  pushsites(L, r);
  pushkinds(L, r);
  pushcollections(L, r);
  pushtree(L, r);
}

static int l_gc (lua_State *L) {
  Reading **r = luaL_checkudata(L, 1, TYPENAME);
  if (*r != NULL)
    reader_free(*r);
  *r = NULL;
  return 0;
}

static int l_read (lua_State *L) {
  const char *path = luaL_checkstring(L, 1);
  char err[1024];
  Reading **r;
  luaL_checkstack(L, 20, "reading a profile");
  r = lua_newuserdatauv(L, sizeof(*r), 0);
  *r = NULL;
  luaL_setmetatable(L, TYPENAME);  /* frees it if an error comes */
  *r = reader_read(path, err, sizeof(err));
  if (*r == NULL) {
    lua_pushnil(L);
    lua_pushstring(L, err);
    return 2;
  }
  pushprofile(L, path, *r);
  reader_free(*r);
  *r = NULL;
  return 1;
}

static int l_isatty (lua_State *L) {
  lua_pushboolean(L, isatty(STDOUT_FILENO));
  return 1;
}

int luaopen_profiler_reader (lua_State *L);

int luaopen_profiler_reader (lua_State *L) {
  static const luaL_Reg functions[] = {
    {"read", l_read}, {"isatty", l_isatty}, {NULL, NULL}
  };
  luaL_newmetatable(L, TYPENAME);
  lua_pushcfunction(L, l_gc);
  lua_setfield(L, -2, "__gc");
  luaL_newlib(L, functions);
  return 1;
}
