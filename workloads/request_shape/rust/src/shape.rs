//! What of the request shape can be changed; the flags are those of ../../sql/README.md.
use crate::options::{choice, number};

#[derive(Clone, Copy, PartialEq)]
pub enum ParentLookup {
    Recursive,
    Application,
}

#[derive(Clone, Copy, PartialEq)]
pub enum StatementCache {
    Fits,
    /// rusqlite's own, of 16 statements.
    Default,
    None,
}

#[derive(Clone, PartialEq)]
pub struct Shape {
    /// Factor on the tables that grow.
    pub rows: i64,
    pub extra_tables: i64,
    pub extra_indexes: i64,
    /// Of a request.
    pub reads: i64,
    pub writes: i64,
    pub parent_lookup: ParentLookup,
    pub statement_cache: StatementCache,
}

pub const HELP: &str = "\
  --rows F               factor on the tables that grow, 1 to 1000 (1)
  --extra-tables N       more tables, 0 to 1000 (0)
  --extra-indexes N      more indexes on what the update writes, 0 to 64 (0)
  --reads N              reads of an edit, 1 to 1000 (26)
  --writes N             updates of an update request, 1 to 1000 (1)
  --parent-lookup L      recursive, or application: org by org (recursive)
  --statement-cache C    fits, default (the driver's own) or none (fits)
";

pub const FLAGS: [&str; 7] =
    ["--rows", "--extra-tables", "--extra-indexes", "--reads", "--writes", "--parent-lookup", "--statement-cache"];

const LOOKUPS: [(&str, ParentLookup); 2] = [("recursive", ParentLookup::Recursive), ("application", ParentLookup::Application)];
const CACHES: [(&str, StatementCache); 3] =
    [("fits", StatementCache::Fits), ("default", StatementCache::Default), ("none", StatementCache::None)];

impl Default for Shape {
    fn default() -> Self {
        Shape {
            rows: 1,
            extra_tables: 0,
            extra_indexes: 0,
            reads: 26,
            writes: 1,
            parent_lookup: ParentLookup::Recursive,
            statement_cache: StatementCache::Fits,
        }
    }
}

fn name_of<T: PartialEq>(choices: &[(&'static str, T)], value: T) -> &'static str {
    choices.iter().find(|(_, choice)| *choice == value).map_or("", |(name, _)| name)
}

impl Shape {
    /// Takes one of FLAGS and its value.
    pub fn set(&mut self, flag: &str, value: &str) -> Result<(), String> {
        match flag {
            "--rows" => self.rows = number(flag, value, 1, 1000)?,
            "--extra-tables" => self.extra_tables = number(flag, value, 0, 1000)?,
            "--extra-indexes" => self.extra_indexes = number(flag, value, 0, 64)?,
            "--reads" => self.reads = number(flag, value, 1, 1000)?,
            "--writes" => self.writes = number(flag, value, 1, 1000)?,
            "--parent-lookup" => self.parent_lookup = choice(flag, value, &LOOKUPS)?,
            _ => self.statement_cache = choice(flag, value, &CACHES)?,
        }
        Ok(())
    }

    /// How many items there are: requests take them in turn.
    pub fn items(&self) -> i64 {
        100 * self.rows
    }

    /// The trace's first line; None for the default shape.
    pub fn line(&self) -> Option<String> {
        let Shape { rows, extra_tables, extra_indexes, reads, writes, .. } = self;
        let (lookup, cache) = (name_of(&LOOKUPS, self.parent_lookup), name_of(&CACHES, self.statement_cache));
        (*self != Shape::default()).then(|| {
            format!(
                "shape\trows={rows} extra_tables={extra_tables} extra_indexes={extra_indexes} reads={reads} writes={writes} \
                 parent_lookup={lookup} statement_cache={cache}"
            )
        })
    }
}
