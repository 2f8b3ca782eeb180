/* SPDX-License-Identifier: MIT */
/*
** Open files as external memory: a file owns LUAN_FILE external bytes from open to close. If the
** system has no free descriptor, a full collection may close files that the program has dropped.
** liolib.c includes this header; it uses only the API and the seam.
*/
#ifndef luaN_files_h
#define luaN_files_h

#include <errno.h>

#include "lua.h"

#include "seam.h"

/*
** Runs a full collection if opening a file failed for lack of a descriptor. Returns 1 if a second
** attempt is useful; 0, with errno unchanged, if the failure has another reason, if the program
** has stopped the collector, or in a finalizer, where it cannot run. May call finalizers.
*/
static int luaN_closedfiles (lua_State *L) {
  if ((errno != EMFILE && errno != ENFILE) || lua_gc(L, LUA_GCISRUNNING) <= 0)
    return 0;
  lua_gc(L, LUA_GCCOLLECT);
  errno = 0;
  return 1;
}

/*
** Evaluates 'open', an expression that opens a file and is NULL if opening fails, and assigns the
** result to f; if luaN_closedfiles advises it, tries a second time. If f is open, reports LUAN_FILE
** external bytes of the file's handle, which must be at the top of the stack.
*/
#define luaN_opened(L,f,open) \
  ((f) = (open), \
   (void)((f) == NULL && luaN_closedfiles(L) && ((f) = (open)) != NULL), \
   (void)((f) != NULL && (luaN_outside(L, -1, LUAN_FILE), 1)))

#endif
