#include "request.h"

#define SLUG "harbour-hall"

/* One read; an error ends the request. */
#define READ(statement, ...)                                 \
  do {                                                       \
    int rc_ = query(db, statement, BIND(__VA_ARGS__), &row); \
    if (rc_ != SQLITE_OK) return rc_;                        \
    *sum += row.sum;                                         \
  } while (0)

/* The same where the shape says how many there are. */
#define EDIT_READ(...)                 \
  do {                                 \
    if (left-- == 0) return SQLITE_OK; \
    READ(__VA_ARGS__);                 \
  } while (0)

/* The parent lookup in the program: org by org until there is no parent. */
static int walk_parent_chain(struct database* db, int64_t org, uint64_t* sum) {
  struct row row = {.first = org};
  while (row.first) READ(parent_of_org, number(row.first));
  return SQLITE_OK;
}

int admin_item_edit(struct database* db, int64_t item, uint64_t* sum) {
  struct row row;
  int64_t org = 0;
  int left = db->shape->reads;
  for (;;) {
    EDIT_READ(staff_by_id, number(1));
    EDIT_READ(org_by_slug, text(SLUG));
    org = row.first;
    EDIT_READ(item_by_org_and_id, number(org), number(item));
    EDIT_READ(count_sponsors, number(org));
    EDIT_READ(count_tags, number(org));
    EDIT_READ(count_taxes, number(org));
    if (db->shape->parent_lookup == LOOKUP_RECURSIVE) {
      EDIT_READ(sum_parent_chain, number(org));
    } else {
      if (left-- == 0) return SQLITE_OK;
      int rc = walk_parent_chain(db, org, sum);
      if (rc != SQLITE_OK) return rc;
    }
    EDIT_READ(count_active_fees, number(403), number(411), number(418));
    EDIT_READ(count_active_products, text("ticket"), text("pass"));
    EDIT_READ(count_addons, number(item), text("item"));
    EDIT_READ(fee_by_id, number(1));
    EDIT_READ(org_by_id, number(403));
    EDIT_READ(org_by_id, number(418));
    EDIT_READ(product_by_id, number(1));
    EDIT_READ(fee_by_id, number(2));
    EDIT_READ(count_fields, number(org));
    EDIT_READ(count_item_fields, number(item));
    EDIT_READ(count_fields, number(org));
    EDIT_READ(count_active_discounts, number(org));
    EDIT_READ(count_discount_items, number(item));
    EDIT_READ(count_active_discounts, number(org));
    EDIT_READ(theme_by_id, number(1));
    EDIT_READ(count_notices, text("SE"), text("venue"));
    EDIT_READ(count_config_issues, number(org));
    EDIT_READ(count_items, number(org));
    EDIT_READ(item_revision, number(item));
  }
}

static int read_and_update(struct database* db, int64_t i, int64_t item, uint64_t* sum) {
  struct row row;
  int rc = execute(db, begin_immediate, NONE);
  if (rc != SQLITE_OK) return rc;
  READ(staff_by_id, number(1));
  READ(org_by_slug, text(SLUG));
  int64_t org = row.first;
  READ(item_by_org_and_id, number(org), number(item));
  READ(count_addons, number(item), text("item"));
  READ(count_discount_items, number(item));
  READ(count_tags, number(org));
  char title[48];
  snprintf(title, sizeof title, "Updated item %lld", (long long)i);
  for (int k = 0; k < db->shape->writes; k++) {
    rc = execute(db, update_item, BIND(text(title), number((item - 1 + k) % item_count(db->shape) + 1)));
    if (rc != SQLITE_OK) return rc;
  }
  return execute(db, commit, NONE);
}

int admin_item_update(struct database* db, int64_t i, int64_t item, uint64_t* sum) {
  int rc = read_and_update(db, i, item, sum);
  if (rc != SQLITE_OK && !sqlite3_get_autocommit(db->handle)) {
    int undone = execute(db, rollback, NONE);
    if (undone != SQLITE_OK) return undone;
  }
  return rc;
}
