/* SPDX-License-Identifier: MIT */
/*
** Implements asamp.h on top of the state's tracker (tracker.h), which samples the state. An Embed
** (embed.c) has the stack of the last sample, the functions by their ids, and two sorts of samples,
** with the pointers that 'allocated' of the client returned: undecided samples, whose survival no
** collection has decided, and followed samples, survivors whose death the client will receive. Its
** memory comes from malloc.
**
**   EM1  a tracker's 'ud' is an Embed if and only if its 'client' is in 'clients' (embed.c);
**   EM2  the n frames of the last stack are stored at the end of 'frames', so that outer frames
**        that the next sample shares need not be moved;
**   EM3  n is at most the depth of the stack that the tracker reported. It is smaller if there was
**        no memory for the new, inner frames. The next sample's 'shared' is limited to n, so that
**        it counts only frames that the client has received;
**   EM4  the first 'nfollowed' entries of 'reported' are the followed samples, the others the
**        undecided ones, both in the tracker's order. Capacity is reserved before a sample is
**        taken.
*/
#ifndef asamp_embed_h
#define asamp_embed_h

#include "asamp.h"

extern const asamp_Api embed_api;	/* The interface that asamp_api returns. */

#endif
