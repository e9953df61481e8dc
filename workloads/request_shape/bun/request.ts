/** The two requests. Both return the sum of what they read. */
import { Check } from "./check.ts";
import type { Database, Row, StatementName, Value } from "./database.ts";
import { itemCount } from "./shape.ts";

const SLUG = "harbour-hall";

/** Runs reads and adds up what they saw. */
class Reader {
  readonly check = new Check();
  /** Which `org_by_slug` has read. */
  org = 0;
  constructor(readonly db: Database, readonly item: number) {}

  read(statement: StatementName, ...values: Value[]): Row {
    const row = this.db.query(statement, ...values);
    this.check.addRow(row);
    return row;
  }

  readOrg(): void {
    this.org = this.read("org_by_slug", SLUG).id as number;
  }

  /** The parent lookup in the program: org by org until there is no parent. */
  walkParentChain(): void {
    for (let org: number | null = this.org; org !== null; ) org = this.read("parent_of_org", org).parent_id as number | null;
  }
}

const EDIT: ((reader: Reader) => void)[] = [
  (r) => r.read("staff_by_id", 1),
  (r) => r.readOrg(),
  (r) => r.read("item_by_org_and_id", r.org, r.item),
  (r) => r.read("count_sponsors", r.org),
  (r) => r.read("count_tags", r.org),
  (r) => r.read("count_taxes", r.org),
  (r) => (r.db.shape.parent_lookup === "recursive" ? r.read("sum_parent_chain", r.org) : r.walkParentChain()),
  (r) => r.read("count_active_fees", 403, 411, 418),
  (r) => r.read("count_active_products", "ticket", "pass"),
  (r) => r.read("count_addons", r.item, "item"),
  (r) => r.read("fee_by_id", 1),
  (r) => r.read("org_by_id", 403),
  (r) => r.read("org_by_id", 418),
  (r) => r.read("product_by_id", 1),
  (r) => r.read("fee_by_id", 2),
  (r) => r.read("count_fields", r.org),
  (r) => r.read("count_item_fields", r.item),
  (r) => r.read("count_fields", r.org),
  (r) => r.read("count_active_discounts", r.org),
  (r) => r.read("count_discount_items", r.item),
  (r) => r.read("count_active_discounts", r.org),
  (r) => r.read("theme_by_id", 1),
  (r) => r.read("count_notices", "SE", "venue"),
  (r) => r.read("count_config_issues", r.org),
  (r) => r.read("count_items", r.org),
  (r) => r.read("item_revision", r.item),
];

/** The list, cut or from its start again, until as many reads are done as the shape says. */
export function adminItemEdit(db: Database, item: number): bigint {
  const reader = new Reader(db, item);
  for (let i = 0; i < db.shape.reads; i++) EDIT[i % EDIT.length]!(reader);
  return reader.check.sum;
}

/** `i` goes into the title. After an error the transaction is rolled back. */
export function adminItemUpdate(db: Database, i: number, item: number): bigint {
  try {
    return readAndUpdate(db, i, item);
  } catch (error) {
    if (db.inTransaction) db.execute("rollback");
    throw error;
  }
}

function readAndUpdate(db: Database, i: number, item: number): bigint {
  const reader = new Reader(db, item);
  db.execute("begin_immediate");
  reader.read("staff_by_id", 1);
  reader.readOrg();
  reader.read("item_by_org_and_id", reader.org, item);
  reader.read("count_addons", item, "item");
  reader.read("count_discount_items", item);
  reader.read("count_tags", reader.org);
  for (let k = 0; k < db.shape.writes; k++)
    db.execute("update_item", `Updated item ${i}`, ((item - 1 + k) % itemCount(db.shape)) + 1);
  db.execute("commit");
  return reader.check.sum;
}
