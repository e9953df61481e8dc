//// gleam_sqlite: the request shape on esqlite, whose statements are kept by the process that uses them.

import gleam/list
import runner/concurrent
import runner/info
import runner/options.{Concurrent, Help, Histogram, Info, Run, Sequential, Trace}
import runner/point
import runner/sequential
import runner/system

pub fn main() -> Nil {
  let outcome = case options.parse(system.arguments()) {
    Error(message) -> Error(#(2, message <> "; see --help"))
    Ok(Help) -> fail_with_1(system.print(options.help()))
    Ok(Run(options)) -> {
      let ran = case options.action {
        Sequential -> sequential.run(options)
        Concurrent -> concurrent.run(options)
        Trace -> sequential.print_trace(options)
        Info -> info.print(options)
        Histogram -> point.merge_histograms()
      }
      // Also when it fails: its database is of no use to anybody.
      list.each(options.database_suffixes, fn(suffix) { system.delete(options.path <> suffix) })
      fail_with_1(ran)
    }
  }
  case outcome {
    Ok(_) -> system.halt(0)
    Error(#(code, message)) -> {
      system.print_error(system.runner() <> ": " <> message <> "\n")
      system.halt(code)
    }
  }
}

fn fail_with_1(ran: Result(Nil, String)) -> Result(Nil, #(Int, String)) {
  case ran {
    Ok(_) -> Ok(Nil)
    Error(message) -> Error(#(1, message))
  }
}
