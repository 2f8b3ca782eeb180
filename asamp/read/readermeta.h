/* SPDX-License-Identifier: MIT */
/*
** Reads the metas of a log. They have data about the process and the sampling, names of types, and
** in own files the details of batches (doc/profile-format.md). Used only by the files that
** implement reader.h.
*/
#ifndef asamp_readermeta_h
#define asamp_readermeta_h

#include "readerstate.h"

/*
** Reads a meta; the value has n bytes and a NUL after them. Ignores unknown keys. Returns 0 if the
** meta has the details of a batch and readerbatch_read refuses them.
*/
int readermeta_read (ReaderState *s, const char *key, const char *value,
                     size_t n);

#endif
