/* SPDX-License-Identifier: MIT */
/*
** Reads the details of our own files: the columns and events of a batch, joined with the stacks
** queued in 'runs'.
*/
#ifndef asamp_readerbatch_h
#define asamp_readerbatch_h

#include "readerstate.h"

/* Reads a whole batch. Returns 0 if it does not match its stacks. */
int readerbatch_read (ReaderState *s, const char *text, size_t n);

#endif
