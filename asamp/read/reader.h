/* SPDX-License-Identifier: MIT */
/*
** The reader: a VMProf log in, its events out, in one pass and in order.
**
** Reads versions 0 to 7 of little-endian logs (64-bit, 32-bit and those of Windows),
** plain or gzip: our own of both flavours with all their details, and those of other
** writers (time samples, allocation samples with objects). Keeps what is bounded (the call
** tree, names, kinds) in a ReadProfile and hands the rest to a client, event by
** event; the totals (readersum.h) and the converters are clients. Knows no
** Lua.
**
** The way of a record: reader.c takes it from the file; what it means is of
** readermeta.c, of readerbatch.c (the details of our own files) and of
** readerstack.c (stacks, which wait for their details); readeremit.c tells the
** client. readerstate.h has what they share. Rules:
**   R1  whatever precedes damage is delivered, and a message names the place;
**       only a file that is no such log yields nothing;
**   R2  memory grows with distinct stacks, names and samples without a fate,
**       each of them limited (bounds.h), never with the length of the file;
**       what is beyond is left out, counted and told (readerleft.h);
**   R3  no input makes it crash or hang;
**   R4  every allocation sample is delivered once as a sample and once with
**       its fate (or with the word that it has none), both in the order in
**       which the samples were taken. A sample comes before its fate, fates
**       before the collection that decided them;
**   R5  of a sample that survived and is followed the death is delivered at most
**       once, behind the fates of the collection that has found it dead. Without
**       it the sample is alive at the end, as far as the file tells.
*/
#ifndef asamp_reader_h
#define asamp_reader_h

#include "readprofile.h"

/*
** Reads the file. NULL when it cannot be opened, is no VMProf log, memory is
** out, or the client stopped: 'err' then has one line with path and reason.
*/
ReadProfile *reader_read (const char *path, ReaderClient *client, char *err,
                      size_t errsize);

#endif
