/* SPDX-License-Identifier: MIT */
/*
** Converts a profile of asamp by passing the reader's events to the encoder. The output is a file
** for the tools of VMProf (stock format, version 6), a file for forks of VMProf (extended format,
** version 7), or a part of a merged file of asamp (unite.h). Times are rounded to us. The output
** lacks samples of unknown type and, in the extended format, samples of copied bytes. For a sample
** alive at the end, the output has only the path of references found last.
**
** In this file, the outcome of an allocation sample is whether its block died or survived its first
** collection.
*/
#ifndef asamp_transcode_h
#define asamp_transcode_h

#include "encoder.h"
#include "output.h"
#include "readprofile.h"

/* A Lua state of the output. */
typedef struct TranscodeState {
  uint32_t id;          /* number of the state in the output */
  uint32_t from;        /* number of the state in the input */
  /* Number of the state's oldest survivors that run lengths of deaths have described since the last
     outcome or collection. The run lengths are in Transcode.deaths, or the encoder has them. */
  size_t deathplace;
  int undecided;        /* 1: the survival of a sample of the state is unknown; then it must be
                           unknown for all later samples of the state */
  int ended;            /* 1: the state was closed at the time 'end' */
  uint64_t end;         /* time in the output, CLOCK_MONOTONIC, ns */
  uint64_t orphans;     /* number of samples of native memory that are still live after the state
                           was closed */
  /* The following members are for merged files only. */
  struct TranscodeState *next;  /* next in the list Unite.ended: a state closed earlier */
  uint64_t allocated;   /* exact number of bytes that the state has allocated */
  /* Sampling periods last written for the state. 'period': of allocations, bytes; 'timens': of
     time, ns. */
  uint64_t period, timens;
  int wall;             /* 1: 'timens' is wall time; 0: CPU time */
} TranscodeState;

/* The merged file into which a profile is written: its encoder, and callbacks of unite.c. In the
   merged file, functions with equal names have one number; so have equal classes and label sets. */
typedef struct TranscodeInto {
  void *ud;
  Encoder *encoder;
  uint64_t mallocs;  /* sampling period of native memory in the file's head, bytes; 0: the head
                        has none, so a state's period is written before its samples */
  /* 'id' is the number of a Lua state in the input. Returns the same state in the merged file; adds
     it if needed. Returns NULL if out of memory or, with client.stop set, if the merged file has
     too many states. */
  TranscodeState *(*state) (void *ud, uint32_t id);
  /* Each of these functions returns the id that the merged file uses for a function or class with
     that name, and writes the name if the file does not have it yet. Returns 0 if out of memory.
     function  a Lua function
     native    a native function
     class     a class of objects (named by their metatables) */
  uint64_t (*function) (void *ud, const char *name);
  uint64_t (*native) (void *ud, const char *name);
  uint32_t (*class) (void *ud, const char *name);
  /* 'set' is the number of a label set in the input, not 0. Returns the number of the same label
     set in the merged file. */
  uint32_t (*labels) (void *ud, uint32_t set);
  /* Called if the block of a sample of native memory was freed after the end of its Lua state. The
     input has the number 'id' for this state. Sets *number to the number that the merged file has
     for it. Returns 0 if the state is unknown. */
  int (*orphaned) (void *ud, uint32_t id, uint32_t *number);
} TranscodeInto;

typedef struct Transcode {
  ReaderClient client;  /* pass this to reader_read */
  const ReadProfile *r;
  Output *o;
  int format;           /* PROFILE_STOCK or PROFILE_EXTENDED */
  const TranscodeInto *into;  /* the merged file; NULL: the output is not merged */
  uint32_t ofstate;     /* id of the Lua state 'of' in the profile that is read */
  TranscodeState *of;   /* Lua state to which the encoder assigns events; NULL: none */
  TranscodeState single;  /* the only state, if the output is not merged */
  Encoder *encoder;     /* the encoder of the output; NULL before the first event */
  uint64_t start;       /* start of this profile in the output: monotonic clock, ns */
  /* Number of sampling periods that the samples of unknown type represent. The output lacks these
     samples. */
  uint64_t untyped;
  int wall;             /* 1: the next time samples of the input are of wall time; 0: of CPU time */
  uint32_t node;        /* call tree node of the encoder's current stack */
  uint32_t *path;       /* nodes of the encoder's current stack, outermost first */
  size_t npath;
  uint32_t *place;      /* place[i]: last index in 'path' of call tree node i. Valid only if
                           path[place[i]] still is i */
  uint32_t nplaces;     /* number of elements of 'place' */
  size_t placesize;
  ProfileFrame *frames;  /* buffer for the inner frames of a stack, READER_MAXDEPTH elements */
  /* In a merged file: maps the id of a frame in the input to an index in the array 'frame'. In
     other outputs: the set of Lua functions, by id, whose names were written. */
  IdMap named;
  /* Ids of frames in the merged file. The map 'named' has the index of each frame of the input. Not
     used for other outputs. */
  uint64_t *frame;
  size_t nframe, framesize;
  IdMap classes;        /* maps a class to its id in the output. The key is 1 + the offset of the
                           class's name */
  uint32_t nclasses;
  unsigned char *survived;  /* outcomes of samples that were not yet passed to the encoder. 0: died;
                               1: survived; 2: survived, and the death is not recorded */
  uint32_t *class;      /* class[i]: class of the object of sample survived[i] */
  size_t nfates;
  /* Deaths of survivors that were not yet passed to the encoder: numbers of live and of dead
     survivors, alternately. The first one counts from the survivor at which the run lengths passed
     to the encoder end (encoder_deaths). */
  uint32_t *deaths;
  size_t ndeaths, deathsize;
  /* holder[i]: number of the path of references that keeps live survivor i of the current state
     alive; 0: unknown. */
  uint32_t *holder;
  size_t nholders, holdersize;
  IdMap paths;        /* maps a path of references of the input to its number (1, 2, ...) in the
                         current state of the output */
} Transcode;

/* Initializes t, which will write to the open output 'o'. Returns 0 if out of memory; call
   transcode_free in either case. */
int transcode_start (Transcode *t, int format, Output *o);
/* Initializes t for a profile that becomes a part of a merged file. The part starts at 'start'
   (monotonic clock, ns). Returns 0 if out of memory; call transcode_free in either case. */
int transcode_into (Transcode *t, const TranscodeInto *into, uint64_t start);
/* Writes the remaining outcomes, deaths and paths of references and, if the output is not merged,
   the end of the log. Returns NULL, or why the output is incomplete. */
const char *transcode_finish (Transcode *t, const ReadProfile *r);
void transcode_free (Transcode *t);

/* Writes the encoder's output (EncoderSink); 'ud' is the Output. */
void transcode_sink (void *ud, Bytes *out);
/* Callback for the head of the input: stops the reading of a profile that cannot be converted. */
void transcode_head (void *ud, const ReadProfile *r);
/* Makes the encoder assign the following events to the state client.state. Sets client.stop on
   failure. For merged files only. */
void transcode_turn (Transcode *t);
/* Passes the survival and deaths of samples ('survived', 'deaths') to the encoder. Call it before
   the encoder changes its Lua state (encoder_of). For merged files only. */
void transcode_pause (Transcode *t);

/* Adds the input's counts of dropped data to *to. Returns its number of truncated texts. */
uint64_t transcode_left (ProfileLeft *to, const ReadProfile *r);
/* Stores up to PROFILE_LABELS labels of a label set in 'to'. Returns their number. */
size_t transcode_labels (const ReadProfile *r, uint32_t set, ProfileLabel *to);
/* Splits the name "n:symbol:0:library" of a native function, and truncates the parts to the sizes
   of the buffers. Leaves 'file' unchanged if the library is "-", and both buffers if the name has
   another form. */
void transcode_split (const char *text, char *symbol, size_t symbolsize, char *file,
                      size_t filesize);

#endif
