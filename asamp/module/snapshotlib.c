/* SPDX-License-Identifier: MIT */
/* The function snapshot of profiler.core. profiler.lua checks its arguments. */
#include "snapshot.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "luafields.h"

int snapshot_lua (lua_State *L);

/*
** snapshot{path=, replace= (enum of place.h), wait=, inprocess=, command=} ->
** {path=, forked=, refused= (message), stopped= (seconds)} | nil, message, errno
*/
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
  wish.wait = getboolean(L, "wait");
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
