// Both ends of the egress benchmark, in C so that they cost little themselves.
//   stream serve            prints its port; to each connection that many bytes as it asks for
//   stream fetch PORT [PROXY]
//                           for each line "BYTES COUNT" on stdin: connects COUNT times, to PORT of the
//                           loopback or by CONNECT through PROXY, asks for BYTES and reads them;
//                           prints the nanoseconds of each, and then "done"
// What is asked for stands behind a TLS hello for "localhost", as a tunnel has to open with one.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { room_bytes = 256 * 1024, request_bytes = 16 };

static char room[room_bytes];

static _Noreturn void fail(const char* what) {
  perror(what);
  exit(1);
}

static long long now(void) {
  struct timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  return at.tv_sec * 1000000000LL + at.tv_nsec;
}

static struct sockaddr_in loopback(int port) {
  struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return to;
}

static void send_all(int fd, const char* bytes, size_t size) {
  while (size > 0) {
    const ssize_t sent = send(fd, bytes, size, MSG_NOSIGNAL);
    if (sent <= 0) fail("send");
    bytes += sent;
    size -= (size_t)sent;
  }
}

/// A ClientHello whose one extension names "localhost"; its size.
static size_t hello(char* to) {
  static const char tail[] = "\0\x02\x13\x01\x01\0" /* suites, compression */
                             "\0\x12\0\0\0\x0e\0\x0c\0\0\x09localhost";
  const size_t body = 2 + 32 + 1 + sizeof tail - 1;
  const char head[] = {0x16, 3, 1, 0, (char)(body + 4), 1, 0, 0, (char)body, 3, 3};
  memset(to, 'r', sizeof head + 32 + 1);
  memcpy(to, head, sizeof head);
  to[sizeof head + 32] = 0; /* no session */
  memcpy(to + sizeof head + 33, tail, sizeof tail - 1);
  return sizeof head + 33 + sizeof tail - 1;
}

static void read_exactly(int fd, size_t size) {
  for (size_t got = 0; got < size;) {
    const ssize_t more = recv(fd, room + got, size - got, 0);
    if (more <= 0) fail("a request that ends early");
    got += (size_t)more;
  }
  room[size] = 0;
}

static int serve(void) {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  struct sockaddr_in at = loopback(0);
  socklen_t size = sizeof at;
  if (bind(fd, (struct sockaddr*)&at, size) != 0 || listen(fd, 128) != 0) fail("listen");
  getsockname(fd, (struct sockaddr*)&at, &size);
  printf("%d\n", ntohs(at.sin_port));
  fflush(stdout);
  const size_t before = hello(room);
  for (;;) {
    const int client = accept(fd, NULL, NULL);
    if (client < 0) fail("accept");
    read_exactly(client, before + request_bytes);
    size_t left = strtoull(room + before, NULL, 10);
    while (left > 0) {
      const size_t part = left < room_bytes ? left : room_bytes;
      send_all(client, room, part);
      left -= part;
    }
    close(client);
  }
}

static void open_tunnel(int fd, int port) {
  char request[64];
  send_all(fd, request,
           (size_t)snprintf(request, sizeof request, "CONNECT localhost:%d HTTP/1.1\r\n\r\n", port));
  size_t got = 0;
  while (got < 4 || memcmp(room + got - 4, "\r\n\r\n", 4) != 0) {
    const ssize_t more = recv(fd, room + got, room_bytes - got, 0);
    if (more <= 0) fail("no answer of the proxy");
    got += (size_t)more;
  }
  if (memcmp(room, "HTTP/1.1 200", 12) != 0) fail("the proxy says no");
}

static long long fetch(int port, int proxy, unsigned long long bytes) {
  char request[256];
  size_t size = hello(request);
  size += (size_t)snprintf(request + size, sizeof request - size, "%0*llu", request_bytes, bytes);
  const struct sockaddr_in to = loopback(proxy != 0 ? proxy : port);
  const long long begun = now();
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  if (connect(fd, (const struct sockaddr*)&to, sizeof to) != 0) fail("connect");
  if (proxy != 0) open_tunnel(fd, port);
  send_all(fd, request, size);
  for (;;) {
    const ssize_t more = recv(fd, room, room_bytes, 0);
    if (more < 0) fail("recv");
    if (more == 0) break;
    bytes -= (unsigned long long)more;
  }
  close(fd);
  if (bytes != 0) fail("an answer that is not whole");
  return now() - begun;
}

int main(int count, char** words) {
  if (count == 2 && strcmp(words[1], "serve") == 0) return serve();
  if (count < 3 || strcmp(words[1], "fetch") != 0) return 2;
  const int port = atoi(words[2]);
  const int proxy = count > 3 ? atoi(words[3]) : 0;
  char line[64];
  unsigned long long bytes = 0;
  int times = 0;
  while (fgets(line, sizeof line, stdin) && sscanf(line, "%llu %d", &bytes, &times) == 2) {
    while (times-- > 0) printf("%lld\n", fetch(port, proxy, bytes));
    puts("done");
    fflush(stdout);
  }
  return 0;
}
