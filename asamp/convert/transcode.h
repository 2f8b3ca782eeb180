/* SPDX-License-Identifier: MIT */
/*
** Conversion of a profile of asamp into the other format, or into a file with several profiles
** (unite.h): a client of the reader that passes the reader's events to the encoder. All details
** are kept; times are rounded to microseconds. Memory: the call tree, the fates and deaths of one
** collection, and the memory of the encoder.
*/
#ifndef asamp_transcode_h
#define asamp_transcode_h

#include "encoder.h"
#include "output.h"
#include "readprofile.h"

/* A state whose events are handed on. All zero but the id: nothing was. */
typedef struct TranscodeState {
  uint32_t id;          /* as the encoder has it */
  uint32_t from;        /* as the profile has it */
  size_t deathplace;    /* of the sample behind the runs of deaths told */
  int undecided;        /* 1: some sample had no fate */
  int ended;            /* it was closed, at 'end', ... */
  uint64_t end;         /* ns */
  uint64_t orphans;     /* ... with so many, that were not told to be dead yet */
  struct TranscodeState *next;  /* that was closed before it; of files of several */
  uint64_t allocated;   /* bytes */
  uint64_t period, timens;  /* as the encoder was told last; of files of several */
  int wall;
} TranscodeState;

/*
** A file of several profiles: what is called alike in two of them is one there, so names
** have numbers of that file, and states too.
*/
typedef struct TranscodeInto {
  void *ud;
  Encoder *encoder;
  uint64_t mallocs;     /* bytes a sample of native memory represents, in all of them;
                           0: they are told as the others are */
  /* The state of the event, client->state; NULL: memory is out. */
  TranscodeState *(*state) (void *ud, uint32_t id);
  /* The id of a frame of that name, which is emitted; 0: memory is out. */
  uint64_t (*function) (void *ud, const char *name);
  uint64_t (*native) (void *ud, const char *name);
  uint32_t (*class) (void *ud, const char *name);
  /* The number of a set of labels of the profile. */
  uint32_t (*labels) (void *ud, uint32_t set);
  /* One of the orphans of that state of the profile has died; *number is the state's there. 0:
     it has none. */
  int (*orphaned) (void *ud, uint32_t id, uint32_t *number);
} TranscodeInto;

typedef struct Transcode {
  ReaderClient client;  /* hand this to reader_read */
  const ReadProfile *r;
  Output *o;
  int format;           /* PROFILE_STOCK or PROFILE_EXTENDED */
  const TranscodeInto *into;  /* NULL: a file of its own */
  uint32_t told;        /* client.state, ... */
  TranscodeState *of;   /* ... and what it is here; NULL: none yet; ... */
  TranscodeState single;  /* ... of a file of its own, this */
  Encoder *encoder;     /* NULL before the first event */
  uint64_t start;       /* ns */
  uint64_t untyped;     /* samples of no known type, which are left out; counts added up */
  int wall;             /* 1: the last period of time is of the wall's clock */
  uint32_t node;        /* of the stack last set */
  uint32_t *path;       /* its nodes from the root */
  size_t npath;
  uint32_t *place;      /* by node: where it is on the path, if it is there */
  uint32_t nplaces;     /* nodes that have one */
  size_t placesize;
  ProfileFrame *frames;
  IdMap named;          /* frames that were emitted -> 0, or their number in a file of several: */
  uint64_t *frame;      /* ids there, by that number */
  size_t nframe, framesize;
  IdMap classes;        /* number of a name + 1 -> id of the class */
  uint32_t nclasses;
  unsigned char *survived;  /* fates that have not been passed to the encoder yet */
  uint32_t *class;
  size_t nfates;
  uint32_t *deaths;     /* not passed on yet: run lengths of alive and dead samples */
  size_t ndeaths, deathsize;
  uint32_t *holder;     /* path of holders of each followed sample; 0: none */
  size_t nholders, holdersize;
  IdMap paths;          /* of the state: path of the profile -> its number, 1, 2, ... */
} Transcode;

/* The output is open. 0 without memory. */
int transcode_start (Transcode *t, int format, Output *o);
/* The same of a profile that begins at 'start' ns of a file of several. */
int transcode_into (Transcode *t, const TranscodeInto *into, uint64_t start);
/* After reader_read. A phrase why it is not complete, or NULL. */
const char *transcode_finish (Transcode *t, const ReadProfile *r);
void transcode_free (Transcode *t);

/* The encoder's sink; 'ud' is the output. */
void transcode_sink (void *ud, Bytes *out, int text);
/* The client's 'begin'. */
void transcode_begin (void *ud, const ReadProfile *r);
/* For whoever fills a file of several, between events: those that follow are of
   client.state, from here on 'of'; none are held back, and 'of' is none. */
void transcode_turn (Transcode *t);
void transcode_pause (Transcode *t);

/* Adds what limits had left out when the profile was written; returns how many texts
   were cut. */
uint64_t transcode_left (ProfileLeft *to, const ReadProfile *r);
/* The labels of a set: at most PROFILE_LABELS; how many. */
size_t transcode_labels (const ReadProfile *r, uint32_t set, ProfileLabel *to);
/* Symbol and library of a name "n:symbol:0:library"; nothing if it is none. */
void transcode_split (const char *text, char *symbol, size_t symbolsize, char *file,
                      size_t filesize);

#endif
