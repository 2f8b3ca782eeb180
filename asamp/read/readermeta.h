/* SPDX-License-Identifier: MIT */
/* Reads the meta records of a log: pairs of a key and a value with data about the process and the
   sampling. In asamp's files, the values of the keys "asamp.1", "asamp.2", ... are batches with the
   details of samples (readerbatch.h). */
#ifndef asamp_readermeta_h
#define asamp_readermeta_h

#include "readerstate.h"

/* Reads a meta record. The value has n bytes and a NUL. Ignores unknown keys. Returns 0 if the
   value is an invalid batch with details of samples. */
int readermeta_read (ReaderState *s, const char *key, const char *value, size_t n);

#endif
