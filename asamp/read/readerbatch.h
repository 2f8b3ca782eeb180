/* SPDX-License-Identifier: MIT */
/*
** The details of our own files: a batch's columns and events, joined to the
** stacks that wait in 'runs'.
*/
#ifndef asamp_readerbatch_h
#define asamp_readerbatch_h

#include "readerstate.h"

/* A whole batch; 0 when it does not fit its stacks. */
int readerbatch_read (ReaderState *s, const char *text, size_t n);

#endif
