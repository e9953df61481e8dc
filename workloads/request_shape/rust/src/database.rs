//! A connection. Its statements are prepared at their first use and kept in rusqlite's cache, unless the shape wants none kept.
use crate::counts::Counts;
use crate::options::Options;
use crate::shape::{Shape, StatementCache};
use crate::Failure;
use rusqlite::types::{ToSql, ToSqlOutput, ValueRef};
use rusqlite::{Connection, ErrorCode};
use std::time::Duration;

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
    PARENT_OF_ORG "parent_of_org"
}

/// Above the number of statements, so that nothing is ever evicted.
pub const STATEMENT_CACHE_SIZE: usize = 256;
/// What rusqlite gives a connection that nobody tells otherwise (its documentation of `prepare_cached`).
pub const DRIVER_CACHE_SIZE: usize = 16;

/// What a query read: its first column as an integer, and the sum of all for the check.
pub struct Row {
    pub first: i64,
    pub sum: u64,
}

pub struct Database {
    pub connection: Connection,
    pub shape: Shape,
    pub counts: Option<Counts>,
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
            if options.shape.statement_cache == StatementCache::Fits {
                connection.set_prepared_statement_cache_capacity(STATEMENT_CACHE_SIZE);
            }
            let counts = options.statement_counts.then(Counts::new);
            Ok(Database { connection, shape: options.shape.clone(), counts, tracing: None })
        };
        open().map_err(|error: rusqlite::Error| Failure::new(&options.path, error))
    }

    pub fn wait_for_lock(&self, patience: Duration) -> Result<(), Failure> {
        self.connection.busy_timeout(patience).map_err(|error| Failure::new("busy_timeout", error))
    }

    /// A second connection to a seeded database, proved to refuse writes.
    pub fn open_query_only(options: &Options) -> Result<Self, Failure> {
        let db = Database::open(options)?;
        db.connection.execute_batch("PRAGMA query_only=ON").map_err(|error| Failure::new("query_only", error))?;
        match db.connection.execute(UPDATE_ITEM.sql, rusqlite::params!["Updated item 1", 1]) {
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::ReadOnly) => Ok(db),
            Err(error) => Err(Failure::new("query_only", error)),
            Ok(_) => Err(Failure("query_only: a write was not refused".into())),
        }
    }

    /// Gives back what it counted, if it did.
    pub fn close(self) -> Result<Option<Counts>, Failure> {
        self.connection.close().map_err(|(_, error)| Failure::new("close", error))?;
        Ok(self.counts)
    }

    /// Creates and fills the tables in one transaction.
    pub fn seed(&self) -> Result<(), Failure> {
        let scripts = || {
            self.connection.execute_batch(BEGIN_IMMEDIATE.sql)?;
            self.connection.execute_batch(&format!("PRAGMA user_version={}", self.shape.rows))?;
            self.connection.execute_batch(include_str!("../../sql/schema.sql"))?;
            if self.shape.extra_tables > 0 || self.shape.extra_indexes > 0 {
                self.connection.execute_batch(&self.extra_schema()?)?;
            }
            self.connection.execute_batch(include_str!("../../sql/seed.sql"))?;
            self.connection.execute_batch(COMMIT.sql)
        };
        scripts().map_err(|error: rusqlite::Error| Failure::new("seed", error))
    }

    /// The script that a query has written.
    fn extra_schema(&self) -> rusqlite::Result<String> {
        let values = [self.shape.extra_tables, self.shape.extra_indexes];
        self.connection.query_row(include_str!("../../sql/extra_schema.sql"), values, |row| row.get(0))
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
        let tracing = &mut self.tracing;
        let read = |prepared: &mut rusqlite::Statement| {
            prepared.query_row(values, |row| {
                if let Some(tracing) = tracing {
                    tracing.note(statement, values, Some(row))?;
                }
                Ok(Row { first: row.get_ref(0)?.as_i64_or_null()?.unwrap_or(0), sum: sum_columns(row)? })
            })
        };
        with_prepared(&self.connection, &self.shape, &mut self.counts, statement, read)
    }

    pub fn execute(&mut self, statement: &Statement, values: &[&dyn ToSql]) -> rusqlite::Result<()> {
        with_prepared(&self.connection, &self.shape, &mut self.counts, statement, |prepared| prepared.execute(values))?;
        if let Some(tracing) = &mut self.tracing {
            tracing.note(statement, values, None)?;
        }
        Ok(())
    }
}

/// Lends the statement to `run`: from rusqlite's cache, or prepared for this once.
fn with_prepared<T>(
    connection: &Connection,
    shape: &Shape,
    counts: &mut Option<Counts>,
    statement: &Statement,
    run: impl FnOnce(&mut rusqlite::Statement) -> rusqlite::Result<T>,
) -> rusqlite::Result<T> {
    let counted = |prepared: &mut rusqlite::Statement| match counts {
        Some(counts) => counts.count(statement, prepared, run),
        None => run(prepared),
    };
    match shape.statement_cache {
        StatementCache::None => counted(&mut connection.prepare(statement.sql)?),
        _ => counted(&mut *connection.prepare_cached(statement.sql)?),
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
