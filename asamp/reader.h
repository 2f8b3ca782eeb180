/* SPDX-License-Identifier: MIT */
/*
** The reader: a VMProf log in, its call tree and its totals out, in one pass.
**
** Reads versions 0 to 7 of 64-bit little-endian logs, plain or gzip: our own
** of both flavours with all their details, and those of other writers (time
** samples, allocation samples with objects). Knows no Lua. Rules:
**   R1  whatever precedes damage is returned, with a message that names the
**       place; only a file that is no such log yields nothing;
**   R2  memory grows with distinct stacks, names and samples without a fate,
**       each of them limited, never with the length of the file;
**   R3  no input makes it crash or hang.
*/
#ifndef asamp_reader_h
#define asamp_reader_h

#include "ledger.h"
#include "tree.h"

/* Limits (R2). What is beyond is left out; 'message' says so. */
#define READER_MAXDEPTH		65536         /* words of a record */
#define READER_MAXNAME		4096          /* bytes of a name */
#define READER_MAXNAMES		(64u << 20)   /* bytes of all names */
#define READER_MAXIDS		(1u << 20)    /* names, and types */
#define READER_MAXMETA		(4u << 20)    /* bytes of a meta's value */
#define READER_MAXKINDS		4096
#define READER_MAXCOLLECTIONS	(1u << 20)

/* Kinds 0 and 1 of every reading; real ones follow. */
enum { READER_UNKNOWN, READER_TIMESAMPLE, READER_FIRSTKIND };

/* Totals of a kind over the blocks that were sampled (details only). */
typedef struct ReadKind {
  uint64_t type;       /* as the file numbers it */
  uint32_t name;       /* offset into 'text', 0: none */
  uint64_t blocks;
  double objects;      /* blocks that these stand for: a sample of count c
                          at period p of a block of s bytes for c * p / s */
  uint64_t outside;    /* of the blocks, allocated outside the nursery */
} ReadKind;

typedef struct ReadCollection {
  uint64_t time;       /* us since the start */
  uint64_t inuse, held, rss;  /* bytes; 0 when the file does not tell */
  uint64_t decided;    /* samples whose fate it told */
  uint64_t survived;   /* of these */
  int major;
} ReadCollection;

typedef struct Reading {
  int version;
  int own;             /* 1: written by us, details are there */
  int packed;
  int lines;           /* 1: frames have lines */
  int complete;        /* 1: the trailer was reached, the checksum is right */
  int fates;           /* 1: the file tells fates */
  int random;          /* 1: random gaps (own files) */
  char interpreter[256];
  char message[256];   /* why it is not complete, or what was left out */
  uint64_t offset;     /* bytes of the log that were read */
  uint64_t period;     /* bytes a sample stands for, at first; 0: unknown */
  uint64_t periods;    /* how often the period was set again */
  uint64_t started, ended;   /* epoch, us; 0: unknown */
  uint64_t duration;   /* us; to the last event when there is no end */
  uint64_t samples;    /* of allocations */
  uint64_t timesamples;
  uint64_t undetailed; /* own: samples whose details were cut off */
  Tree tree;
  Ledger ledger;       /* settled: no sample is open */
  IdMap names;         /* frame id -> offset into 'text' */
  char *text;          /* NUL-terminated strings; offset 0 is "" */
  uint32_t textn, textsize;
  uint32_t command;    /* offset into 'text' */
  ReadKind *kinds;
  uint32_t nkinds;
  ReadCollection *collections;
  size_t ncollections; /* listed */
  uint64_t minors, majors;  /* all there were */
} Reading;

/*
** Reads the file. NULL when it cannot be opened, is no VMProf log, or memory
** is out: 'err' then has one line with path and reason.
*/
Reading *reader_read (const char *path, char *err, size_t errsize);
void reader_free (Reading *r);

#endif
