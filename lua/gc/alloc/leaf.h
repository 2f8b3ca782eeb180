/* SPDX-License-Identifier: MIT */
/* Sizes of long strings and userdata. */
#pragma once

#include "lgc.h"
#include "lstring.h"

/* The byte before a large userdata has two fields. The bits from number LUAN_UDATAAGE on contain
   the number of minor collections that the userdata has survived without being tenured (ageing.h).
   The lower bits contain the distance of the userdata from the start of its block (udataplace). */
#define LUAN_UDATAAGE	5

/* Returns the bytes of o, a long string or userdata, without rounding. */
static inline size_t luaN_textsize (const GCObject *o) {
  if (o->tt == LUA_VUSERDATA) return luaN_sizeudata(gco2u(o)->nuvalue, gco2u(o)->len);
  return sizelstring(gco2ts(o)->u.lnglen);
}
