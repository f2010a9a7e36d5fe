/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/streams/gunzip.h"

#include "core/context/context_impl.h"

#ifdef BISAI_HAVE_ZLIB

#include <zlib.h>

enum { MAGIC = 0x1f, MAX_INFLATED = 1 << 30, GZIP_WINDOW = 16 + MAX_WBITS };

struct bsi_gunzip {
  bisai_context *context;
  bsi_stored *stored;
  z_stream zlib;
  /* at the end of a member: another member, zeros up to the end, or nothing follows */
  bool between;
  /* zeros followed a member */
  bool padded;
  /* all stored bytes have been read */
  bool ended;
  /* borrowed */
  char *input;
};

static voidpf allocate(voidpf user, uInt count, uInt size) {
  return bsi_allocate(user, count, size);
}

static void release(voidpf user, voidpf pointer) { bsi_release(user, pointer); }

static bisai_status fail(const bsi_gunzip *g, const char *reason) {
  return bsi_io_fail_because(g->context, "decompress", g->stored->path, reason);
}

bisai_status bsi_gunzip_open(bsi_stored *stored, char *input, size_t count, bsi_gunzip **gunzip) {
  bisai_context *context = stored->context;
  bsi_gunzip *g = bsi_allocate(context, 1, sizeof *g);
  if (!g) return BISAI_OUT_OF_MEMORY;
  *g = (bsi_gunzip){.context = context, .stored = stored, .input = input};
  g->zlib = (z_stream){.zalloc = allocate, .zfree = release, .opaque = context};
  g->zlib.next_in = (unsigned char *)input;
  g->zlib.avail_in = (uInt)count;
  const int result = inflateInit2(&g->zlib, GZIP_WINDOW);
  if (result == Z_OK) {
    *gunzip = g;
    return BISAI_OK;
  }
  const bisai_status status =
      result == Z_MEM_ERROR ? BISAI_OUT_OF_MEMORY : fail(g, "zlib is of another version");
  bsi_release(context, g);
  return status;
}

void bsi_gunzip_close(bsi_gunzip **gunzip) {
  if (!gunzip || !*gunzip) return;
  bsi_gunzip *g = *gunzip;
  *gunzip = NULL;
  inflateEnd(&g->zlib);
  bsi_release(g->context, g);
}

static bisai_status refill(bsi_gunzip *g) {
  const ssize_t count = bsi_stored_read(g->stored, g->input, BSI_STORED_CHUNK);
  if (count < 0) return bsi_io_fail(g->context, "read", g->stored->path, g->stored->error);
  g->zlib.next_in = (unsigned char *)g->input;
  g->zlib.avail_in = (uInt)count;
  g->ended = count == 0;
  return BISAI_OK;
}

/* Skips zeros that fill up the last block of a tape or a disk. */
static void skip_padding(bsi_gunzip *g) {
  for (; g->zlib.avail_in > 0 && *g->zlib.next_in == 0; g->zlib.next_in++, g->zlib.avail_in--)
    g->padded = true;
}

static bisai_status inflate_more(bsi_gunzip *g) {
  if (g->between) {
    skip_padding(g);
    if (g->zlib.avail_in == 0) return BISAI_OK;
    if (g->padded || *g->zlib.next_in != MAGIC)
      return fail(g, "what follows the last gzip member is not gzip");
    inflateReset(&g->zlib);
    g->between = false;
  }
  switch (inflate(&g->zlib, Z_NO_FLUSH)) {
  case Z_OK: return BISAI_OK;
  case Z_STREAM_END: g->between = true; return BISAI_OK;
  case Z_BUF_ERROR: return g->ended ? fail(g, "the gzip file is cut off") : BISAI_OK;
  case Z_MEM_ERROR: return BISAI_OUT_OF_MEMORY;
  default: return fail(g, g->zlib.msg ? g->zlib.msg : "damaged gzip file");
  }
}

bisai_status bsi_gunzip_read(bsi_gunzip *g, char *target, size_t bytes, size_t *got) {
  bisai_status status = BISAI_OK;
  for (*got = 0; *got < bytes && !status;) {
    if (g->zlib.avail_in == 0 && !g->ended) status = refill(g);
    if (status || (g->between && g->ended)) break;
    const size_t left = bytes - *got;
    const uInt room = left < MAX_INFLATED ? (uInt)left : (uInt)MAX_INFLATED;
    g->zlib.next_out = (unsigned char *)target + *got;
    g->zlib.avail_out = room;
    status = inflate_more(g);
    *got += room - g->zlib.avail_out;
  }
  return status;
}

#else

bisai_status bsi_gunzip_open(bsi_stored *stored, char *input, size_t count, bsi_gunzip **gunzip) {
  (void)input, (void)count, (void)gunzip;
  return bsi_fail(stored->context, BISAI_UNAVAILABLE, "gzip files need a build with zlib");
}

void bsi_gunzip_close(bsi_gunzip **gunzip) { (void)gunzip; }

bisai_status bsi_gunzip_read(bsi_gunzip *gunzip, char *target, size_t bytes, size_t *got) {
  (void)gunzip, (void)target, (void)bytes;
  *got = 0;
  return BISAI_OK;
}

#endif
