//! The two requests. Both return the sum of what they read.
use crate::database::*;
use crate::shape::ParentLookup;
use rusqlite::Result;

const SLUG: &str = "harbour-hall";

/// Runs reads and adds up what they saw.
struct Reader<'a> {
    db: &'a mut Database,
    sum: u64,
}

impl Reader<'_> {
    fn read(&mut self, statement: &Statement, values: &[&dyn rusqlite::ToSql]) -> Result<i64> {
        let row = self.db.query(statement, values)?;
        self.sum = self.sum.wrapping_add(row.sum);
        Ok(row.first)
    }
}

/// The parent lookup in the program: org by org until there is no parent.
fn walk_parent_chain(reader: &mut Reader, org: i64) -> Result<()> {
    let mut parent = org;
    while parent != 0 {
        parent = reader.read(&PARENT_OF_ORG, &[&parent])?;
    }
    Ok(())
}

pub fn admin_item_edit(db: &mut Database, item: i64) -> Result<u64> {
    let (mut left, lookup) = (db.shape.reads, db.shape.parent_lookup);
    let mut reader = Reader { db, sum: 0 };
    // The list from its start again, until as many reads are done as the shape says.
    macro_rules! read {
        ($read:expr) => {{
            if left == 0 {
                return Ok(reader.sum);
            }
            left -= 1;
            $read?
        }};
    }
    loop {
        read!(reader.read(&STAFF_BY_ID, &[&1]));
        let org = read!(reader.read(&ORG_BY_SLUG, &[&SLUG]));
        read!(reader.read(&ITEM_BY_ORG_AND_ID, &[&org, &item]));
        read!(reader.read(&COUNT_SPONSORS, &[&org]));
        read!(reader.read(&COUNT_TAGS, &[&org]));
        read!(reader.read(&COUNT_TAXES, &[&org]));
        match lookup {
            ParentLookup::Recursive => _ = read!(reader.read(&SUM_PARENT_CHAIN, &[&org])),
            ParentLookup::Application => read!(walk_parent_chain(&mut reader, org)),
        }
        read!(reader.read(&COUNT_ACTIVE_FEES, &[&403, &411, &418]));
        read!(reader.read(&COUNT_ACTIVE_PRODUCTS, &[&"ticket", &"pass"]));
        read!(reader.read(&COUNT_ADDONS, &[&item, &"item"]));
        read!(reader.read(&FEE_BY_ID, &[&1]));
        read!(reader.read(&ORG_BY_ID, &[&403]));
        read!(reader.read(&ORG_BY_ID, &[&418]));
        read!(reader.read(&PRODUCT_BY_ID, &[&1]));
        read!(reader.read(&FEE_BY_ID, &[&2]));
        read!(reader.read(&COUNT_FIELDS, &[&org]));
        read!(reader.read(&COUNT_ITEM_FIELDS, &[&item]));
        read!(reader.read(&COUNT_FIELDS, &[&org]));
        read!(reader.read(&COUNT_ACTIVE_DISCOUNTS, &[&org]));
        read!(reader.read(&COUNT_DISCOUNT_ITEMS, &[&item]));
        read!(reader.read(&COUNT_ACTIVE_DISCOUNTS, &[&org]));
        read!(reader.read(&THEME_BY_ID, &[&1]));
        read!(reader.read(&COUNT_NOTICES, &[&"SE", &"venue"]));
        read!(reader.read(&COUNT_CONFIG_ISSUES, &[&org]));
        read!(reader.read(&COUNT_ITEMS, &[&org]));
        read!(reader.read(&ITEM_REVISION, &[&item]));
    }
}

/// `i` goes into the title. After an error the transaction is rolled back.
pub fn admin_item_update(db: &mut Database, i: i64, item: i64) -> Result<u64> {
    let result = read_and_update(db, i, item);
    if result.is_err() && !db.connection.is_autocommit() {
        db.execute(&ROLLBACK, &[])?;
    }
    result
}

fn read_and_update(db: &mut Database, i: i64, item: i64) -> Result<u64> {
    db.execute(&BEGIN_IMMEDIATE, &[])?;
    let mut reader = Reader { db, sum: 0 };
    reader.read(&STAFF_BY_ID, &[&1])?;
    let org = reader.read(&ORG_BY_SLUG, &[&SLUG])?;
    reader.read(&ITEM_BY_ORG_AND_ID, &[&org, &item])?;
    reader.read(&COUNT_ADDONS, &[&item, &"item"])?;
    reader.read(&COUNT_DISCOUNT_ITEMS, &[&item])?;
    reader.read(&COUNT_TAGS, &[&org])?;
    let sum = reader.sum;
    let title = format!("Updated item {i}");
    for k in 0..db.shape.writes {
        let item = (item - 1 + k) % db.shape.items() + 1;
        db.execute(&UPDATE_ITEM, &[&title, &item])?;
    }
    db.execute(&COMMIT, &[])?;
    Ok(sum)
}
