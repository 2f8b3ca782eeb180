/* SPDX-License-Identifier: MIT */
/*
** Open files as external memory: each file counts as LUAN_FILE bytes. A program that opens many
** files thus makes a collection due, which closes the unreachable files. Only liolib.c includes
** this header.
*/
#pragma once

#include <errno.h>

#include "lua.h"

#include "seam.h"

/*
** To be called when opening a file has failed. If errno says that no file descriptor was free, and
** the collector is not stopped, runs a full collection with finalizers, which closes unreachable
** files, and returns 1: the caller should try again. Else returns 0, with errno unchanged.
*/
static int luaN_closedfiles (lua_State *L) {
  if ((errno != EMFILE && errno != ENFILE) || lua_gc(L, LUA_GCISRUNNING) <= 0)
    return 0;
  lua_gc(L, LUA_GCCOLLECT);
  errno = 0;
  return 1;
}

/*
** Assigns the value of 'open' to f. Evaluates 'open' a second time if the result is NULL and
** luaN_closedfiles returns 1. Reports LUAN_FILE external bytes for the file handle at the top of
** the stack if f is not NULL.
*/
#define luaN_opened(L,f,open) \
  ((f) = (open), \
   (void)((f) == NULL && luaN_closedfiles(L) && ((f) = (open)) != NULL), \
   (void)((f) != NULL && (luaN_outside(L, -1, LUAN_FILE), 1)))
