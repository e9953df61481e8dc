//// The clock and the operating system.

/// The name of the arm.
@external(erlang, "runner_ffi", "runner")
pub fn runner() -> String

@external(erlang, "runner_ffi", "arguments")
pub fn arguments() -> List(String)

/// Of Erlang/OTP, of its runtime system, of esqlite; and the number of dirty I/O schedulers.
@external(erlang, "runner_ffi", "versions")
pub fn versions() -> #(String, String, String, Int)

/// Empty when it is not set.
@external(erlang, "runner_ffi", "environment")
pub fn environment(name: String) -> String

@external(erlang, "runner_ffi", "write_out")
fn write_out(text: String) -> Bool

/// Prints on standard output, at once. Output that did not arrive is a failure: a full disk must not look like a short result.
pub fn print(text: String) -> Result(Nil, String) {
  case write_out(text) {
    True -> Ok(Nil)
    False -> Error("standard output: it could not be written in full")
  }
}

@external(erlang, "runner_ffi", "write_error")
pub fn print_error(text: String) -> Nil

/// The next line of standard input with its line feed.
@external(erlang, "runner_ffi", "read_line")
pub fn read_line() -> Result(String, Nil)

@external(erlang, "runner_ffi", "halt")
pub fn halt(code: Int) -> Nil

@external(erlang, "runner_ffi", "exists")
pub fn exists(path: String) -> Bool

/// A file that is not there is as good as deleted.
@external(erlang, "runner_ffi", "delete")
pub fn delete(path: String) -> Nil

/// A file that must not be there yet; the error says why it could not be written.
@external(erlang, "runner_ffi", "write_new")
pub fn write_new(path: String, text: String) -> Result(Nil, String)

/// Monotonic, the same in every process.
@external(erlang, "runner_ffi", "now_ns")
pub fn now_ns() -> Int

@external(erlang, "runner_ffi", "wall_ns")
pub fn wall_ns() -> Int

@external(erlang, "runner_ffi", "os_pid")
pub fn os_pid() -> String

/// Lets other processes of this scheduler run.
@external(erlang, "runner_ffi", "yield")
pub fn yield() -> Nil

/// A number that processes share, from 0.
pub type Counter

@external(erlang, "runner_ffi", "new_counter")
pub fn new_counter() -> Counter

@external(erlang, "runner_ffi", "increase")
pub fn increase(counter: Counter) -> Int

@external(erlang, "runner_ffi", "value")
pub fn value(counter: Counter) -> Int
