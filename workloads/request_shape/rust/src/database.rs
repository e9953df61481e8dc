//! A connection whose statements are prepared once, at their first use, and kept in rusqlite's cache.
use crate::{options::Options, Failure};
use rusqlite::types::{ToSql, ToSqlOutput, ValueRef};
use rusqlite::{Connection, StatementStatus};

pub struct Statement {
    pub name: &'static str,
    pub sql: &'static str,
}

/// The statements of the requests; the SQL of each is the file sql/<name>.sql.
macro_rules! statements {
    ($($constant:ident $name:literal)*) => {
        $(pub const $constant: Statement = Statement {
            name: $name,
            sql: include_str!(concat!("../../sql/", $name, ".sql")).trim_ascii_end(),
        };)*
        pub const STATEMENTS: &[&Statement] = &[$(&$constant),*];
    };
}

statements! {
    BEGIN_IMMEDIATE "begin_immediate"
    COMMIT "commit"
    ROLLBACK "rollback"
    STAFF_BY_ID "staff_by_id"
    ORG_BY_SLUG "org_by_slug"
    ITEM_BY_ORG_AND_ID "item_by_org_and_id"
    COUNT_SPONSORS "count_sponsors"
    COUNT_TAGS "count_tags"
    COUNT_TAXES "count_taxes"
    SUM_PARENT_CHAIN "sum_parent_chain"
    COUNT_ACTIVE_FEES "count_active_fees"
    COUNT_ACTIVE_PRODUCTS "count_active_products"
    COUNT_ADDONS "count_addons"
    FEE_BY_ID "fee_by_id"
    ORG_BY_ID "org_by_id"
    PRODUCT_BY_ID "product_by_id"
    COUNT_FIELDS "count_fields"
    COUNT_ITEM_FIELDS "count_item_fields"
    COUNT_ACTIVE_DISCOUNTS "count_active_discounts"
    COUNT_DISCOUNT_ITEMS "count_discount_items"
    THEME_BY_ID "theme_by_id"
    COUNT_NOTICES "count_notices"
    COUNT_CONFIG_ISSUES "count_config_issues"
    COUNT_ITEMS "count_items"
    ITEM_REVISION "item_revision"
    UPDATE_ITEM "update_item"
}

/// Above the number of statements, so that nothing is ever evicted (rusqlite's default is 16).
pub const STATEMENT_CACHE_SIZE: usize = 256;

/// What a query read: its first column as an integer, and the sum of all for the check.
pub struct Row {
    pub first: i64,
    pub sum: u64,
}

pub struct Database {
    pub connection: Connection,
    tracing: Option<Tracing>,
}

struct Tracing {
    request: &'static str,
    lines: Vec<String>,
}

impl Database {
    pub fn open(options: &Options) -> Result<Self, Failure> {
        let open = || {
            let connection = Connection::open(&options.path)?;
            connection.execute_batch(include_str!("../../sql/pragmas.sql"))?;
            if let Some(timeout) = options.busy_timeout {
                connection.busy_timeout(timeout)?;
            }
            connection.set_prepared_statement_cache_capacity(STATEMENT_CACHE_SIZE);
            Ok(Database { connection, tracing: None })
        };
        open().map_err(|error: rusqlite::Error| Failure::new(&options.path, error))
    }

    pub fn close(self) -> Result<(), Failure> {
        self.connection.close().map_err(|(_, error)| Failure::new("close", error))
    }

    /// Creates and fills the tables in one transaction.
    pub fn seed(&self) -> Result<(), Failure> {
        let scripts = [BEGIN_IMMEDIATE.sql, include_str!("../../sql/schema.sql"), include_str!("../../sql/seed.sql"), COMMIT.sql];
        scripts
            .into_iter()
            .try_for_each(|script| self.connection.execute_batch(script))
            .map_err(|error| Failure::new("seed", error))
    }

    /// The check sum of every row of every table.
    pub fn sum_every_row(&self) -> rusqlite::Result<u64> {
        let mut sum = 0u64;
        for sql in include_str!("../../sql/every_row.sql").lines() {
            let mut statement = self.connection.prepare(sql)?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                sum = sum.wrapping_add(sum_columns(row)?);
            }
        }
        Ok(sum)
    }

    /// From now on every executed statement is noted, until `traced` takes the notes.
    pub fn trace(&mut self, request: &'static str) {
        self.tracing = Some(Tracing { request, lines: Vec::new() });
    }

    pub fn traced(&mut self) -> Vec<String> {
        self.tracing.take().map_or(Vec::new(), |tracing| tracing.lines)
    }

    /// Reads the first row; an error when there is none.
    pub fn query(&mut self, statement: &Statement, values: &[&dyn ToSql]) -> rusqlite::Result<Row> {
        let mut prepared = self.connection.prepare_cached(statement.sql)?;
        let tracing = &mut self.tracing;
        prepared.query_row(values, |row| {
            if let Some(tracing) = tracing {
                tracing.note(statement, values, Some(row))?;
            }
            Ok(Row { first: row.get_ref(0)?.as_i64_or_null()?.unwrap_or(0), sum: sum_columns(row)? })
        })
    }

    pub fn execute(&mut self, statement: &Statement, values: &[&dyn ToSql]) -> rusqlite::Result<()> {
        self.connection.prepare_cached(statement.sql)?.execute(values)?;
        if let Some(tracing) = &mut self.tracing {
            tracing.note(statement, values, None)?;
        }
        Ok(())
    }

    /// How often each statement was run and prepared again, one line each, on standard error.
    pub fn print_statement_counts(&self) -> rusqlite::Result<()> {
        for statement in STATEMENTS {
            let prepared = self.connection.prepare_cached(statement.sql)?;
            let runs = prepared.get_status(StatementStatus::Run);
            if runs > 0 {
                let prepared_again = prepared.get_status(StatementStatus::RePrepare);
                eprintln!("{} runs={runs} prepared_again={prepared_again}", statement.name);
            }
        }
        Ok(())
    }
}

fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}

fn sum_columns(row: &rusqlite::Row) -> rusqlite::Result<u64> {
    let mut sum = 0u64;
    for i in 0..row.as_ref().column_count() {
        sum = sum.wrapping_add(match row.get_ref(i)? {
            ValueRef::Null | ValueRef::Real(_) => 0,
            ValueRef::Integer(value) => value as u64,
            ValueRef::Text(bytes) | ValueRef::Blob(bytes) => fnv1a(bytes),
        });
    }
    Ok(sum)
}

impl Tracing {
    fn note(&mut self, statement: &Statement, values: &[&dyn ToSql], row: Option<&rusqlite::Row>) -> rusqlite::Result<()> {
        let mut bound = Vec::new();
        for value in values {
            bound.push(match value.to_sql()? {
                ToSqlOutput::Borrowed(value) => literal(value),
                ToSqlOutput::Owned(value) => literal((&value).into()),
                _ => unreachable!("requests bind numbers and texts only"),
            });
        }
        let mut read = Vec::new();
        if let Some(row) = row {
            for i in 0..row.as_ref().column_count() {
                read.push(literal(row.get_ref(i)?));
            }
        }
        let or_dash = |parts: Vec<String>| if parts.is_empty() { "-".into() } else { parts.join(", ") };
        let (request, step) = (self.request, self.lines.len() + 1);
        let Statement { name, sql } = statement;
        self.lines.push(format!("{request}\t{step}\t{name}\t{sql}\t{}\t{}", or_dash(bound), or_dash(read)));
        Ok(())
    }
}

fn literal(value: ValueRef) -> String {
    match value {
        ValueRef::Null | ValueRef::Real(_) => "NULL".into(),
        ValueRef::Integer(value) => value.to_string(),
        ValueRef::Text(bytes) => format!("'{}'", String::from_utf8_lossy(bytes).replace('\'', "''")),
        ValueRef::Blob(bytes) => format!("X'{}'", bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>()),
    }
}
