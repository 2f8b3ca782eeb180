/* SPDX-License-Identifier: MIT */
/*
** The list of the followed samples of one Lua state: survivors whose later death the file records.
** It is the reader's copy of the writer's list (followed.h), in the same order, because the file
** names dead samples by their position in the list. Dead samples are removed in passes. A pass
** visits the list once, in several calls; each call keeps or removes the next samples. Used only by
** the files that implement reader.h. Invariants:
**
**   RF1  the list has at most READERFOLLOW_MOST samples; others are not followed;
**   RF2  during a pass the followed samples are list[0] to list[to - 1], which the pass has kept,
**        and list[at] to list[n - 1], which it has not visited. Outside a pass to = at = 0.
*/
#ifndef asamp_readerfollow_h
#define asamp_readerfollow_h

#include "readprofile.h"

typedef struct ReadFollowed {
  /* The sample. If its count is 0, the real sample was removed before its outcome was read, because
     the queue of samples was full (FI1). Such an entry exists only so that the next entries have
     the same positions as in the writer's list. */
  ReadSample sample;
  /* Bytes represented by this sample and by the samples of the Lua state that were decided before
     it (ReaderStream.allocated). */
  uint64_t born;
  uint64_t tag;        /* value of ReaderClient.tag that the client's callback 'fate' has set */
  /* Path of references that held the sample at the last heap walk that reached it, as index + 1 in
     ReadProfile.paths; 0: unknown. */
  uint32_t holder;
  int unreached;       /* 1: the last heap walk did not reach the sample */
} ReadFollowed;

/* The list of followed samples. All zero: empty. */
typedef struct ReaderFollow {
  ReadFollowed *list;  /* the followed samples (see RF2), the oldest first */
  size_t n, size;      /* number of elements, capacity */
  /* 'at': index of the next entry that the pass visits. 'to': number of entries that the pass has
     kept. */
  size_t at, to;
} ReaderFollow;

/*
** Ends the pass that removes dead samples, and reserves space for one more sample. Returns 0 if the
** list has READERFOLLOW_MOST samples, or if there is not enough memory; in the latter case sets
** *failed to 1.
*/
int readerfollow_room (ReaderFollow *f, int *failed);
/* Adds a sample, a survivor whose death the file records, to the end of the list; readerfollow_room
   must have returned 1 just before. */
void readerfollow_add (ReaderFollow *f, const ReadFollowed *sample);

/* Continues the pass that removes dead samples from the list, or starts one: keeps the next n
   samples; if fewer are left, keeps these. */
void readerfollow_stay (ReaderFollow *f, uint64_t n);
/*
** Continues the pass that removes dead samples from the list, or starts one: removes the next
** sample and copies it to *sample. Returns 0 if there is none.
*/
int readerfollow_die (ReaderFollow *f, ReadFollowed *sample);

/* Ends the pass that removes dead samples from the list: keeps the samples that it has not
   visited. */
void readerfollow_settle (ReaderFollow *f);
/* Frees the list, which is then empty. */
void readerfollow_free (ReaderFollow *f);

#endif
