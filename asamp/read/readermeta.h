/* SPDX-License-Identifier: MIT */
/* Reads the meta records of a log: keys and values about the process and the sampling. In asamp's
   files the values of "asamp.1", "asamp.2", ... are the details of samples (readerbatch.h). */
#ifndef asamp_readermeta_h
#define asamp_readermeta_h

#include "readerstate.h"

/* Reads a meta record; the value has n bytes and a NUL. Ignores unknown keys. Returns 0 if the
   details of samples are invalid. */
int readermeta_read (ReaderState *s, const char *key, const char *value,
                     size_t n);

#endif
