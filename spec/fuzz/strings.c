/* SPDX-License-Identifier: MIT */
/*
** Conversion of strings and scalars between the fuzzer's model and Lua. String number n consists
** of eight hexadecimal digits and random bytes. Its length depends on n: some are short strings,
** some are long, and some have over 8 KiB. Every function that reads a string from Lua compares
** all of it.
*/
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model.h"

#define KINDS	20000u
#define OFFSETS	4096u
#define LENGTH	NOISE

static char random_bytes[NOISE + OFFSETS];
static char text[LENGTH];

void strings_init (unsigned long seed) {
  size_t i;
  uint32_t x = (uint32_t)seed | 1u;
  for (i = 0; i < sizeof random_bytes; i++) {
    x = x * 1664525u + 1013904223u;
    random_bytes[i] = (char)(x >> 24);
  }
}

const char *noise (unsigned id) {
  return random_bytes + id % OFFSETS;
}

static size_t length_of (unsigned string) {
  uint32_t h = string * 2654435761u >> 8;
  unsigned class = h % 1000;
  h /= 1000;
  if (class < 800) return 8 + h % 33;
  if (class < 970) return 41 + h % 400;
  if (class < 980) return 500 + h % 5000;
  return 8193 + h % 8192;
}

const char *strings_text (unsigned string, size_t *length) {
  char digits[9];
  *length = length_of(string);
  snprintf(digits, sizeof digits, "%08x", string);
  memcpy(text, digits, 8);
  memcpy(text + 8, noise(string), *length - 8);
  return text;
}

unsigned strings_random (void) {
  return random_below(chance(4) ? KINDS : KINDS / 100);
}

void push_scalar (lua_State *L, Value v) {
  size_t length;
  const char *s;
  switch (v.tag) {
    case V_NIL: lua_pushnil(L); break;
    case V_BOOL: lua_pushboolean(L, (int)v.u.i); break;
    case V_INT: lua_pushinteger(L, v.u.i); break;
    case V_FLOAT: lua_pushnumber(L, v.u.n); break;
    case V_LIGHT: lua_pushlightuserdata(L, (void *)(uintptr_t)v.u.i); break;
    case V_STRING:
      s = strings_text((unsigned)v.u.i, &length);
      lua_pushlstring(L, s, length);
      break;
    default: wrong("the fuzzer pushes a value that is no scalar");
  }
}

static unsigned string_number (lua_State *L, int index) {
  size_t length, expected;
  char digits[9] = "";
  const char *s = lua_tolstring(L, index, &length), *e;
  unsigned n;
  if (length < 8) wrong("a string of %zu bytes that nobody made", length);
  memcpy(digits, s, 8);
  n = (unsigned)strtoul(digits, NULL, 16);
  e = strings_text(n, &expected);
  if (n >= KINDS || length != expected || memcmp(s, e, length) != 0)
    wrong("string '%s...' of %zu bytes is damaged", digits, length);
  if (s[length] != '\0') wrong("string %u has no zero at its end", n);
  return n;
}

Value value_at (lua_State *L, int index) {
  Value v = nil_value();
  switch (lua_type(L, index)) {
    case LUA_TNIL: case LUA_TNONE: break;
    case LUA_TBOOLEAN: v.tag = V_BOOL; v.u.i = lua_toboolean(L, index); break;
    case LUA_TNUMBER:
      if (lua_isinteger(L, index)) return int_value(lua_tointeger(L, index));
      v.tag = V_FLOAT;
      v.u.n = lua_tonumber(L, index);
      break;
    case LUA_TLIGHTUSERDATA:
      v.tag = V_LIGHT;
      v.u.i = (long long)(uintptr_t)lua_touserdata(L, index);
      break;
    case LUA_TSTRING:
      v.tag = V_STRING;
      v.u.i = string_number(L, index);
      break;
    default:
      v = node_value(node_at(lua_topointer(L, index)));
      if (v.u.node == NULL)
        wrong("a %s at %p that the model does not know", luaL_typename(L, index),
              lua_topointer(L, index));
  }
  return v;
}

static int lua_kind (const Node *n) {
  switch (n->kind) {
    case N_TABLE: return LUA_TTABLE;
    case N_USERDATA: return LUA_TUSERDATA;
    case N_STACK: case N_COROUTINE: return LUA_TTHREAD;
    default: return LUA_TFUNCTION;
  }
}

static const char *show (Value v, char buffer[64]) {
  if (v.tag == V_NODE) snprintf(buffer, 64, "object %u (kind %d)", v.u.node->id, v.u.node->kind);
  else if (v.tag == V_FLOAT) snprintf(buffer, 64, "%.14g", v.u.n);
  else snprintf(buffer, 64, "value %lld of tag %d", v.u.i, v.tag);
  return buffer;
}

void match (lua_State *L, int index, Value v, const char *where) {
  char a[64], b[64];
  Value got;
  if (v.tag == V_NODE) {
    if (v.u.node->gone) wrong("%s: object %u was freed", where, v.u.node->id);
    if (lua_type(L, index) == lua_kind(v.u.node) &&
        lua_topointer(L, index) == v.u.node->address) return;
    if (lua_type(L, index) >= LUA_TTABLE)
      wrong("%s: %s expected, got a %s at %p", where, show(v, a), luaL_typename(L, index),
            lua_topointer(L, index));
  }
  got = value_at(L, index);
  if (!same(got, v)) wrong("%s: %s expected, got %s", where, show(v, a), show(got, b));
}
