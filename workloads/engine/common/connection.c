/* What a variant does to each new connection: built into SQLite by SQLITE_EXTRA_AUTOEXT=engine_connection. */
#include <stdlib.h>
#include <string.h>

#include "sqlite3.h"

/* ENGINE_PRAGMAS: the variant's, always. ENGINE_DEPLOYMENT: those of its use, which `--durability neutral` leaves out.
 */
int engine_connection(sqlite3* db) {
  int rc = ENGINE_PRAGMAS[0] ? sqlite3_exec(db, ENGINE_PRAGMAS, NULL, NULL, NULL) : SQLITE_OK;
  const char* durability = getenv("ENGINE_DURABILITY");
  if (rc == SQLITE_OK && ENGINE_DEPLOYMENT[0] && durability && strcmp(durability, "deployment") == 0)
    rc = sqlite3_exec(db, ENGINE_DEPLOYMENT, NULL, NULL, NULL);
  return rc;
}
