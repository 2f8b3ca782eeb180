/* SPDX-License-Identifier: MIT */
/* Reads the list of the process's mappings, /proc/self/maps. */
#ifndef asamp_maps_h
#define asamp_maps_h

#include <stddef.h>
#include <stdint.h>

typedef struct Maps {
  int fd;
  char *data;			/* buffer for the file's text */
  size_t at, n;			/* unparsed bytes of 'data': those at index 'at' up to n - 1 */
  /* Addresses of the mapping that maps_next has read: from 'from' to below 'to'. Both are 0 before
     the first maps_next. */
  uintptr_t from, to;
  unsigned long inode;		/* inode of the mapping's file; 0: the mapping has no file */
  const char *name;		/* path of the mapping's file, a name such as "[heap]", or ""; valid
                                   until the next maps_next */
} Maps;

/* Opens the list. Returns 0 if that fails. Call maps_close in both cases. */
int maps_open (Maps *m);
/* Reads the next mapping. Returns 0 at the end of the list. */
int maps_next (Maps *m);
void maps_close (Maps *m);

#endif
