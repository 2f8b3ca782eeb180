/* SPDX-License-Identifier: MIT */
/*
** Open files as external memory: the handle of a file owns LUAN_FILE external bytes from open to
** close. If the process or the system has no free descriptor, a full collection may close files
** that the program has dropped. liolib.c includes this header, which uses only the API and the
** seam.
*/
#ifndef luaN_files_h
#define luaN_files_h

#include <errno.h>

#include "lua.h"

#include "seam.h"

/*
** To be called when opening a file has failed. If that was for lack of a descriptor, runs a full
** collection, which may call finalizers, and returns 1: a second attempt may succeed. Returns 0,
** with errno unchanged, if the failure has another reason, if the program has stopped the
** collector, or in a finalizer, where no collection can run.
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
** result to f; if that is NULL and luaN_closedfiles returns 1, does so a second time. If f is open,
** reports LUAN_FILE external bytes of the file's handle, which must be at the top of the stack.
*/
#define luaN_opened(L,f,open) \
  ((f) = (open), \
   (void)((f) == NULL && luaN_closedfiles(L) && ((f) = (open)) != NULL), \
   (void)((f) != NULL && (luaN_outside(L, -1, LUAN_FILE), 1)))

#endif
