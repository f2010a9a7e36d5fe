/** @file undocumented.h
 *  A header with a function without a word. */
int bisai_forgotten(int documented);
