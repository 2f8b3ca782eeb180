/* SPDX-License-Identifier: MIT */
/*
** A snapshot for the Memory panel of Chrome's DevTools: the .heapsnapshot format of V8.
*/
#ifndef asamp_devtools_h
#define asamp_devtools_h

#include "graph.h"
#include "classnames.h"

#include <stddef.h>

/* 'how': as output.h. 0: 'err' says why not in a line. */
int devtools_write (const Graph *g, const Naming *m, const char *path, int how, char *err,
                    size_t size);

#endif
