/* SPDX-License-Identifier: BSD-3-Clause */
#include "made.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"
#include "parse.h"

typedef struct kind {
  const char *word;
  /* in messages: "the cavity takes only one N" */
  const char *title;
  int block_size;
  double tolerance;
  /* takes N,N,N */
  bool has_three_sizes;
} kind;

static const kind kinds[] = {
    [CASE_CAVITY] = {"cavity", "the cavity", CASE_CAVITY_BLOCK_SIZE, 1e-5, false},
    [CASE_CONVDIFF] = {"convdiff", "convection-diffusion", CASE_CONVDIFF_BLOCK_SIZE, 1e-8, true},
    [CASE_ELASTICITY] = {"elasticity", "elasticity", CASE_ELASTICITY_BLOCK_SIZE, 1e-8, true},
    [CASE_REACTION] = {"reaction", "reaction", CASE_REACTION_BLOCK_SIZE, 1e-8, false},
    /* its blocks have the size of its components */
    [CASE_RESERVOIR] = {"reservoir", "the reservoir", 0, 1e-6, true},
    [CASE_ATMOSPHERE] = {"atmosphere", "atmosphere", CASE_ATMOSPHERE_BLOCK_SIZE, 1e-8, true},
    [CASE_EULER] = {"euler", "euler", CASE_EULER_BLOCK_SIZE, 1e-8, false},
    [CASE_SHELL] = {"shell", "shell", CASE_SHELL_BLOCK_SIZE, 1e-8, false}};

static bool is_word(const char *text, size_t length, const char *word) {
  return strlen(word) == length && strncmp(text, word, length) == 0;
}

static bool set_contrast(const char *value, made_case *m) {
  return parse_number(value, &m->elasticity.contrast) && m->elasticity.contrast > 0;
}

static bool set_clamped(const char *value, made_case *m) {
  const bool eliminated = strcmp(value, "eliminated") == 0;
  m->elasticity.clamped = eliminated ? CASE_CLAMPED_ELIMINATED : CASE_CLAMPED_IDENTITY;
  return eliminated || strcmp(value, "identity") == 0;
}

static bool set_components(const char *value, made_case *m) {
  return parse_integer(value, 2, 3, &m->reservoir.components);
}

static bool set_step(const char *value, made_case *m) {
  return parse_number(value, &m->reservoir.step) && m->reservoir.step > 0;
}

static bool set_cfl(const char *value, made_case *m) {
  return parse_number(value, &m->euler.cfl) && m->euler.cfl > 0;
}

static bool set_shell_step(const char *value, made_case *m) {
  return parse_number(value, &m->shell.step) && m->shell.step > 0;
}

/* The keys of all cases. `set` returns false if the value is wrong. */
static const struct {
  case_name name;
  const char *word;
  bool (*set)(const char *value, made_case *m);
} keys[] = {{CASE_ELASTICITY, "contrast", set_contrast},
            {CASE_ELASTICITY, "clamped", set_clamped},
            {CASE_RESERVOIR, "components", set_components},
            {CASE_RESERVOIR, "step", set_step},
            {CASE_EULER, "cfl", set_cfl},
            {CASE_SHELL, "step", set_shell_step}};

/* Applies "KEY=VALUE". Returns false unless the case has the key, and the key is given for the
 * first time, with a good value. */
static bool set_key(const char *item, size_t length, unsigned *seen, made_case *m) {
  char value[32];
  const char *equals = memchr(item, '=', length);
  if (!equals || length - (size_t)(equals + 1 - item) >= sizeof value) return false;
  memcpy(value, equals + 1, length - (size_t)(equals + 1 - item));
  value[length - (size_t)(equals + 1 - item)] = '\0';
  for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
    if (keys[i].name != m->name || !is_word(item, (size_t)(equals - item), keys[i].word)) continue;
    if (*seen >> i & 1) return false;
    *seen |= 1U << i;
    return keys[i].set(value, m);
  }
  return false;
}

static bool parse(const char *text, made_case *m) {
  size_t length = strcspn(text, ":");
  unsigned seen = 0;
  m->name = CASE_NONE;
  m->text = text;
  m->elasticity = case_elasticity_options_default();
  m->reservoir = case_reservoir_options_default();
  m->euler = case_euler_options_default();
  m->shell = case_shell_options_default();
  for (int name = CASE_CAVITY; name <= CASE_SHELL; name++)
    if (is_word(text, length, kinds[name].word)) m->name = (case_name)name;
  if (m->name == CASE_NONE) return false;
  while (text[length] == ':') {
    text += length + 1;
    length = strcspn(text, ":");
    if (!set_key(text, length, &seen, m)) return false;
  }
  return true;
}

bool made_parse(const char *text, made_case *m) {
  if (parse(text, m)) return true;
  say("--case: '%s' is not a case (cavity, convdiff, elasticity, elasticity:contrast=C with C "
      "greater than 0, elasticity:clamped=identity, elasticity:clamped=eliminated, reaction, "
      "reservoir, reservoir:components=C with C 2 or 3, reservoir:step=DAYS with DAYS greater than "
      "0, atmosphere, euler, euler:cfl=C with C greater than 0, shell, shell:step=SECONDS with "
      "SECONDS greater "
      "than 0)",
      text);
  return false;
}

bool made_parse_size(const char *text, made_case *m) {
  char copy[40];
  size_t length = strlen(text);
  if (length < sizeof copy) {
    memcpy(copy, text, length + 1);
    int count = 0;
    char *item = copy;
    while (item && count < 3) {
      char *comma = strchr(item, ',');
      if (comma) *comma = '\0';
      if (!parse_integer(item, 1, INT_MAX, &m->size[count])) break;
      count++;
      item = comma ? comma + 1 : NULL;
    }
    if (!item && count != 2) {
      m->sizes = count;
      return true;
    }
  }
  say("--size: '%s' is neither N nor N,N,N with integers of at least 1", text);
  return false;
}

bool made_check_sizes(const made_case *m) {
  if (m->sizes == 0)
    say("--case needs --size");
  else if (m->sizes != 1 && !kinds[m->name].has_three_sizes)
    say("--size: %s takes only one N", kinds[m->name].title);
  else
    return true;
  return false;
}

int made_block_size(const made_case *m) {
  return m->name == CASE_RESERVOIR ? m->reservoir.components : kinds[m->name].block_size;
}

double made_tolerance(const made_case *m) { return kinds[m->name].tolerance; }

/* Returns size number d, which is the first one if only one is given. */
static int size_of(const made_case *m, int d) { return m->size[m->sizes == 3 ? d : 0]; }

static case_elasticity_options elasticity_of(const made_case *m) {
  case_elasticity_options o = m->elasticity;
  for (int d = 0; d < 3; d++) o.nodes[d] = size_of(m, d);
  return o;
}

static case_reservoir_options reservoir_of(const made_case *m) {
  case_reservoir_options o = m->reservoir;
  for (int d = 0; d < 3; d++) o.cells[d] = size_of(m, d);
  return o;
}

static case_euler_options euler_of(const made_case *m) {
  case_euler_options o = m->euler;
  o.nodes = m->size[0];
  return o;
}

static case_shell_options shell_of(const made_case *m) {
  case_shell_options o = m->shell;
  o.nodes[0] = o.nodes[1] = m->size[0];
  return o;
}

const char *made_refusal(const made_case *m) {
  const case_elasticity_options elasticity = elasticity_of(m);
  const case_reservoir_options reservoir = reservoir_of(m);
  const case_euler_options euler = euler_of(m);
  const case_shell_options shell = shell_of(m);
  switch (m->name) {
  case CASE_CAVITY: return case_cavity_refusal(m->size[0]);
  case CASE_CONVDIFF: return case_convdiff_refusal(size_of(m, 0), size_of(m, 1), size_of(m, 2));
  case CASE_ELASTICITY: return case_elasticity_refusal(&elasticity);
  case CASE_REACTION: return case_reaction_refusal(m->size[0]);
  case CASE_RESERVOIR: return case_reservoir_refusal(&reservoir);
  case CASE_ATMOSPHERE: return case_atmosphere_refusal(size_of(m, 0), size_of(m, 1), size_of(m, 2));
  case CASE_EULER: return case_euler_refusal(&euler);
  case CASE_SHELL: return case_shell_refusal(&shell);
  default: return "no case";
  }
}

bisai_status made_make(bisai_context *context, const made_case *m, int block_size,
                       bisai_bcsr **matrix, double **rhs) {
  const case_elasticity_options elasticity = elasticity_of(m);
  const case_reservoir_options reservoir = reservoir_of(m);
  const case_euler_options euler = euler_of(m);
  const case_shell_options shell = shell_of(m);
  switch (m->name) {
  case CASE_CAVITY: return case_cavity(context, m->size[0], block_size, matrix, rhs);
  case CASE_CONVDIFF:
    return case_convdiff(context, size_of(m, 0), size_of(m, 1), size_of(m, 2), block_size, matrix,
                         rhs);
  case CASE_ELASTICITY: return case_elasticity(context, &elasticity, block_size, matrix, rhs);
  case CASE_REACTION: return case_reaction(context, m->size[0], block_size, matrix, rhs);
  case CASE_RESERVOIR: return case_reservoir(context, &reservoir, block_size, matrix, rhs);
  case CASE_ATMOSPHERE:
    return case_atmosphere(context, size_of(m, 0), size_of(m, 1), size_of(m, 2), block_size, matrix,
                           rhs);
  case CASE_EULER: return case_euler(context, &euler, block_size, matrix, rhs);
  case CASE_SHELL: return case_shell(context, &shell, block_size, matrix, rhs);
  default: return BISAI_INVALID_ARGUMENT;
  }
}

bool made_has_null_space(const made_case *m) {
  return m->name == CASE_ELASTICITY || m->name == CASE_SHELL;
}

bisai_status made_null_space(const made_case *m, int *count, double **vectors) {
  const case_elasticity_options elasticity = elasticity_of(m);
  const case_shell_options shell = shell_of(m);
  if (m->name == CASE_SHELL) {
    *count = CASE_SHELL_MODES;
    return case_shell_modes(&shell, vectors);
  }
  *count = CASE_ELASTICITY_MODES;
  return case_elasticity_modes(&elasticity, vectors);
}
