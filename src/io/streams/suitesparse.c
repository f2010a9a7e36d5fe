/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/streams/suitesparse.h"

#include <stdio.h>
#include <string.h>

#include "core/context/context_impl.h"
#include "io/streams/names.h"

enum { LIST_BYTES = 120 };

/* The quality of a member's name, the best last. */
typedef enum rank { NO_MATRIX, ANY_MATRIX, AS_FOLDER, AS_ARCHIVE } rank;

typedef struct candidates {
  /* the rank of the best members */
  rank rank;
  /* the number of members of this rank */
  int count;
  /* the number of them in `list` */
  int listed;
  /* the numbers of .mtx files that are left out because of their names */
  int unprintable, too_long;
  bsi_member first;
  /* the names of the first ones, separated by commas */
  char list[LIST_BYTES];
} candidates;

static bool is_name(const char *word, size_t length, const char *name, size_t name_length) {
  return length == name_length && memcmp(word, name, length) == 0;
}

/* Returns true if a message can show the name. */
static bool is_printable(const char *name) {
  for (; *name; name++)
    if ((unsigned char)*name < 0x20 || *name == 0x7f) return false;
  return true;
}

/* Counts a .mtx file whose name cannot be used. Returns false for other files. */
static bool is_left_out(const char *member, candidates *c) {
  const char *base = bsi_base_name(member);
  size_t length = strlen(base);
  if (!bsi_drop_ending(base, &length, ".mtx")) return false;
  const bool too_long = strlen(member) >= BSI_MEMBER_BYTES, printable = is_printable(member);
  c->too_long += too_long;
  c->unprintable += !too_long && !printable;
  return too_long || !printable;
}

static rank rank_of(const char *member, const char *archive, size_t archive_length) {
  const char *base = bsi_base_name(member);
  size_t length = strlen(base);
  if (!bsi_drop_ending(base, &length, ".mtx")) return NO_MATRIX;
  if (is_name(base, length, archive, archive_length)) return AS_ARCHIVE;
  if (base == member) return ANY_MATRIX;
  const char *folder = base - 1;
  while (folder > member && folder[-1] != '/') folder--;
  return is_name(base, length, folder, (size_t)(base - 1 - folder)) ? AS_FOLDER : ANY_MATRIX;
}

static void add(candidates *c, rank its_rank, const char *member, int64_t position) {
  if (its_rank > c->rank) {
    c->rank = its_rank;
    c->count = c->listed = 0;
    c->first.position = position;
    strcpy(c->first.name, member);
    c->list[0] = '\0';
  }
  c->count++;
  const size_t used = strlen(c->list);
  if (used + strlen(", ") + strlen(member) >= LIST_BYTES) return;
  snprintf(c->list + used, LIST_BYTES - used, "%s%s", used > 0 ? ", " : "", member);
  c->listed++;
}

/* Ranks the members. Stops at a member named as the archive, because no other can be better. */
static bisai_status rank_members(bsi_source *source, candidates *c) {
  const char *archive = bsi_base_name(bsi_source_path(source)), *member;
  size_t archive_length = strlen(archive);
  bsi_compression ignored;
  bsi_drop_tar(archive, &archive_length, &ignored);
  for (int64_t position = 0; c->rank < AS_ARCHIVE; position++) {
    BSI_TRY(bsi_source_next_member(source, &member));
    if (!member) break;
    if (is_left_out(member, c)) continue;
    const rank its_rank = rank_of(member, archive, archive_length);
    if (its_rank != NO_MATRIX && its_rank >= c->rank) add(c, its_rank, member, position);
  }
  return BISAI_OK;
}

static bisai_status fail_without(bisai_context *context, const candidates *c) {
  if (c->too_long + c->unprintable == 0)
    return bsi_fail(context, BISAI_PARSE_ERROR, "the archive has no .mtx file");
  return bsi_fail(
      context, BISAI_PARSE_ERROR,
      "the archive has no .mtx file with a name of at most %d bytes and without control "
      "characters: %d too long, %d with control characters",
      BSI_MEMBER_BYTES - 1, c->too_long, c->unprintable);
}

/* Chooses the member that is the matrix. */
static bisai_status choose(bsi_source *source, bsi_member *matrix) {
  bisai_context *context = bsi_source_context(source);
  candidates c = {.rank = NO_MATRIX};
  BSI_TRY(rank_members(source, &c));
  *matrix = c.first;
  if (c.count == 0) return fail_without(context, &c);
  if (c.count == 1) return BISAI_OK;
  return bsi_fail(context, BISAI_UNSUPPORTED,
                  "the archive holds %d matrices, none of which has its name: %s%s", c.count,
                  c.list,
                  c.listed == c.count ? ""
                  : c.listed > 0      ? ", ..."
                                      : "...");
}

bisai_status bsi_archive_find_matrix(bsi_source *source, bsi_member *matrix) {
  bisai_status status = choose(source, matrix);
  if (!status) status = bsi_source_rewind(source);
  for (int64_t position = 0; position <= matrix->position && !status; position++) {
    const char *member;
    status = bsi_source_next_member(source, &member);
  }
  return status;
}

/* Goes to the member of that name, at most `max_members` members further. */
static bisai_status find_member(bsi_source *source, const char *name, int64_t max_members,
                                bool *found) {
  bisai_status status = BISAI_OK;
  *found = false;
  for (const char *member = name; member && max_members > 0 && !*found && !status; max_members--) {
    status = bsi_source_next_member(source, &member);
    *found = !status && member && strcmp(member, name) == 0;
  }
  return status;
}

bisai_status bsi_archive_find_rhs(bsi_source *source, const bsi_member *matrix,
                                  char name[BSI_MEMBER_BYTES], bool *found) {
  snprintf(name, BSI_MEMBER_BYTES, "%.*s_b.mtx", (int)(strlen(matrix->name) - strlen(".mtx")),
           matrix->name);
  BSI_TRY(find_member(source, name, INT64_MAX, found));
  if (*found || matrix->position == 0) return BISAI_OK;
  BSI_TRY(bsi_source_rewind(source));
  return find_member(source, name, matrix->position, found);
}

bisai_status bsi_archive_fail_in(bsi_source *source, const char *name, bisai_status status) {
  bisai_context *context = bsi_source_context(source);
  char message[sizeof context->error];
  strcpy(message, context->error);
  return bsi_fail(context, status, "%s: %s", name, message);
}
