/* SPDX-License-Identifier: MIT */
/*
** Reads the meta records of a log. A meta record is a key and a value. It describes the process or
** the sampling, or has the name of a type of blocks. In files written by asamp, the meta records
** "asamp.1", "asamp.2", ... have the sizes, types and outcomes of samples, and the events
** (readerbatch.h). Used only by the files that implement reader.h.
*/
#ifndef asamp_readermeta_h
#define asamp_readermeta_h

#include "readerstate.h"

/*
** Reads a meta record; the value has n bytes and a NUL after them. Ignores unknown keys. Returns 0
** if the value is a text with the details of samples and readerbatch_read refuses it.
*/
int readermeta_read (ReaderState *s, const char *key, const char *value,
                     size_t n);

#endif
