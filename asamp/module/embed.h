/* SPDX-License-Identifier: MIT */
/*
** The sampler for programs that embed Lua: what asamp.h promises, on top of the
** state's tracker. Keeps what a client may look at: the whole stack, functions
** by their numbers, and the samples of which more is to be told, with the values
** that the client gave them. All memory here comes from malloc.
**
**   EM1  the tracker's client is ours if and only if its 'ud' is an Embed;
**   EM2  the n frames of the last stack lie at the end of 'frames', so that those
**        that stay need not be moved;
**   EM3  n is at most the depth of the stack that the tracker has told: frames for which
**        there was no memory are missing. So the client has been told all frames that
**        count as 'shared';
**   EM4  the first 'nfollowed' of 'told' are the samples that the tracker follows,
**        the others those that wait for their fate, both in the tracker's order:
**        no sample is taken for which there is no room.
*/
#ifndef asamp_embed_h
#define asamp_embed_h

#include "asamp.h"

extern const asamp_Api embed_api;

#endif
