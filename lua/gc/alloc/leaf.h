/* SPDX-License-Identifier: MIT */
/* Sizes of long strings and userdata. */
#pragma once

#include "lgc.h"
#include "lstring.h"

/* The byte before a large userdata (more than LUAN_LARGETEXT bytes) has two fields. The bits from
   number LUAN_UDATAAGE on contain the number of minor collections that the userdata has survived
   without being tenured (ageing.h). The lower bits contain the number of bytes from the start of
   its block to the userdata (udataplace). */
#define LUAN_UDATAAGE	5

/* Returns the size in bytes of o, a long string or userdata, not rounded up to granules. */
static inline size_t luaN_textsize (const GCObject *o) {
  if (o->tt == LUA_VUSERDATA) return luaN_sizeudata(gco2u(o)->nuvalue, gco2u(o)->len);
  return sizelstring(gco2ts(o)->u.lnglen);
}
