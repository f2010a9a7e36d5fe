/* A race that ThreadSanitizer has to report. */
#include <stdio.h>

int main(void) {
  int sum = 0;
#pragma omp parallel num_threads(4)
  for (int i = 0; i < 1000; ++i) sum += i;
  printf("%d\n", sum);
  return 0;
}
