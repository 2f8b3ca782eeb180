/* SPDX-License-Identifier: MIT */
/*
** List of the live survivors of one Lua state whose deaths the file records ("followed" samples).
** The file identifies a dead sample by its position in this list. So the list must always equal the
** writer's list (followed.h).
**
** A pass goes through the list once, from the oldest sample to the newest. Each call during a pass
** keeps or removes the next samples.
**
**   RF1  at most READERFOLLOW_MOST samples;
**   RF2  a pass has kept the samples list[0] to list[to - 1], and has not visited list[at] to
**        list[n - 1] yet. Between two passes to = at = 0.
*/
#ifndef asamp_readerfollow_h
#define asamp_readerfollow_h

#include "readprofile.h"

typedef struct ReadFollowed {
  /* sample.count is 0 for an empty entry: the reader had dropped the sample from a full queue
     before its survival was read. The entry keeps later samples at their positions in the writer's
     list. */
  ReadSample sample;
  /* Bytes that the Lua state had allocated (ReaderStream.allocated) when the sample's survival was
     read. Its lifetime in bytes is counted from here on. */
  uint64_t born;
  uint64_t tag;        /* value that the client stored in ReaderClient.tag when the sample had
                          survived */
  /* Path of references to the sampled block, as index + 1 in ReadProfile.paths; 0: unknown. */
  uint32_t holder;
  uint32_t walk;       /* Number of the last heap walk that reached the sample; before the first
                          walk after its survival: number of walks so far (ReaderFollow.walks). */
} ReadFollowed;

/* List of a Lua state's live survivors whose deaths the file records. If all bytes are 0, it is
   empty. */
typedef struct ReaderFollow {
  ReadFollowed *list;  /* the samples, oldest first */
  size_t n, size;      /* number of elements of 'list', capacity */
  uint32_t walks;      /* number of heap walks so far */
  /* 'at': number of samples that the current pass over the list has visited. 'to': number of those
     that it has kept. */
  size_t at, to;
} ReaderFollow;

/* Reserves capacity for one more sample at the end of the list. If the deaths of a collection are
   still being applied to the list (readerfollow_die), first keeps all samples that were not
   visited. Returns 0 if the list is full, or if out of memory (then sets *failed). */
int readerfollow_room (ReaderFollow *f, int *failed);
/* Appends a sample; readerfollow_room must have returned 1. */
void readerfollow_add (ReaderFollow *f, const ReadFollowed *sample);

/* A collection's deaths are applied in one pass over the list, oldest sample first. Keeps the next
   n samples of the pass; starts a pass if none is running. */
void readerfollow_stay (ReaderFollow *f, uint64_t n);
/* Removes the next sample of the pass and copies it to *sample; starts a pass if needed.
   Returns 0 if the pass has visited all samples. */
int readerfollow_die (ReaderFollow *f, ReadFollowed *sample);

/* Ends the pass over the list in which deaths are applied: keeps the samples that it has not
   visited. */
void readerfollow_settle (ReaderFollow *f);
/* Frees the elements of f->list. The list is then empty. */
void readerfollow_free (ReaderFollow *f);

#endif
