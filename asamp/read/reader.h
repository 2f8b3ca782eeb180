/* SPDX-License-Identifier: MIT */
/*
** The reader: converts a VMProf log to events, in one pass and in order.
**
** Reads little-endian logs of versions 0 to 7 (64-bit, 32-bit and those of Windows), plain or
** gzip: our own of both formats with all details, and those of other writers (time samples,
** allocation samples with objects). Keeps the bounded data (call tree, names, kinds) in a
** ReadProfile and passes everything else to a client, event by event; the totals (readersum.h)
** and the converters are clients. Independent of Lua.
**
** A record is read from the file by reader.c and interpreted by readermeta.c, readerbatch.c
** (the details of our own files) or readerstack.c (stacks, which are queued until their
** details); readeremit.c calls the client. readerstate.h declares their common data. Rules:
**
**   R1  everything before a damage is delivered, and a message states its position; only a file
**       that is not such a log yields nothing;
**   R2  memory grows with distinct stacks, names and undecided samples, each of them limited
**       (bounds.h), never with the length of the file; data beyond the limits are dropped,
**       counted and reported (readerleft.h);
**   R3  no input causes a crash or an endless loop;
**   R4  every allocation sample is delivered once as a sample and once with its outcome (or as
**       undecided), both in the order in which the samples were taken. A sample comes before
**       its outcome, outcomes before the collection that decided them;
**   R5  the death of a followed survivor is delivered at most once, after the outcomes of the
**       collection that found it. Without a death, the sample is alive at the end, as far as
**       the file shows.
*/
#ifndef asamp_reader_h
#define asamp_reader_h

#include "readprofile.h"

/*
** Reads the file. Returns NULL if it cannot be opened, is no VMProf log, memory is exhausted or
** the client stopped; then 'err' has one line with path and reason.
*/
ReadProfile *reader_read (const char *path, ReaderClient *client, char *err,
                      size_t errsize);

#endif
