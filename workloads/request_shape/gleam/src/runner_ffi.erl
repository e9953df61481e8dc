%% What Gleam asks of Erlang: esqlite, clocks, the process's own statement cache, and the operating system.
-module(runner_ffi).
-export([open/1, close/1, exec/2, prepare/3, run/3, fetch_all/2, cell/1, is_autocommit/1, column_types/1, keep/2, count/2, counts/1,
         arguments/0, runner/0, versions/0, environment/1, write_out/1, write_error/1, read_line/0, halt/1, exists/1,
         delete/1, write_new/2, now_ns/0, wall_ns/0, os_pid/0, yield/0, new_counter/0, increase/1, value/1]).

%% Connections

open(Path) ->
    case esqlite3:open(binary_to_list(Path)) of
        {ok, Connection} -> {ok, Connection};
        %% Without a connection there is nothing that knows SQLite's words for it.
        {error, 14} -> {error, {sql_error, 14, <<"unable to open database file">>}};
        {error, Code} -> {error, {sql_error, Code, <<"the database cannot be opened">>}}
    end.

close(Connection) -> checked(Connection, esqlite3:close(Connection)).

exec(Connection, Sql) -> checked(Connection, esqlite3:exec(Connection, Sql)).

prepare(Connection, Sql, Persistent) ->
    case esqlite3:prepare(Connection, Sql, [{persistent, Persistent}]) of
        {ok, Statement} -> {ok, Statement};
        {error, Code} -> error_of(Connection, Code)
    end.

%% Binds, and takes the first step: the first row, or none.
run(Connection, Statement, Values) ->
    case esqlite3:bind(Statement, Values) of
        ok -> step(Connection, Statement);
        {error, Code} -> error_of(Connection, Code)
    end.

step(Connection, Statement) ->
    case esqlite3:step(Statement) of
        '$done' -> {ok, none};
        Row when is_list(Row) ->
            _ = esqlite3:reset(Statement),
            {ok, {some, cells(Row)}};
        Failed ->
            Error = error_of(Connection, case Failed of '$busy' -> 5; {error, Code} -> Code end),
            _ = esqlite3:reset(Statement),
            Error
    end.

fetch_all(Connection, Sql) ->
    case esqlite3:q(Connection, Sql) of
        {error, Code} -> error_of(Connection, Code);
        Rows -> {ok, [cells(Row) || Row <- Rows]}
    end.

cells(Row) -> [cell(Value) || Value <- Row].

cell(Value) when is_integer(Value) -> {integer, Value};
cell(Value) when is_binary(Value) -> {bytes, Value};
cell(undefined) -> null.

is_autocommit(Connection) -> esqlite3:get_autocommit(Connection).

%% As declared: esqlite reads text and blob alike as a binary.
column_types(Statement) -> esqlite3:column_decltypes(Statement).

checked(_, ok) -> {ok, nil};
checked(Connection, {error, Code}) -> error_of(Connection, Code).

error_of(Connection, Code) ->
    #{extended_errcode := Last, errmsg := Message} = esqlite3:error_info(Connection),
    {error, {sql_error, Code, case Last of Code -> Message; _ -> <<"SQLite failed">> end}}.

%% What belongs to one process

%% The process's own: made at its first use and kept. An error is not kept.
keep(Key, Make) ->
    case get(Key) of
        undefined ->
            case Make() of
                {ok, Made} = Good -> put(Key, Made), Good;
                Error -> Error
            end;
        Kept -> {ok, Kept}
    end.

count(Kind, Name) ->
    Key = {count, Kind, Name},
    put(Key, case get(Key) of undefined -> 1; N -> N + 1 end),
    nil.

counts(Kind) -> [{Name, N} || {{count, K, Name}, N} <- get(), K =:= Kind].

%% Counters that all processes share

new_counter() -> atomics:new(1, [{signed, true}]).
increase(Counter) -> atomics:add_get(Counter, 1, 1).
value(Counter) -> atomics:get(Counter, 1).

%% Operating system

arguments() -> [unicode:characters_to_binary(Word) || Word <- init:get_plain_arguments()].

%% As bin/ says it.
runner() ->
    {ok, [[Name] | _]} = init:get_argument(runner),
    unicode:characters_to_binary(Name).

%% Erlang/OTP, its runtime system, esqlite, and dirty I/O schedulers.
versions() ->
    {ok, Driver} = application:get_key(esqlite, vsn),
    {list_to_binary(erlang:system_info(otp_release)), list_to_binary(erlang:system_info(version)), list_to_binary(Driver),
     erlang:system_info(dirty_io_schedulers)}.

environment(Name) -> unicode:characters_to_binary(os:getenv(binary_to_list(Name), "")).

%% By a port of our own, which dies of what it cannot write; the standard one would not tell.
write_out(Text) ->
    {Pid, Monitor} = spawn_monitor(fun() -> process_flag(trap_exit, true), exit(write_whole(Text)) end),
    receive
        {'DOWN', Monitor, process, Pid, Written} -> Written =:= true
    end.

write_whole(Text) ->
    Port = open_port({fd, 0, 1}, [out, binary]),
    port_command(Port, Text) andalso wait_for(Port).

wait_for(Port) ->
    receive
        {'EXIT', Port, _} -> false
    after 0 ->
        case erlang:port_info(Port, queue_size) of
            {queue_size, 0} -> port_close(Port);
            undefined -> false;
            _ -> timer:sleep(1), wait_for(Port)
        end
    end.

write_error(Text) ->
    io:put_chars(standard_error, Text),
    nil.

read_line() ->
    case io:get_line("") of
        eof -> {error, nil};
        Line -> {ok, unicode:characters_to_binary(Line)}
    end.

halt(Code) -> erlang:halt(Code).

exists(Path) -> filelib:is_file(Path).

delete(Path) ->
    _ = file:delete(Path),
    nil.

write_new(Path, Text) ->
    case file:write_file(Path, Text, [exclusive]) of
        ok -> {ok, nil};
        {error, Reason} -> {error, unicode:characters_to_binary(file:format_error(Reason))}
    end.

now_ns() -> erlang:monotonic_time(nanosecond).
wall_ns() -> os:system_time(nanosecond).
os_pid() -> list_to_binary(os:getpid()).
yield() ->
    erlang:yield(),
    nil.
