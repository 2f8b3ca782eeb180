/* SPDX-License-Identifier: MIT */
/* Columns of a Firefox profile (firefoxcolumns.h). */
#include "firefoxcolumns.h"

uint32_t firefoxcolumns_string (FirefoxFile *w, const char *text, size_t n) {
  return strlist_put(&w->strings, text, n);
}

void firefoxcolumns_start (FirefoxFile *w, const char *name) {
  output_char(w->o, '"');
  output_text(w->o, name);
  output_text(w->o, "\":[");
}

void firefoxcolumns_end (FirefoxFile *w) {
  output_text(w->o, "],\n");
}

void firefoxcolumns_length (FirefoxFile *w, uint64_t n) {
  output_text(w->o, "\"length\":");
  output_uint(w->o, n);
  output_char(w->o, '}');
}

void firefoxcolumns_same (FirefoxFile *w, const char *name, const char *value, uint64_t n) {
  uint64_t i;
  firefoxcolumns_start(w, name);
  for (i = 0; i < n; i++) {
    firefoxcolumns_comma(w, i);
    output_text(w->o, value);
  }
  firefoxcolumns_end(w);
}

void firefoxcolumns_ornull (FirefoxFile *w, uint64_t n, uint64_t none) {
  if (n == none)
    output_text(w->o, "null");
  else
    output_uint(w->o, n);
}
