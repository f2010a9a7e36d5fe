/* SPDX-License-Identifier: BSD-3-Clause */
/* A race that ThreadSanitizer has to report. */
#include <pthread.h>
#include <stdio.h>

static int sum;

static void *add(void *argument) {
  for (int i = 0; i < 1000; i++) sum += i;
  return argument;
}

int main(void) {
  pthread_t other;
  if (pthread_create(&other, NULL, add, NULL) != 0) return 2;
  add(NULL);
  pthread_join(other, NULL);
  printf("%d\n", sum);
  return 0;
}
