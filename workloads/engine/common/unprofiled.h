/* Read before SQLite's source where a profile is used: the search within a page of a table stays out of it. Its comparisons go either
 * way with equal chance, so a profile has nothing to say about them; what gcc made of one mispredicted 40 % more branches and
 * made the joins of a star schema a quarter slower. */
struct BtCursor;
static int sqlite3BtreeTableMoveto(struct BtCursor *, long long, int, int *) __attribute__((no_profile_instrument_function));
