#!/usr/bin/env escript
%% release.escript SHIPMENT OUT: a release of the shipment's applications, the two of Erlang that they need, and the runtime
%% system of the Erlang that runs this.
main([Shipment, Out]) ->
    ok = file:set_cwd(Shipment),
    ok = code:add_pathsa(filelib:wildcard(Shipment ++ "/*/ebin")),
    Applications = [kernel, stdlib, gleam_stdlib, gleam_erlang, esqlite, gleam_sqlite],
    Release = {release, {"gleam_sqlite", "1.0.0"}, {erts, erlang:system_info(version)},
               [{Name, version(Name)} || Name <- Applications]},
    ok = file:write_file("gleam_sqlite.rel", io_lib:format("~p.~n", [Release])),
    Options = [{path, code:get_path()}, no_warn_sasl],
    ok = systools:make_script("gleam_sqlite", [no_dot_erlang | Options]),
    ok = systools:make_tar("gleam_sqlite", [{erts, code:root_dir()} | Options]),
    ok = erl_tar:extract("gleam_sqlite.tar.gz", [compressed, {cwd, Out}]).

version(Name) ->
    ok = case application:load(Name) of {error, {already_loaded, _}} -> ok; Loaded -> Loaded end,
    {ok, Version} = application:get_key(Name, vsn),
    Version.
