/* A VFS over SQLite's own for unix: what a build of SQLite may change about its files without a patch to SQLite. */
#ifndef SHIM_H
#define SHIM_H

/* Makes it the default VFS. Build SQLite with -DSQLITE_EXTRA_INIT=shim_register, or call it before the first
 * connection. Returns an SQLite result code. `unused` is what sqlite3_initialize passes. */
int shim_register(const char* unused);

#endif
