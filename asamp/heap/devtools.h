/* SPDX-License-Identifier: MIT */
/*
** Writes a snapshot as a file for the Memory panel of Chrome's DevTools, in V8's format
** .heapsnapshot.
*/
#ifndef asamp_devtools_h
#define asamp_devtools_h

#include "graph.h"
#include "classnames.h"

#include <stddef.h>

/* Writes the snapshot g, with the classes m, to the file 'path'. 'how' selects the compression:
   OUTPUT_PLAIN, ... (output.h). On failure returns 0 with the reason in 'err'. */
int devtools_write (const Graph *g, const Naming *m, const char *path, int how, char *err,
                    size_t size);

#endif
