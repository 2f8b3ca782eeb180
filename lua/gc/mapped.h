/* SPDX-License-Identifier: MIT */
/*
** Memory that is mapped, for the chunks of luaL_newstate's states.
**
** A host that makes a state for each request, and closes it, would have the system map the same
** memory each time, and clear it page by page: that took as long as all that the request made,
** and up to three times what it takes in malloc, which keeps what was freed. So mappings of a
** state that is closed may stay for the next ones, of any OS thread: as many bytes as states
** have asked for since one was closed before, up to 32 MiB, if that was less than a second ago.
** The first of a row, and states that are closed all together, leave nothing. They go when a
** second has passed without a state closed, as the next collection of any state finds, or the
** next state that is closed; or where the system refuses to map more.
*/
#ifndef luaN_mapped_h
#define luaN_mapped_h

#include <stddef.h>

/* Mappings of this size, and of up to so many times of it, may stay. */
#define LUAN_MAPUNIT	((size_t)32 * 1024)
#define LUAN_MAPUNITS	32u

/* 'size' bytes, aligned to 'to', at 'at' if that can be (NULL: anywhere); or NULL. */
LUAI_FUNC char *luaN_map (size_t size, size_t to, char *at);

/* Gives a mapping back: its memory at least, where the process has as many mappings as it may
   and this one is amidst of others. */
LUAI_FUNC void luaN_unmap (char *p, size_t size);

/* The largest mapping that has stayed of at most '*size' bytes, whose size it becomes: whole units,
   aligned to one, as the caller wants them. NULL: there is none. What is in it is not zero. */
LUAI_FUNC char *luaN_takespare (size_t *size);

/* A state is closed, at so many milliseconds: its mappings are about to go. Returns whether one was
   within the last second. */
LUAI_FUNC int luaN_closespares (unsigned ms);

/* Gives a mapping of a state that is closed back, or has it stay. */
LUAI_FUNC void luaN_unmapclosed (char *p, size_t size);

/* Gives back all that has stayed, if that is so since a second, or 'now'. */
LUAI_FUNC void luaN_freespares (unsigned ms, int now);

#endif
