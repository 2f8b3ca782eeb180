/* SPDX-License-Identifier: MIT */
/*
** Begin and end of the Lua states of a file of many (readerstream.h). Of reader.h's files
** alone.
*/
#ifndef asamp_readerlife_h
#define asamp_readerlife_h

#include "readerstate.h"

/* A state of that number begins, and is the one whose lines follow. */
void readerlife_begin (ReaderState *s, uint64_t id, uint64_t time);
/* 'of' ends. What was alive there stays so until the next state begins, but for so many
   orphans. */
void readerlife_end (ReaderState *s, uint64_t time, uint64_t orphans);
/* At the end of the file: what has no fate; sums of those that are wanted. */
void readerlife_finish (ReaderState *s);

#endif
