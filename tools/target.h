/* Places to write to, looked at before a computation that may be long. Nothing is made or emptied. */
#ifndef TOOL_TARGET_H
#define TOOL_TARGET_H

#include <stdbool.h>

/* Whether a file can be written there, or a folder is there or can be made. Says what is wrong, naming `flag`, and returns false. */
bool target_check_file(const char *flag, const char *path);
bool target_check_folder(const char *flag, const char *path);

/* Whether writing `path` leaves the file `other` (NULL: none) alone. Says so if not, naming both flags. */
bool target_check_other(const char *flag, const char *path, const char *other_flag, const char *other);

#endif
