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
**   RF2  a dead sample keeps its slot until the list has no free slot. A binary tree over the slots
**        has the number of live samples below each node. So three operations take logarithmic
**        time: finding a sample by its position, removing a dead sample without moving others, and
**        storing one path for any number of adjacent samples.
*/
#ifndef asamp_readerfollow_h
#define asamp_readerfollow_h

#include "readprofile.h"

typedef struct ReadFollowed {
  /* An entry of the list. If sample.count is 0, the entry is empty: the reader had dropped the
     sample from a full queue before its survival was read. The empty entry keeps the later samples
     at the positions that they have in the writer's list. */
  ReadSample sample;
  /* Bytes that the Lua state had allocated (ReaderStream.allocated) when the sample's survival was
     read. The block's lifetime in bytes is counted from this value. */
  uint64_t born;
  uint64_t tag;        /* value of ReaderClient.tag after the callback 'fate' for this sample */
} ReadFollowed;

/* Indexes in FollowNode.n. ALL: count of all samples; NATIVE: count of samples of native memory. */
enum { READERFOLLOW_ALL, READERFOLLOW_NATIVE };

/* A node of the tree. The children of node i are nodes 2i and 2i + 1; node 1 is the root. */
typedef struct FollowNode {
  uint32_t n[2];       /* number of live samples below the node, and number of live samples of
                          native memory */
  /* Path of references, as index + 1 in ReadProfile.paths; 0: unknown. Heap walk number 'walk' has
     found this path for all sampled blocks below the node that were live then. The path of a sample
     is that of the latest walk among the nodes from the sample's leaf to the root. */
  uint32_t holder;
  /* Number of the heap walk that found 'holder'. In a leaf whose sample no walk has seen yet:
     number of walks before the sample survived (ReaderFollow.walks). */
  uint32_t walk;
} FollowNode;

/* List of a Lua state's live survivors whose deaths the file records. If all bytes are 0, it is
   empty. */
typedef struct ReaderFollow {
  ReadFollowed *list;  /* array of slots; the used slots have live and dead samples, oldest first */
  FollowNode *tree;    /* 2 * size nodes; the leaf of the slot i is tree[size + i] */
  size_t used, size;   /* number of used slots; number of all slots, 0 or a power of 2 */
  uint32_t walks;      /* number of heap walks so far */
  /* Counts of the current pass over the list; between two passes both are 0.
     at  number of samples that the pass has visited
     to  number of visited samples that the pass has kept */
  size_t at, to;
} ReaderFollow;

/* Reserves capacity for one more sample at the end of the list, and ends the current pass. Returns
   0 if the list is full, or if out of memory (then sets *failed). */
int readerfollow_room (ReaderFollow *f, int *failed);
/* Appends a sample; readerfollow_room must have returned 1. 'native' 1: it is native memory. */
void readerfollow_add (ReaderFollow *f, const ReadFollowed *sample, int native);

/* Returns the number of live samples. 'which' READERFOLLOW_ALL: counts all samples;
   READERFOLLOW_NATIVE: counts samples of native memory. */
static inline size_t readerfollow_n (const ReaderFollow *f, int which) {
  return f->size > 0 ? f->tree[1].n[which] : 0;
}

/* Returns the live sample that has 'rank' older live samples; NULL: there is none. 'which'
   READERFOLLOW_NATIVE: considers only samples of native memory; READERFOLLOW_ALL: all samples. */
const ReadFollowed *readerfollow_at (const ReaderFollow *f, int which, size_t rank);

/* Removes a sample returned by readerfollow_at. Its contents stay valid until readerfollow_room. */
void readerfollow_remove (ReaderFollow *f, const ReadFollowed *sample);

/* Returns 1 if the sample is native memory. */
static inline int readerfollow_isnative (const ReaderFollow *f, const ReadFollowed *sample) {
  return f->tree[f->size + (size_t)(sample - f->list)].n[READERFOLLOW_NATIVE] != 0;
}

/* A collection's deaths are applied in one pass over the list, oldest sample first. Keeps the next
   n samples of the pass; starts a pass if none is running. */
void readerfollow_stay (ReaderFollow *f, uint64_t n);
/* Removes the next sample of the pass and returns it; starts a pass if needed. The sample stays
   valid until readerfollow_room. Returns NULL if the pass has visited all samples. */
const ReadFollowed *readerfollow_die (ReaderFollow *f);

/* Ends the pass over the list in which deaths are applied: keeps the samples that it has not
   visited. */
static inline void readerfollow_settle (ReaderFollow *f) {
  f->at = f->to = 0;
}

/* Stores 'holder', a path of references that the current heap walk has found, for n successive live
   samples. 'from': number of older live samples; from + n is at most the number of live samples. */
void readerfollow_hold (ReaderFollow *f, size_t from, size_t n, uint32_t holder);
/* Returns a FollowNode whose 'holder' is the path of references to the live sample, and whose
   'walk' is the number of the heap walk that has found this path. */
FollowNode readerfollow_held (const ReaderFollow *f, const ReadFollowed *sample);

/* Frees the memory of the list. The list is then empty. */
void readerfollow_free (ReaderFollow *f);

#endif
