/* SPDX-License-Identifier: MIT */
/*
** What the records of a log add up to: the part of the reader that knows
** what a stack, an object, a name and a detail mean. Fills a Reading; owns
** what is needed only while reading. Used by reader.c alone.
**
** In our own files the stacks of a batch wait in 'runs' until the batch's
** details come; in extended files of other writers the samples wait in the
** ledger until their objects come.
*/
#ifndef asamp_readersum_h
#define asamp_readersum_h

#include "reader.h"

/* Equal stacks in a row, details still to come. */
typedef struct Run {
  uint32_t node;
  uint32_t kind;
  uint64_t copies;
} Run;

#define READERSUM_MAXRUNS	(1u << 20)

typedef struct ReaderSum {
  Reading *r;
  int failed;          /* memory is out */
  uint64_t clock;      /* own, extended: monotonic us at the start */
  uint64_t last;       /* own: us since start of the last sample */
  uint64_t period;     /* own: bytes a sample stands for now */
  uint64_t runfirst;   /* index of the first run not used up */
  Run *runs;
  size_t nruns, runsize;
  IdMap kinds;         /* type (+ 1) -> kind */
  IdMap types;         /* type (+ 1) -> offset of its name */
  uint64_t nstats;     /* gc_stats__N metas so far */
  int stat[3];         /* which of them is in use, held, rss; -1: none */
  uint64_t decided, survived;  /* since the collection before */
  ReadCollection before;       /* own: base of the next differences */
  size_t collectionsize;
} ReaderSum;

/* 0 without memory. */
int readersum_start (ReaderSum *s);
/* 1 once memory has run out. */
int readersum_failed (const ReaderSum *s);
/* The sums are complete after this; 0 without memory. */
int readersum_finish (ReaderSum *s);
/* Frees all but the Reading. */
void readersum_end (ReaderSum *s);

/* 0 when a private meta is not what our writer writes. */
int readersum_meta (ReaderSum *s, const char *key, const char *value,
                    size_t n);
void readersum_name (ReaderSum *s, uint64_t id, const char *text);

/* Is the id that of a type's leaf frame (own, stock)? Tells the kind. */
int readersum_typeframe (uint64_t id, uint32_t *kind);

/* The node of a frame called from 'node'. */
uint32_t readersum_frame (ReaderSum *s, uint32_t node, uint64_t id,
                          uint32_t line);

/* A stack record; 'us' is its time by the monotonic clock, 0: none. */
void readersum_stack (ReaderSum *s, uint32_t node, uint32_t kind, uint64_t us,
                      int allocation);

/* An object record with its words in the order of the file. */
void readersum_objects (ReaderSum *s, uint64_t us, const uint64_t *words,
                        size_t n);

#endif
