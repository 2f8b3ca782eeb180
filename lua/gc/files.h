/* SPDX-License-Identifier: MIT */
/*
** Open files as external memory: the handle of a file owns LUAN_FILE external bytes from open to
** close. If a file cannot be opened because no descriptor is free, a full collection runs, whose
** finalizers close the files that the program has dropped. liolib.c includes this header, which
** uses only the API and the seam.
*/
#ifndef luaN_files_h
#define luaN_files_h

#include <errno.h>

#include "lua.h"

#include "seam.h"

/*
** Runs a full collection with its finalizers, to close dropped files, after opening a file has
** failed because no descriptor was free (errno). Returns 1: a second attempt may succeed. Returns
** 0, with errno unchanged, if opening failed for another reason or no collection may run: the
** program has stopped the collector, or a finalizer is running.
*/
static int luaN_closedfiles (lua_State *L) {
  if ((errno != EMFILE && errno != ENFILE) || lua_gc(L, LUA_GCISRUNNING) <= 0)
    return 0;
  lua_gc(L, LUA_GCCOLLECT);
  errno = 0;
  return 1;
}

/*
** Opens a file and assigns the result to f. 'open' is an expression that is NULL if opening fails.
** In that case, evaluates 'open' a second time if luaN_closedfiles returns 1. If the file is open
** at the end, reports LUAN_FILE external bytes for the file's handle, at the top of the stack.
*/
#define luaN_opened(L,f,open) \
  ((f) = (open), \
   (void)((f) == NULL && luaN_closedfiles(L) && ((f) = (open)) != NULL), \
   (void)((f) != NULL && (luaN_outside(L, -1, LUAN_FILE), 1)))

#endif
