/* SPDX-License-Identifier: MIT */
/*
** Open files as the collector should see them: a file stands for LUAN_FILE bytes
** from its opening to its closing, and when the system has no descriptor left, a
** full collection may close those that the program has dropped. liolib.c includes
** this; it uses the API and the seam only.
*/
#ifndef luaN_files_h
#define luaN_files_h

#include <errno.h>

#include "lua.h"

#include "seam.h"

/* Is a second try to open a file worth it? A collector that the program has
   stopped stays so. May call finalizers; keeps errno where it returns 0. */
static int luaN_closedfiles (lua_State *L) {
  if ((errno != EMFILE && errno != ENFILE) || !lua_gc(L, LUA_GCISRUNNING))
    return 0;
  lua_gc(L, LUA_GCCOLLECT);
  errno = 0;
  return 1;
}

/* 'open' is an expression that opens a file and is NULL when it fails; the file's
   handle is on the top of the stack. */
#define luaN_opened(L,f,open) \
  ((f) = (open), \
   (void)((f) == NULL && luaN_closedfiles(L) && ((f) = (open)) != NULL), \
   (void)((f) != NULL && (luaN_outside(L, -1, LUAN_FILE), 1)))

#endif
