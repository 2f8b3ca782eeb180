/* SPDX-License-Identifier: MIT */
/*
** Concatenation of strings and integers, for lvm.c. Makes no string for an integer operand.
** luaV_concat handles the other cases:
** - operands of other types
** - empty strings, because the result may be the other operand
** - more than LUAN_INTEGERS integers
** - results that are too long
*/
#pragma once

#include "text.h"

/* largest number of integer operands of a concatenation by luaN_concat */
#define LUAN_INTEGERS	8

/* The integers among the operands of a concatenation, in decimal. used: number of integers. The
   first size[i] bytes of digits[i] are the digits, with the sign, of integer i. */
typedef struct luaN_Pieces {
  char digits[LUAN_INTEGERS][LUAN_DIGITS];
  int used, size[LUAN_INTEGERS];
} luaN_Pieces;


/* Copies the text of the n operands below 'top' to 'to', one after the other. The text of an
   integer is its digits in p. */
static void luaN_join (StkId top, int n, const luaN_Pieces *p, char *to) {
  int k = 0;
  for (; n > 0; n--) {
    const TValue *o = s2v(top - n);
    if (ttisstring(o)) {
      size_t l = tsslen(tsvalue(o));
      memcpy(to, getstr(tsvalue(o)), l);
      to += l;
    }
    else {
      memcpy(to, p->digits[k], (size_t)p->size[k]);
      to += p->size[k++];
    }
  }
}


/* Replaces the n values at the top of the stack by their concatenation and returns 1. May raise a
   memory error. Returns 0, with the stack unchanged, if an operand is empty or is neither a string
   nor an integer, or if there are too many integers or bytes. */
static int luaN_concat (lua_State *L, int n) {
  luaN_Pieces p;
  StkId top = L->top.p;
  size_t size = 0, l;
  TString *ts;
  int i;
  p.used = 0;
  for (i = n; i > 0; i--) {
    const TValue *o = s2v(top - i);
    if (ttisstring(o)) l = tsslen(tsvalue(o));
    else if (ttisinteger(o) && cvt2str(o) && p.used < LUAN_INTEGERS) {
      l = (size_t)luaN_decimal(p.digits[p.used], ivalue(o));
      p.size[p.used++] = (int)l;
    }
    else return 0;
    if (l == 0 || l >= MAX_SIZE - sizeof(TString) - size) return 0;
    size += l;
  }
  if (size <= LUAI_MAXSHORTLEN) {
    char buff[LUAI_MAXSHORTLEN];
    luaN_join(top, n, &p, buff);
    ts = luaS_newlstr(L, buff, size);
  }
  else {
    ts = luaS_createlngstrobj(L, size);
    luaN_join(top, n, &p, getlngstr(ts));
  }
  setsvalue2s(L, top - n, ts);
  L->top.p = top - n + 1;
  return 1;
}
