/* SPDX-License-Identifier: MIT */
/*
** Implements asamp.h on top of the state's tracker (tracker.h), which takes the samples. An Embed
** has the stack of the last sample, the functions by id, and the samples for which the client will
** receive further callbacks.
**
**   EM1  a tracker's 'ud' is an Embed if and only if its 'client' is in 'clients' (embed.c);
**   EM2  the n frames of the last stack are at the end of the array 'frames'. So the outer frames
**        that the next stack has in common with the last one need not be moved;
**   EM3  n is the depth of the last stack, or less if there was no memory for its frames. 'shared'
**        of the next sample is at most n;
**   EM4  'reported' has the samples in the tracker's order: first 'nfollowed' survivors, then the
**        samples without an outcome.
*/
#ifndef asamp_embed_h
#define asamp_embed_h

#include "asamp.h"

extern const asamp_Api embed_api;	/* The interface that asamp_api returns. */

#endif
