/* SPDX-License-Identifier: MIT */
/*
** One of our profiles in the other flavour: a client of the reader that hands
** its events to the encoder. All details are kept; times are whole
** microseconds. Memory: the call tree, fates and deaths of one collection, and
** what the encoder needs.
*/
#ifndef asamp_transcode_h
#define asamp_transcode_h

#include "encoder.h"
#include "output.h"
#include "reading.h"

typedef struct Transcode {
  ReaderClient client;  /* hand this to reader_read */
  const Reading *r;
  Output *o;
  int format;           /* PROFILE_STOCK or PROFILE_EXTENDED */
  Encoder *encoder;     /* NULL before the first event */
  uint64_t start;       /* ns */
  uint32_t node;        /* of the stack last set */
  uint32_t *path;       /* its nodes from the root */
  size_t npath;
  uint32_t *place;      /* by node: where it is on the path, if it is there */
  uint32_t nplaces;     /* nodes that have one */
  size_t placesize;
  ProfileFrame *frames;
  IdMap named;          /* functions that were announced */
  IdMap classes;        /* number of a name + 1 -> id of the class */
  uint32_t nclasses;
  unsigned char *survived;  /* fates not handed on yet */
  uint32_t *class;
  size_t nfates;
  uint32_t *deaths;     /* likewise: runs of alive and dead */
  size_t ndeaths, deathsize;
  size_t deathplace;    /* of the sample behind these runs */
  uint32_t *holder;     /* path of each that is followed; 0: none */
  size_t nholders, holdersize;
  int undecided;        /* 1: a sample without a fate was met */
} Transcode;

/* The output is open. 0 without memory. */
int transcode_start (Transcode *t, int format, Output *o);
/* After reader_read. A phrase why it is not complete, or NULL. */
const char *transcode_finish (Transcode *t, const Reading *r);
void transcode_free (Transcode *t);

#endif
