//// The two requests. Both return the sum of what they read.

import gleam/int
import gleam/result
import runner/check.{type Check}
import runner/database.{type Database, type SqlError, type Value, int, text}
import runner/shape.{Application, Recursive}
import runner/sql.{type Statement}

const slug = "harbour-hall"

/// Runs reads and adds up what they saw. `org` is what org_by_slug has read.
type Reader {
  Reader(db: Database, item: Int, org: Int, sum: Check)
}

fn read(reader: Reader, statement: Statement, values: List(Value)) -> Result(Reader, SqlError) {
  use row <- result.map(database.query(reader.db, statement, values))
  Reader(..reader, sum: check.add_row(reader.sum, row))
}

fn read_org(reader: Reader) -> Result(Reader, SqlError) {
  use row <- result.map(database.query(reader.db, sql.org_by_slug, [text(slug)]))
  Reader(..reader, org: check.first(row), sum: check.add_row(reader.sum, row))
}

fn read_parents(reader: Reader) -> Result(Reader, SqlError) {
  case reader.db.shape.parent_lookup {
    Recursive -> read(reader, sql.sum_parent_chain, [int(reader.org)])
    Application -> walk_parent_chain(reader, reader.org)
  }
}

/// The parent lookup in the program: org by org until there is no parent.
fn walk_parent_chain(reader: Reader, org: Int) -> Result(Reader, SqlError) {
  use row <- result.try(database.query(reader.db, sql.parent_of_org, [int(org)]))
  let reader = Reader(..reader, sum: check.add_row(reader.sum, row))
  case check.first(row) {
    0 -> Ok(reader)
    parent -> walk_parent_chain(reader, parent)
  }
}

fn edit_reads() -> List(fn(Reader) -> Result(Reader, SqlError)) {
  [
    fn(r) { read(r, sql.staff_by_id, [int(1)]) },
    read_org,
    fn(r) { read(r, sql.item_by_org_and_id, [int(r.org), int(r.item)]) },
    fn(r) { read(r, sql.count_sponsors, [int(r.org)]) },
    fn(r) { read(r, sql.count_tags, [int(r.org)]) },
    fn(r) { read(r, sql.count_taxes, [int(r.org)]) },
    read_parents,
    fn(r) { read(r, sql.count_active_fees, [int(403), int(411), int(418)]) },
    fn(r) { read(r, sql.count_active_products, [text("ticket"), text("pass")]) },
    fn(r) { read(r, sql.count_addons, [int(r.item), text("item")]) },
    fn(r) { read(r, sql.fee_by_id, [int(1)]) },
    fn(r) { read(r, sql.org_by_id, [int(403)]) },
    fn(r) { read(r, sql.org_by_id, [int(418)]) },
    fn(r) { read(r, sql.product_by_id, [int(1)]) },
    fn(r) { read(r, sql.fee_by_id, [int(2)]) },
    fn(r) { read(r, sql.count_fields, [int(r.org)]) },
    fn(r) { read(r, sql.count_item_fields, [int(r.item)]) },
    fn(r) { read(r, sql.count_fields, [int(r.org)]) },
    fn(r) { read(r, sql.count_active_discounts, [int(r.org)]) },
    fn(r) { read(r, sql.count_discount_items, [int(r.item)]) },
    fn(r) { read(r, sql.count_active_discounts, [int(r.org)]) },
    fn(r) { read(r, sql.theme_by_id, [int(1)]) },
    fn(r) { read(r, sql.count_notices, [text("SE"), text("venue")]) },
    fn(r) { read(r, sql.count_config_issues, [int(r.org)]) },
    fn(r) { read(r, sql.count_items, [int(r.org)]) },
    fn(r) { read(r, sql.item_revision, [int(r.item)]) },
  ]
}

pub fn admin_item_edit(db: Database, item: Int) -> Result(Check, SqlError) {
  run_reads([], db.shape.reads, Reader(db, item, 0, check.new()))
}

/// The list, cut or from its start again, until as many reads are done as the shape says.
fn run_reads(
  reads: List(fn(Reader) -> Result(Reader, SqlError)),
  left: Int,
  reader: Reader,
) -> Result(Check, SqlError) {
  case left, reads {
    0, _ -> Ok(reader.sum)
    _, [] -> run_reads(edit_reads(), left, reader)
    _, [next, ..rest] ->
      case next(reader) {
        Ok(reader) -> run_reads(rest, left - 1, reader)
        Error(error) -> Error(error)
      }
  }
}

/// `i` goes into the title. After an error the transaction is rolled back.
pub fn admin_item_update(db: Database, i: Int, item: Int) -> Result(Check, SqlError) {
  let updated = read_and_update(db, i, item)
  case updated {
    Ok(_) -> updated
    Error(_) ->
      case database.in_transaction(db) {
        True -> database.execute(db, sql.rollback, []) |> result.try(fn(_) { updated })
        False -> updated
      }
  }
}

fn read_and_update(db: Database, i: Int, item: Int) -> Result(Check, SqlError) {
  use _ <- result.try(database.execute(db, sql.begin_immediate, []))
  let r = Reader(db, item, 0, check.new())
  use r <- result.try(read(r, sql.staff_by_id, [int(1)]))
  use r <- result.try(read_org(r))
  use r <- result.try(read(r, sql.item_by_org_and_id, [int(r.org), int(item)]))
  use r <- result.try(read(r, sql.count_addons, [int(item), text("item")]))
  use r <- result.try(read(r, sql.count_discount_items, [int(item)]))
  use r <- result.try(read(r, sql.count_tags, [int(r.org)]))
  use _ <- result.try(write(db, "Updated item " <> int.to_string(i), item, 0))
  use _ <- result.map(database.execute(db, sql.commit, []))
  r.sum
}

/// The k-th and further updates of the request.
fn write(db: Database, title: String, item: Int, k: Int) -> Result(Nil, SqlError) {
  case k < db.shape.writes {
    False -> Ok(Nil)
    True -> {
      let target = { item - 1 + k } % shape.item_count(db.shape) + 1
      use _ <- result.try(database.execute(db, sql.update_item, [text(title), int(target)]))
      write(db, title, item, k + 1)
    }
  }
}
