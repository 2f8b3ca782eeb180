/* SPDX-License-Identifier: MIT */
/* Passes events to the encoder (event.h). */
#include "event.h"

#include <string.h>

/* Encodes an event about samples: stack, survival, class or paths. Returns 0 for other types. */
static int encodesample (const Event *event, Encoder *e) {
  const void *body = event + 1;
  size_t n = (size_t)event->n;
  switch (event->type) {
    case EVENT_SAMPLE: {
      const SampleEvent *s = body;
      encoder_stack(e, s->shared, s->frames, n);
      encoder_sample(e, &s->sample);
      break;
    }
    case EVENT_TIME: {
      const TimeEvent *s = body;
      encoder_stack(e, s->shared, s->frames, n);
      encoder_time(e, &s->sample);
      break;
    }
    case EVENT_STACK: {
      const TimeEvent *s = body;
      encoder_stack(e, s->shared, s->frames, n);
      break;
    }
    case EVENT_FATES:
      encoder_fates(e, body, NULL, n);
      break;
    case EVENT_CLASSFATES:
      encoder_fates(e, (const unsigned char *)((const uint32_t *)body + n),
                    body, n);
      break;
    case EVENT_DEATHS:
      encoder_deaths(e, body, n);
      break;
    case EVENT_CLASS:
      encoder_class(e, (uint32_t)event->n, body, strlen(body));
      break;
    case EVENT_PATH:
      encoder_path(e, event->n, *(const uint32_t *)body, (const char *)body + 4);
      break;
    case EVENT_WALK:
      encoder_walk(e, *(const uint64_t *)body, event->n);
      break;
    case EVENT_HOLDERS:
      encoder_holders(e, body, n);
      break;
    default:
      return 0;
  }
  return 1;
}

/* Encodes an event about a state or the process. */
static void encodestate (const Event *event, Encoder *e) {
  const void *body = event + 1;
  switch (event->type) {
    case EVENT_START:
      encoder_start(e, event->n);
      break;
    case EVENT_CALLED:
      encoder_called(e, body, strlen(body));
      break;
    case EVENT_END: {
      const EndEvent *end = body;
      encoder_end(e, end->time, event->n, end->orphans);
      break;
    }
    case EVENT_NAME:
      encoder_name(e, event->n, body);
      break;
    case EVENT_COLLECTION:
      encoder_collection(e, body);
      break;
    case EVENT_PERIOD:
      encoder_period(e, event->n);
      break;
    case EVENT_CPUPERIOD: case EVENT_WALLPERIOD:
      encoder_timeperiod(e, event->n, event->type == EVENT_WALLPERIOD);
      break;
    case EVENT_LEFT:
      encoder_left(e, body, event->n);
      break;
    case EVENT_ALLOCATED:
      encoder_allocated(e, event->n);
      break;
    case EVENT_LABELLED:
      encoder_labelled(e, *(const uint32_t *)body, event->n);
      break;
    case EVENT_RESIDENT: {
      const ResidentEvent *r = body;
      const char *text = r->text + strlen(r->text) + 1;
      encoder_resident(e, r->time, r->text, strlen(r->text), (int64_t)event->n, text,
                       strlen(text));
      break;
    }
    case EVENT_MARK: {
      const MarkEvent *m = body;
      encoder_mark(e, m->time, m->text, m->namelength,
                   m->text + m->namelength, m->valuelength);
      break;
    }
  }
}

void event_encode (const Event *event, Encoder *e) {
  if (event->type == EVENT_ORPHANS) {  /* must not call encoder_of: it would add data for a state
                                          that has ended */
    const OrphansEvent *o = (const void *)(event + 1);
    encoder_orphans(e, o->time, event->state, o->runs, (size_t)event->n);
    return;
  }
  encoder_of(e, event->state, event->thread);
  if (!encodesample(event, e)) encodestate(event, e);
}

void event_count (const Event *event, EventTally *t) {
  const void *body = event + 1;
  const ProfileSample *s = &((const SampleEvent *)body)->sample;
  if (event->type == EVENT_SAMPLE && !profile_iscopy(s->kind)) {
    t->samples += s->count;
    if (s->kind == KIND_NATIVE)
      t->natives += s->count;
  }
  else if (event->type == EVENT_TIME)
    t->timesamples += ((const TimeEvent *)body)->sample.count;
}

void event_add (EventTally *to, const EventTally *t) {
  to->samples += t->samples;
  to->timesamples += t->timesamples;
  to->natives += t->natives;
}
