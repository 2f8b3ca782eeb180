/* SPDX-License-Identifier: MIT */
/*
** asamp.http: an HTTP server for Lua, based on libmicrohttpd. The server has no thread: it runs
** during server:wait and server:close. A request stays suspended until it is answered; bodies are
** discarded.
**
** A connection is closed if
**   - no whole request arrives within 'patience' (argument of open, default 10 s);
**   - sending an answer takes longer than SENDING (300 s);
**   - nothing is transferred for PATIENCE (10 s).
**
** Functions:
**   - open(host, port, most [, patience]) -> server: accepts up to 'most' connections; 'patience'
**     in seconds; port "0": any free port; on failure nil, message
**   - server:port() -> number; 0: unknown
**   - server:wait(ms) -> list of the new requests {id, method, path, query, host, origin,
**     authorization, site}; the last four are headers, or nil. Waits up to 'ms' milliseconds
**   - server:answer(id, status, type, body)
**   - server:close(): answers suspended requests with status 503
*/
#define _GNU_SOURCE
#include "clock.h"
#include "descriptor.h"
#include "luafields.h"

#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#define TYPENAME	"asamp.http.server"
#define STOPPING	"the server is shutting down; start asamp serve again\n"
/* memory limit of a connection, in bytes; it limits the header of a request */
#define REQUEST_BYTES	(32u << 10)
/* default of 'patience', and longest time without a transfer, in seconds */
#define PATIENCE	10u
/* longest time for sending an answer, which has up to 256 MiB, in seconds */
#define SENDING		300u
#define BACKLOG		1024	/* largest number of connections that are not accepted yet */

/* An HTTP request. It exists from the arrival of its header until its answer was sent or its
   connection was closed. */
typedef struct Request {
  struct Request *next;	/* next older request in the list Server.all */
  struct MHD_Connection *connection;
  char *path;
  const char *method;
  lua_Integer id;
  unsigned status;	/* HTTP status of the answer */
  /* The answer. NULL: server:answer was not called, the answer is queued already, or there was no
     memory for it. */
  struct MHD_Response *response;
  /* 'issuspended' 1: the whole request has arrived, so its connection was suspended until the
     answer. 'isreturned' 1: server:wait has returned the request. 'isanswered' 1: server:answer or
     server:close has answered it. */
  int issuspended, isanswered, isreturned;
} Request;

/* An open connection. */
typedef struct Client {
  struct Client *next, **at;	/* next Client of the list; address of the pointer to this one */
  int fd;
  uint64_t until;	/* time when the connection is closed (clock_now, ns); 0: never, because a
                           request is suspended */
} Client;

typedef struct Server {
  struct MHD_Daemon *daemon;      /* the HTTP server; NULL: closed */
  Request *all;	/* requests that are not finished, newest first */
  Client *clients;	/* list of the open connections */
  uint64_t patience;	/* longest time until a whole request has arrived, ns. It starts when the
                           connection is made, or when its previous request is finished */
  lua_Integer last;	/* id of the newest request */
} Server;

/* {== callbacks of libmicrohttpd =========================================== */

static Request refused;  /* context of all requests whose address has a zero byte (%00) */

/* Returns the context of a new request. An address with a zero byte gets the context 'refused',
   because libmicrohttpd would end the address at this byte. */
static void *onaddress (void *ud, const char *uri, struct MHD_Connection *c) {
  (void)ud;
  (void)c;
  return strstr(uri, "%00") != NULL ? &refused : NULL;
}

/* Adds a Client for a new connection. Frees the Client of a closed connection. */
static void onconnection (void *ud, struct MHD_Connection *c, void **context,
                          enum MHD_ConnectionNotificationCode what) {
  Server *s = ud;
  Client *client = *context;
  if (what == MHD_CONNECTION_NOTIFY_STARTED) {
    const union MHD_ConnectionInfo *i =
      MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);
    client = (i != NULL) ? calloc(1, sizeof(*client)) : NULL;
    if (client == NULL) return;
    client->fd = i->connect_fd;
    client->until = clock_now() + s->patience;
    client->next = s->clients;
    client->at = &s->clients;
    if (client->next != NULL) client->next->at = &client->next;
    s->clients = client;
    *context = client;
  }
  else if (client != NULL) {
    *client->at = client->next;
    if (client->next != NULL) client->next->at = client->at;
    free(client);
    *context = NULL;
  }
}

/* Sets the time after which endslow closes the connection: 'ns' nanoseconds from now; 0: never. */
static void limit (struct MHD_Connection *c, uint64_t ns) {
  const union MHD_ConnectionInfo *i =
    MHD_get_connection_info(c, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
  Client *client = (i != NULL) ? i->socket_context : NULL;
  if (client != NULL) client->until = (ns > 0) ? clock_now() + ns : 0;
}

/* Shuts down the connections whose time has run out (Client.until). */
static void endslow (const Server *s) {
  const Client *c;
  uint64_t now = clock_now();
  for (c = s->clients; c != NULL; c = c->next)
    if (c->until != 0 && now >= c->until) (void)shutdown(c->fd, SHUT_RDWR);
}

/* Queues an answer with a constant text for a connection. */
static enum MHD_Result httplib_put (struct MHD_Connection *c, unsigned status, const char *text) {
  struct MHD_Response *r =
    MHD_create_response_from_buffer(strlen(text), (void *)text, MHD_RESPMEM_PERSISTENT);
  enum MHD_Result ok = r != NULL ? MHD_queue_response(c, status, r) : MHD_NO;
  if (r != NULL) MHD_destroy_response(r);
  return ok;
}

/* libmicrohttpd calls this function several times for a request: when the header has arrived, with
   each piece of the body, with *size 0 after the last piece, and when the request is resumed. If it
   returns MHD_NO, the connection is closed. */
static enum MHD_Result onrequest (void *ud, struct MHD_Connection *c, const char *path,
                                  const char *method, const char *version, const char *data,
                                  size_t *size, void **context) {
  Server *s = ud;
  Request *a = *context;
  (void)version;
  (void)data;
  if (a == &refused)
    return httplib_put(c, MHD_HTTP_BAD_REQUEST, "the URL has a zero byte (%00); remove it\n");
  if (a == NULL) {  /* only the header */
    const char *known = strcmp(method, "GET") == 0 ? "GET" : strcmp(method, "HEAD") == 0 ? "HEAD"
                      : strcmp(method, "POST") == 0 ? "POST" : NULL;
    if (known == NULL)
      return httplib_put(c, MHD_HTTP_METHOD_NOT_ALLOWED, "the server allows no method other than "
                         "GET, HEAD and POST; use one of these\n");
    a = calloc(1, sizeof(*a));
    if (a == NULL || (a->path = strdup(path)) == NULL) {
      free(a);
      return MHD_NO;
    }
    a->connection = c;
    a->method = known;
    a->id = ++s->last;
    a->next = s->all;
    s->all = a;
    *context = a;
    return MHD_YES;
  }
  if (*size > 0) {  /* discards the body */
    *size = 0;
    return MHD_YES;
  }
  if (a->response != NULL) {
    enum MHD_Result ok = MHD_queue_response(c, a->status, a->response);
    MHD_destroy_response(a->response);
    a->response = NULL;
    return ok;
  }
  /* answered, but without a response: there was no memory for it */
  if (a->isanswered) return MHD_NO;
  if (!a->issuspended) {
    a->issuspended = 1;
    limit(c, 0);
    MHD_suspend_connection(c);
  }
  return MHD_YES;
}

/* Frees a request whose answer was sent, or whose connection is closed. Starts the time limit of
   the next request on the connection. */
static void oncompleted (void *ud, struct MHD_Connection *c, void **context,
                         enum MHD_RequestTerminationCode code) {
  Server *s = ud;
  Request **at, *a = *context;
  (void)code;
  limit(c, s->patience);
  if (a == NULL || a == &refused) return;
  *context = NULL;
  for (at = &s->all; *at != a; at = &(*at)->next) { }
  *at = a->next;
  if (a->response != NULL) MHD_destroy_response(a->response);
  free(a->path);
  free(a);
}

/* }========================================================================= */

/* {== methods ============================================================== */

/* Returns the server that is argument 1. Raises an error if it is closed. */
static Server *server (lua_State *L) {
  Server *s = luaL_checkudata(L, 1, TYPENAME);
  if (s->daemon == NULL) luaL_error(L, "the server is closed; start asamp serve again");
  return s;
}

/* Returns a socket that listens at the address, or -1 with errno. With SO_REUSEADDR, connections of
   a closed server that still linger do not block the address. */
static int listening (const struct addrinfo *a) {
  static const int on = 1;
  int e, fd;
  descriptor_hold();
  fd = socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  descriptor_release();
  if (fd < 0) return -1;
  if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) == 0 &&
      bind(fd, a->ai_addr, a->ai_addrlen) == 0 && listen(fd, BACKLOG) == 0)
    return fd;
  e = errno;
  close(fd);
  errno = e;
  return -1;
}

/* Resolves 'host' and 'port', and starts the server there, for up to 'most' connections. Returns
   NULL or the reason of the failure. */
static const char *httplib_start (Server *s, const char *host, const char *port, unsigned most) {
  struct addrinfo hints, *a;
  int e, fd;
  memset(&hints, 0, sizeof(hints));
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  e = getaddrinfo(host, port, &hints, &a);
  if (e != 0) return gai_strerror(e);
  fd = listening(a);
  if (fd >= 0)
    s->daemon = MHD_start_daemon(
      MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | (a->ai_family == AF_INET6 ? MHD_USE_IPv6 : 0), 0,
      NULL, NULL, onrequest, s, MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT, most,
      MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)REQUEST_BYTES, MHD_OPTION_CONNECTION_TIMEOUT,
      PATIENCE, MHD_OPTION_URI_LOG_CALLBACK, onaddress, NULL, MHD_OPTION_NOTIFY_COMPLETED,
      oncompleted, s,
      MHD_OPTION_NOTIFY_CONNECTION, onconnection, s, MHD_OPTION_END);
  e = errno;
  freeaddrinfo(a);
  if (s->daemon != NULL) return NULL;
  if (fd < 0) return strerror(e);
  close(fd);
  return "not enough memory or file descriptors for the server; raise ulimit -v or ulimit -n";
}

static int httplib_open (lua_State *L) {
  const char *host = luaL_checkstring(L, 1), *port = luaL_checkstring(L, 2), *why;
  lua_Integer most = luaL_checkinteger(L, 3), patience = luaL_optinteger(L, 4, PATIENCE);
  Server *s = lua_newuserdatauv(L, sizeof(*s), 0);
  memset(s, 0, sizeof(*s));
  s->patience = (uint64_t)patience * CLOCK_SECOND;
  luaL_setmetatable(L, TYPENAME);
  why = httplib_start(s, host, port, (unsigned)most);
  if (why == NULL) return 1;
  lua_pushnil(L);
  lua_pushstring(L, why);
  return 2;
}

static int l_port (lua_State *L) {
  const union MHD_DaemonInfo *i = MHD_get_daemon_info(server(L)->daemon, MHD_DAEMON_INFO_LISTEN_FD);
  union {
    struct sockaddr any;
    struct sockaddr_in four;
    struct sockaddr_in6 six;
  } at;
  socklen_t n = sizeof(at);
  lua_Integer port = 0;
  if (i != NULL && getsockname(i->listen_fd, &at.any, &n) == 0)
    port = ntohs(at.any.sa_family == AF_INET6 ? at.six.sin6_port : at.four.sin_port);
  lua_pushinteger(L, port);
  return 1;
}

/* Name and value of a header or of an argument in the query of a request. */
typedef struct Pair {
  const char *key, *value;
} Pair;

typedef struct Pairs {
  int n, size;
  Pair *list;
} Pairs;

/* Adds a header or an argument to the Pairs *ud. libmicrohttpd calls this function. It must not
   call Lua, because an error would jump over the frames of libmicrohttpd. */
static enum MHD_Result onvalue (void *ud, enum MHD_ValueKind kind, const char *key,
                                const char *value) {
  Pairs *p = ud;
  (void)kind;
  if (p->n == p->size) return MHD_NO;
  p->list[p->n].key = key;
  p->list[p->n++].value = (value != NULL) ? value : "";
  return MHD_YES;
}

/* Returns the headers or the query arguments of a suspended request. They are in a new userdata on
   top of the stack. */
static Pairs httplib_values (lua_State *L, const Request *a, enum MHD_ValueKind kind) {
  Pairs p = {0, MHD_get_connection_values(a->connection, kind, NULL, NULL), NULL};
  p.list = lua_newuserdatauv(L, ((size_t)p.size + 1) * sizeof(Pair), 0);
  MHD_get_connection_values(a->connection, kind, onvalue, &p);
  return p;
}

/* Sets 'field' of the table at index -2 to the value of the header 'header', if present. The values
   of a repeated header are joined by commas. */
static void setheader (lua_State *L, const Pairs *p, const char *field, const char *header) {
  int i, found = 0;
  for (i = 0; i < p->n; i++) {
    if (strcasecmp(p->list[i].key, header) != 0) continue;
    if (found++ == 0) lua_pushstring(L, p->list[i].value);
    else {
      lua_pushfstring(L, "%s, %s", lua_tostring(L, -1), p->list[i].value);
      lua_replace(L, -2);
    }
  }
  if (found > 0) lua_setfield(L, -3, field);
}

/* Pushes the table with which server:wait describes a suspended request. */
static void httplib_push (lua_State *L, const Request *a) {
  Pairs p;
  int i;
  lua_createtable(L, 0, 8);
  setinteger(L, "id", (uint64_t)a->id);
  setstring(L, "path", a->path);
  setstring(L, "method", a->method);
  p = httplib_values(L, a, MHD_HEADER_KIND);
  setheader(L, &p, "host", "Host");
  setheader(L, &p, "origin", "Origin");
  setheader(L, &p, "authorization", "Authorization");
  setheader(L, &p, "site", "Sec-Fetch-Site");
  lua_pop(L, 1);
  lua_createtable(L, 0, 2);
  p = httplib_values(L, a, MHD_GET_ARGUMENT_KIND);
  for (i = 0; i < p.n; i++) {
    lua_pushstring(L, p.list[i].value);
    lua_setfield(L, -3, p.list[i].key);
  }
  lua_pop(L, 1);
  lua_setfield(L, -2, "query");
}

static int l_wait (lua_State *L) {
  Server *s = server(L);
  Request *a;
  lua_Integer n = 0;
  MHD_run_wait(s->daemon, (int32_t)luaL_checkinteger(L, 2));
  endslow(s);
  lua_createtable(L, 0, 0);
  for (a = s->all; a != NULL; a = a->next) {
    if (a->isreturned || !a->issuspended) continue;
    httplib_push(L, a);
    lua_rawseti(L, -2, ++n);
  }
  /* marks the requests only after the loop: if an error was raised in the loop, the next call
     returns the same requests */
  for (a = s->all; a != NULL; a = a->next) a->isreturned |= a->issuspended;
  return 1;
}

/* Answers a suspended request and resumes its connection. Copies 'body', n bytes. */
static void httplib_answer (Request *a, unsigned status, const char *type, const void *body,
                            size_t n) {
  a->response = MHD_create_response_from_buffer(n, (void *)body, MHD_RESPMEM_MUST_COPY);
  a->status = status;
  a->isanswered = 1;
  if (a->response != NULL) {
    MHD_add_response_header(a->response, "Content-Type", type);
    MHD_add_response_header(a->response, "X-Content-Type-Options", "nosniff");
  }
  limit(a->connection, SENDING * CLOCK_SECOND);
  MHD_resume_connection(a->connection);
}

static int l_answer (lua_State *L) {
  Server *s = server(L);
  lua_Integer id = luaL_checkinteger(L, 2);
  const char *type = luaL_checkstring(L, 4);
  size_t n;
  const char *body = luaL_checklstring(L, 5, &n);
  Request *a;
  for (a = s->all; a != NULL && a->id != id; a = a->next) { }
  if (a == NULL || a->isanswered) return 0;
  httplib_answer(a, (unsigned)luaL_checkinteger(L, 3), type, body, n);
  return 0;
}

static int l_close (lua_State *L) {
  Server *s = luaL_checkudata(L, 1, TYPENAME);
  Request *a;
  if (s->daemon == NULL) return 0;
  for (a = s->all; a != NULL; a = a->next)
    if (a->issuspended && !a->isanswered)
      httplib_answer(a, MHD_HTTP_SERVICE_UNAVAILABLE, "text/plain", STOPPING, sizeof(STOPPING) - 1);
  MHD_run_wait(s->daemon, 0);
  MHD_stop_daemon(s->daemon);
  s->daemon = NULL;
  return 0;
}

int luaopen_asamp_http (lua_State *L);

int luaopen_asamp_http (lua_State *L) {
  static const luaL_Reg functions[] = {{"open", httplib_open}, {NULL, NULL}};
  static const luaL_Reg methods[] = {
    {"port", l_port}, {"wait", l_wait}, {"answer", l_answer}, {"close", l_close}, {NULL, NULL}
  };
  if (!binding_open(L, "asamp.http", 0)) return 0;
  luaL_newmetatable(L, TYPENAME);
  lua_pushvalue(L, -1);
  lua_setfield(L, -2, "__index");
  lua_pushcfunction(L, l_close);
  lua_setfield(L, -2, "__gc");
  luaL_setfuncs(L, methods, 0);
  luaL_newlib(L, functions);
  return 1;
}

/* }========================================================================= */
