//// --info: what this program really is, as JSON.

import gleam/int
import gleam/list
import gleam/result
import gleam/string
import runner/database
import runner/options.{type Options, Options}
import runner/sql
import runner/system

fn quoted(text: String) -> String {
  "\"" <> text |> string.replace("\\", "\\\\") |> string.replace("\"", "\\\"") <> "\""
}

pub fn print(options: Options) -> Result(Nil, String) {
  use db <- result.try(database.open(Options(..options, path: ":memory:")))
  use version <- result.try(database.read_texts(db, "SELECT sqlite_version()"))
  use source <- result.try(database.read_texts(db, "SELECT sqlite_source_id()"))
  use compile_options <- result.try(database.read_texts(db, "PRAGMA compile_options"))
  let #(otp, erts, esqlite, dirty_io) = system.versions()
  let members = [
    #("runner", quoted(system.runner())),
    #("language", quoted("Gleam")),
    #("language_version", quoted(sql.gleam_version <> ", Erlang/OTP " <> otp <> ", ERTS " <> erts)),
    #("driver", quoted("esqlite")),
    #("driver_version", quoted(esqlite)),
    #("sqlite_version", quoted(string.concat(version))),
    #("sqlite_source_id", quoted(string.concat(source))),
    #("compile_options", "[" <> string.join(list.map(compile_options, quoted), ",") <> "]"),
    #("statement_cache_size", int.to_string(list.length(sql.statements))),
    #("statement_cache_default", "null"),
    #("dirty_io_schedulers", int.to_string(dirty_io)),
    #("build_flags", quoted(sql.build_flags)),
  ]
  let members = list.map(members, fn(member) { quoted(member.0) <> ":" <> member.1 })
  system.print("{" <> string.join(members, ",") <> "}\n")
}
