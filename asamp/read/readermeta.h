/* SPDX-License-Identifier: MIT */
/*
** The metas of a log: data of the writer, names of types, and in our own files the details of
** batches (doc/profile-format.md).
*/
#ifndef asamp_readermeta_h
#define asamp_readermeta_h

#include "readerstate.h"

/* Reads a meta. Returns 0 if a private meta does not have the form that our writer produces. */
int readermeta_read (ReaderState *s, const char *key, const char *value,
                     size_t n);

#endif
