#include "request.h"

#define SLUG "harbour-hall"

/* One read; an error ends the request. */
#define READ(statement, ...)                                             \
  do {                                                                   \
    int rc_ = query(db, statement, BIND(__VA_ARGS__), &row);             \
    if (rc_ != SQLITE_OK) return rc_;                                    \
    *sum += row.sum;                                                     \
  } while (0)

int admin_item_edit(struct database *db, int64_t item, uint64_t *sum)
{
  struct row row;
  READ(staff_by_id, number(1));
  READ(org_by_slug, text(SLUG));
  int64_t org = row.first;
  READ(item_by_org_and_id, number(org), number(item));
  READ(count_sponsors, number(org));
  READ(count_tags, number(org));
  READ(count_taxes, number(org));
  READ(sum_parent_chain, number(org));
  READ(count_active_fees, number(403), number(411), number(418));
  READ(count_active_products, text("ticket"), text("pass"));
  READ(count_addons, number(item), text("item"));
  READ(fee_by_id, number(1));
  READ(org_by_id, number(403));
  READ(org_by_id, number(418));
  READ(product_by_id, number(1));
  READ(fee_by_id, number(2));
  READ(count_fields, number(org));
  READ(count_item_fields, number(item));
  READ(count_fields, number(org));
  READ(count_active_discounts, number(org));
  READ(count_discount_items, number(item));
  READ(count_active_discounts, number(org));
  READ(theme_by_id, number(1));
  READ(count_notices, text("SE"), text("venue"));
  READ(count_config_issues, number(org));
  READ(count_items, number(org));
  READ(item_revision, number(item));
  return SQLITE_OK;
}

static int read_and_update(struct database *db, int64_t i, int64_t item, uint64_t *sum)
{
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
  rc = execute(db, update_item, BIND(text(title), number(item)));
  return rc == SQLITE_OK ? execute(db, commit, NONE) : rc;
}

int admin_item_update(struct database *db, int64_t i, int64_t item, uint64_t *sum)
{
  int rc = read_and_update(db, i, item, sum);
  if (rc != SQLITE_OK && !sqlite3_get_autocommit(db->handle)) {
    int undone = execute(db, rollback, NONE);
    if (undone != SQLITE_OK) return undone;
  }
  return rc;
}
