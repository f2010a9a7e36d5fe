/* Ten characters of two bytes each are no more than ten columns: ääääääääää, so that it has 100. */
/* This comment goes on for so long that it ends in column 101, which is one more than is allowed. */
