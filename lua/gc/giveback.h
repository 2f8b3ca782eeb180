/* SPDX-License-Identifier: MIT */
/*
** What malloc keeps free goes back to the system. Of what is free malloc gives back the end of its
** heap only, and one small block that lives on behind all the rest holds that up: a state that had
** dropped 190 of 200 MB of large strings, and a process that had closed 3,000 states of 25 KB, were
** as large as ever. So it is asked for all of its free pages by the GNU C library's malloc_trim,
** where many bytes were freed by the states of luaL_newstate since it was asked last:
**   - by a full collection, but for one in an emergency
**   - when the last state of the process is closed, unless one was within the second before: then
**     at most once a second
**   - behind a major collection that has shrunk a heap which was small before it (major.c), once a
**     second at most: a program that drops such a heap over and over would have the system clear the
**     same pages each time
** It takes some 0.1 ms for each MiB that goes back, and cannot be done in slices; other OS threads
** that allocate wait meanwhile. From a large heap memory goes back by a full collection only.
*/
#ifndef luaN_giveback_h
#define luaN_giveback_h

#include <stddef.h>

/* The states of this process have freed so many bytes. On any OS thread. */
LUAI_FUNC void luaN_countfreed (size_t bytes);

/* At so many milliseconds: gives back what is free, if it is much and that was not done within a
   second, or 'now'. Returns whether it has. On any OS thread. */
LUAI_FUNC int luaN_giveback (unsigned ms, int now);

#endif
