/* SPDX-License-Identifier: MIT */
/*
** List of one Lua state's survivors whose death the file records ("followed"). It equals the
** writer's list (followed.h), because the file names dead samples by position. A pass visits the
** list once, in several calls that keep or remove the next samples.
**
**   RF1  at most READERFOLLOW_MOST samples;
**   RF2  during a pass the samples are list[0] to list[to - 1], which it has kept, and list[at] to
**        list[n - 1], which it has not visited. Outside a pass to = at = 0.
*/
#ifndef asamp_readerfollow_h
#define asamp_readerfollow_h

#include "readprofile.h"

typedef struct ReadFollowed {
  /* The sample. Count 0: a placeholder for a sample removed from the full queue (FI1), which
     keeps the positions. */
  ReadSample sample;
  /* Bytes of this sample and of those decided before it (ReaderStream.allocated). */
  uint64_t born;
  uint64_t tag;        /* value of ReaderClient.tag set by the client */
  /* Path of references to the sample, as index + 1 in ReadProfile.paths; 0: unknown. */
  uint32_t holder;
  int unreached;       /* 1: the last heap walk did not reach the sample */
} ReadFollowed;

/* The list. All zero: empty. */
typedef struct ReaderFollow {
  ReadFollowed *list;  /* the samples (RF2), oldest first */
  size_t n, size;      /* number of elements, capacity */
  /* Next entry to visit; number of entries kept by the pass. */
  size_t at, to;
} ReaderFollow;

/* Ends the pass and reserves space for one sample. Returns 0 if the list is full or there is
   not enough memory (then sets *failed). */
int readerfollow_room (ReaderFollow *f, int *failed);
/* Appends a sample; readerfollow_room must have returned 1. */
void readerfollow_add (ReaderFollow *f, const ReadFollowed *sample);

/* Keeps the next n samples of the pass; starts one if needed. */
void readerfollow_stay (ReaderFollow *f, uint64_t n);
/* Removes the next sample of the pass and copies it to *sample; starts a pass if needed.
   Returns 0 if there is none. */
int readerfollow_die (ReaderFollow *f, ReadFollowed *sample);

/* Ends the pass: keeps the samples not visited. */
void readerfollow_settle (ReaderFollow *f);
/* Frees the list, which is then empty. */
void readerfollow_free (ReaderFollow *f);

#endif
