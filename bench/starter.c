// The yardsticks of the runner's benchmark, in C so that they cost little themselves.
//   starter two PROGRAM                    starts it and then starts it again
//   starter peak COMMAND...                prints the peak of COMMAND's resident memory, KiB
//   starter many TOTAL AT_ONCE COMMAND...  prints for each start its microseconds and exit code
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char** environ;

static double now(void) {
  struct timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  return (double)at.tv_sec * 1e6 + (double)at.tv_nsec / 1e3;
}

static pid_t start(char** command, int quiet) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (quiet) {
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  }
  pid_t pid = -1;
  const int wrong = posix_spawnp(&pid, command[0], &actions, NULL, command, environ);
  posix_spawn_file_actions_destroy(&actions);
  if (wrong != 0) {
    fprintf(stderr, "starter: %s: %s\n", command[0], strerror(wrong));
    exit(1);
  }
  return pid;
}

static int two(char** command) {
  for (int i = 0; i < 2; ++i) {
    int status = 0;
    if (waitpid(start(command, 0), &status, 0) < 0 || status != 0) return 1;
  }
  return 0;
}

static int peak(char** command) {
  int status = 0;
  struct rusage used;
  if (wait4(start(command, 1), &status, 0, &used) < 0) return 1;
  printf("%ld\n", used.ru_maxrss);
  return status != 0;
}

static int many(int total, int at_once, char** command) {
  pid_t* pids = calloc((size_t)at_once, sizeof *pids);
  double* since = calloc((size_t)at_once, sizeof *since);
  if (pids == NULL || since == NULL) return 1;
  int started = 0, running = 0;
  while (started < total || running > 0) {
    while (running < at_once && started < total) {
      int slot = 0;
      while (pids[slot] != 0) ++slot;
      since[slot] = now();
      pids[slot] = start(command, 1);
      ++started;
      ++running;
    }
    int status = 0;
    const pid_t gone = waitpid(-1, &status, 0);
    if (gone < 0) return 1;
    for (int slot = 0; slot < at_once; ++slot) {
      if (pids[slot] != gone) continue;
      printf("%.0f %d\n", now() - since[slot], WIFEXITED(status) ? WEXITSTATUS(status) : 255);
      pids[slot] = 0;
      --running;
    }
  }
  free(pids);
  free(since);
  return 0;
}

int main(int count, char** words) {
  if (count >= 3 && strcmp(words[1], "two") == 0) return two(words + 2);
  if (count >= 3 && strcmp(words[1], "peak") == 0) return peak(words + 2);
  if (count >= 5 && strcmp(words[1], "many") == 0) {
    const int total = atoi(words[2]), at_once = atoi(words[3]);
    if (total > 0 && at_once > 0) return many(total, at_once, words + 4);
  }
  fputs("usage: starter two|peak|many ...\n", stderr);
  return 2;
}
