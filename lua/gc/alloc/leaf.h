/* SPDX-License-Identifier: MIT */
/* Sizes of long strings and userdata. */
#ifndef luaN_leaf_h
#define luaN_leaf_h

#include "lgc.h"
#include "lstate.h"
#include "lstring.h"

/* Lowest bit of the survivor age in the byte before a large userdata; the age is the number of
   minor collections that have left it young (ageing.h). The lower bits of the byte are the distance
   from the start of the block (udataplace). */
#define LUAN_UDATAAGE	5

/* Returns the bytes of o, a long string or userdata, without rounding. */
static inline size_t luaN_textsize (const GCObject *o) {
  if (o->tt == LUA_VUSERDATA) return luaN_sizeudata(gco2u(o)->nuvalue, gco2u(o)->len);
  return sizelstring(gco2ts(o)->u.lnglen);
}

#endif
