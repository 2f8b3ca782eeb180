/* SPDX-License-Identifier: MIT */
/* profiler.core.snapshot (snapshotlib.h). profiler.lua checks the arguments. */
#include "snapshotlib.h"
#include "snapshot.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "luafields.h"

/* snapshot{path, replace, wait, inprocess, command} -> {path, forked, refused (why fork failed),
   stopped (pause in seconds)}; on failure nil, message, errno. The other fields are explained in
   SnapshotWish and Snapshot (snapshot.h). 'wait' true: waits until the file is complete; a number:
   waits, and fails after that many seconds. */
int snapshot_lua (lua_State *L) {
  SnapshotWish wish;
  Snapshot s;
  char err[1024];
  luaL_checktype(L, 1, LUA_TTABLE);
  memset(&wish, 0, sizeof(wish));
  lua_settop(L, 1);
  lua_getfield(L, 1, "path");
  lua_getfield(L, 1, "command");
  wish.path = luaL_checkstring(L, 2);
  wish.command = lua_tostring(L, 3);
  wish.replace = (int)getinteger(L, "replace");
  wish.option = 1;
  lua_getfield(L, 1, "wait");
  wish.wait = lua_toboolean(L, -1);
  wish.seconds = lua_type(L, -1) == LUA_TNUMBER ? (unsigned)lua_tointeger(L, -1) : 0;
  wish.inprocess = getboolean(L, "inprocess");
  if (!snapshot_take(L, &wish, &s, err, sizeof(err)))
    return pushfailed(L, err, errno);
  lua_createtable(L, 0, 4);
  setstring(L, "path", s.path);
  free(s.path);
  setboolean(L, "forked", s.forked);
  if (s.refused != 0)
    setstring(L, "refused", strerror(s.refused));
  setnumber(L, "stopped", (lua_Number)s.stopped / 1e9);
  return 1;
}

/* Writes the path of the snapshot to 'to': that of the profile, with .heap in place of .vmprof or
   .vmprof.gz. */
static void nextto (const char *profile, char to[PATH_MAX]) {
  const char *endings[] = {".vmprof.gz", ".vmprof"};
  size_t n = strlen(profile), i;
  for (i = 0; i < 2; i++) {
    size_t m = strlen(endings[i]);
    if (n > m && strcmp(profile + n - m, endings[i]) == 0) {
      n -= m;
      break;
    }
  }
  snprintf(to, PATH_MAX, "%.*s.heap", (int)(n < PATH_MAX ? n : PATH_MAX), profile);
}

static void mark (Sampler *s, const char *name, const char *value) {
  sampler_mark(s, name, strlen(name), value, strlen(value));
}

void snapshot_ending (Sampler *s, lua_State *L) {
  SnapshotWish wish;
  SamplerStats stats;
  Snapshot taken;
  char path[PATH_MAX], err[1024];
  sampler_stats(s, L, &stats);
  if (stats.file == NULL) return;
  nextto(stats.file, path);
  memset(&wish, 0, sizeof(wish));
  wish.path = path;
  wish.seconds = SNAPSHOT_SECONDS;
  if (!snapshot_take(L, &wish, &taken, err, sizeof(err))) {
    mark(s, "heap snapshot failed", err);
    return;
  }
  mark(s, "heap snapshot", taken.path);
  free(taken.path);
}
