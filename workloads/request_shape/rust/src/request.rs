//! The two requests. Both return the sum of what they read.
use crate::database::*;
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

pub fn admin_item_edit(db: &mut Database, item: i64) -> Result<u64> {
    let mut reader = Reader { db, sum: 0 };
    reader.read(&STAFF_BY_ID, &[&1])?;
    let org = reader.read(&ORG_BY_SLUG, &[&SLUG])?;
    reader.read(&ITEM_BY_ORG_AND_ID, &[&org, &item])?;
    reader.read(&COUNT_SPONSORS, &[&org])?;
    reader.read(&COUNT_TAGS, &[&org])?;
    reader.read(&COUNT_TAXES, &[&org])?;
    reader.read(&SUM_PARENT_CHAIN, &[&org])?;
    reader.read(&COUNT_ACTIVE_FEES, &[&403, &411, &418])?;
    reader.read(&COUNT_ACTIVE_PRODUCTS, &[&"ticket", &"pass"])?;
    reader.read(&COUNT_ADDONS, &[&item, &"item"])?;
    reader.read(&FEE_BY_ID, &[&1])?;
    reader.read(&ORG_BY_ID, &[&403])?;
    reader.read(&ORG_BY_ID, &[&418])?;
    reader.read(&PRODUCT_BY_ID, &[&1])?;
    reader.read(&FEE_BY_ID, &[&2])?;
    reader.read(&COUNT_FIELDS, &[&org])?;
    reader.read(&COUNT_ITEM_FIELDS, &[&item])?;
    reader.read(&COUNT_FIELDS, &[&org])?;
    reader.read(&COUNT_ACTIVE_DISCOUNTS, &[&org])?;
    reader.read(&COUNT_DISCOUNT_ITEMS, &[&item])?;
    reader.read(&COUNT_ACTIVE_DISCOUNTS, &[&org])?;
    reader.read(&THEME_BY_ID, &[&1])?;
    reader.read(&COUNT_NOTICES, &[&"SE", &"venue"])?;
    reader.read(&COUNT_CONFIG_ISSUES, &[&org])?;
    reader.read(&COUNT_ITEMS, &[&org])?;
    reader.read(&ITEM_REVISION, &[&item])?;
    Ok(reader.sum)
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
    db.execute(&UPDATE_ITEM, &[&format!("Updated item {i}"), &item])?;
    db.execute(&COMMIT, &[])?;
    Ok(sum)
}
