/* SPDX-License-Identifier: MIT */
/*
** The metas of a log: what the writer was told, what it calls types, and in our
** own files the details of batches (doc/profile-format.md).
*/
#ifndef asamp_readermeta_h
#define asamp_readermeta_h

#include "readerstate.h"

/* 0 when a private meta is not what our writer writes. */
int readermeta_read (ReaderState *s, const char *key, const char *value,
                     size_t n);

#endif
