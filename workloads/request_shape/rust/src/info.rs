//! --info: what this program really is, as JSON.
use crate::database::{DRIVER_CACHE_SIZE, STATEMENT_CACHE_SIZE};
use crate::{print_line, runner, Failure};
use rusqlite::Connection;

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

pub fn print() -> Result<(), Failure> {
    let read = || {
        let connection = Connection::open_in_memory()?;
        let (version, source): (String, String) =
            connection.query_row("SELECT sqlite_version(), sqlite_source_id()", [], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let mut statement = connection.prepare("PRAGMA compile_options")?;
        let options = statement.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<Vec<String>>>()?;
        Ok((version, source, options))
    };
    let (version, source, options) = read().map_err(|error: rusqlite::Error| Failure::new("--info", error))?;
    let options: Vec<String> = options.iter().map(|option| quoted(option)).collect();
    let members = [
        ("runner", quoted(runner())),
        ("language", quoted("Rust")),
        ("language_version", quoted(option_env!("BENCHCTL_RUSTC_VERSION").unwrap_or("unknown"))),
        ("driver", quoted("rusqlite")),
        ("driver_version", quoted(option_env!("BENCHCTL_RUSQLITE_VERSION").unwrap_or("unknown"))),
        ("sqlite_version", quoted(&version)),
        ("sqlite_source_id", quoted(&source)),
        ("compile_options", format!("[{}]", options.join(","))),
        ("statement_cache_size", STATEMENT_CACHE_SIZE.to_string()),
        ("statement_cache_default", DRIVER_CACHE_SIZE.to_string()),
        ("build_flags", quoted(option_env!("BENCHCTL_BUILD_FLAGS").unwrap_or("unknown"))),
    ];
    let members: Vec<String> = members.iter().map(|(name, value)| format!("{}:{value}", quoted(name))).collect();
    print_line(&format!("{{{}}}", members.join(",")))
}
