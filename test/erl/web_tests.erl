%% SPDX-License-Identifier: Apache-2.0
%% erltrace:web/1: the live page's server beside a node. What it serves: web_test.sh.
-module(web_tests).
-include_lib("eunit/include/eunit.hrl").
-include_lib("kernel/include/file.hrl").

%% The page itself is not needed for these: one of our own.
pages() ->
    Dir = filename:join(os:getenv("TMPDIR", "/tmp"), "erltrace-pages-" ++ os:getpid()),
    ok = filelib:ensure_dir(filename:join(Dir, "x")),
    ok = file:write_file(filename:join(Dir, "index.html"), "page"),
    Dir.

%% The command, told of that page.
command(Dir) ->
    {ok, Cwd} = file:get_cwd(),
    Bin = filename:absname(filename:join(os:getenv("BIN", "bin"), "erltrace"), Cwd),
    File = filename:join(Dir, "erltrace"),
    ok = file:write_file(File, ["#!/bin/sh\nexec ", Bin, " \"$@\" --pages ", Dir, "\n"]),
    ok = file:change_mode(File, 8#700),
    File.

has_web() ->
    {ok, Cwd} = file:get_cwd(),
    Bin = filename:absname(filename:join(os:getenv("BIN", "bin"), "erltrace"), Cwd),
    string:find(os:cmd(Bin ++ " web --help 2>&1"), "--port") =/= nomatch.

web_test_() ->
    case has_web() of
        false -> [];
        true ->
            {setup, fun() -> Dir = pages(), {Dir, command(Dir)} end,
             fun({Dir, _}) -> file:del_dir_r(Dir) end,
             fun({_, Command}) ->
                     [{timeout, 60, {Name, fun() -> Fun(#{command => Command, port => 0,
                                                          nodes => [a@b]}) end}} ||
                         {Name, Fun} <- [{"stopped", fun stopped/1}, {"owner", fun owner/1},
                                         {"killed", fun killed/1}, {"fails", fun fails/1},
                                         {"cookie", fun cookie/1},
                                         {"options", fun options/1}, {"lost", fun lost/1},
                                         {"token", fun token/1}]]
             end}
    end.

open(Opts) ->
    {ok, Pid, Url} = erltrace:web(Opts),
    ?assertMatch({status, Pid, {module, gen_server}, _}, sys:get_status(Pid)),
    ?assertMatch({match, _}, re:run(Url, "^http://127\\.0\\.0\\.1:[0-9]+/#token=[0-9a-f]{64}$")),
    {match, [Port]} = re:run(Url, ":([0-9]+)/", [{capture, [1], list}]),
    {Pid, list_to_integer(Port)}.

page(Port) ->
    case gen_tcp:connect({127, 0, 0, 1}, Port, [{active, false}, binary]) of
        {ok, S} ->
            ok = gen_tcp:send(S, ["GET / HTTP/1.1\r\nHost: 127.0.0.1:", integer_to_list(Port),
                                  "\r\n\r\n"]),
            Answer = gen_tcp:recv(S, 0),
            gen_tcp:close(S),
            case Answer of
                {ok, <<"HTTP/1.1 ", Status:3/binary, _/binary>>} -> Status;
                {error, Reason} -> Reason
            end;
        {error, Reason} ->
            Reason
    end.

stopped(Opts) ->
    {Pid, Port} = open(Opts),
    ?assertEqual(<<"200">>, page(Port)),
    ok = erltrace:web_stop(Pid),
    ?assertEqual(econnrefused, page(Port)),
    ok = erltrace:web_stop(Pid).

owner(Opts) ->
    Self = self(),
    {Owner, Mon} = spawn_monitor(fun() -> Self ! {self(), open(Opts)}, receive go -> ok end end),
    {Pid, Port} = receive {Owner, Opened} -> Opened end,
    ?assertEqual(<<"200">>, page(Port)),
    Web = erlang:monitor(process, Pid),
    exit(Owner, kill),
    receive {'DOWN', Mon, process, Owner, _} -> ok end,
    receive {'DOWN', Web, process, Pid, _} -> ok end,
    ?assertEqual(econnrefused, page(Port)).

%% Without a chance to say anything: the server sees its input end.
killed(Opts) ->
    {Pid, Port} = open(Opts),
    exit(Pid, kill),
    ?assertEqual(econnrefused, until(econnrefused, Port, 2400)).

until(What, Port, N) ->
    case page(Port) of
        What -> What;
        Other when N =:= 0 -> Other;
        _ -> receive after 25 -> ok end, until(What, Port, N - 1)
    end.

fails(Opts) ->
    {Pid, Port} = open(Opts),
    {error, {web, Text}} = Error = erltrace:web(Opts#{port => Port}),
    ?assertMatch({match, _}, re:run(Text, "cannot listen")),
    ?assertEqual(Text, iolist_to_binary(erltrace:format_error(Error))),
    {error, {web, Tls}} = erltrace:web(Opts#{bind => "0.0.0.0"}),
    ?assertMatch({match, _}, re:run(Tls, "without TLS")),
    ?assertEqual({error, not_alive}, erltrace:web(maps:remove(nodes, Opts))),
    ok = erltrace:web_stop(Pid).

%% A cookie that is in no file of the user's is in none afterwards, nor on the way: there is not even
%% a folder for one. (It was in one that all could read, for a moment.) The server holds it where the
%% commands that it starts, and nobody but their user, can read it.
cookie(Opts) ->
    Tmp = os:getenv("TMPDIR", "/tmp"),
    os:putenv("TMPDIR", "/nosuch/folder"),
    {Pid, _} = try open(Opts) after os:putenv("TMPDIR", Tmp) end,
    [{os_pid, Server}] = [I || P <- erlang:ports(), {connected, Pid} =:= erlang:port_info(P, connected),
                               I <- [erlang:port_info(P, os_pid)]],
    Fds = filelib:wildcard(io_lib:format("/proc/~b/fd/*", [Server])),
    case [Fd || Fd <- Fds, file:read_link(Fd) =:= {ok, "/memfd:cookie (deleted)"}] of
        [Fd] ->
            ?assertEqual({ok, atom_to_binary(erlang:get_cookie())}, file:read_file(Fd)),
            {ok, #file_info{mode = Mode}} = file:read_file_info(Fd),
            ?assertEqual(8#600, Mode band 8#777);
        [] -> % it is the user's own
            {ok, [[Home]]} = init:get_argument(home),
            {ok, Text} = file:read_file(filename:join(Home, ".erlang.cookie")),
            ?assertEqual(atom_to_list(erlang:get_cookie()),
                         string:trim(binary_to_list(Text), trailing, "\n"))
    end,
    exit(Pid, kill).

%% What is no option, or not of its kind, is said, and nothing is started.
options(Opts) ->
    Error = fun(More) ->
                    {error, {web, Text}} = Error = erltrace:web(maps:merge(Opts, More)),
                    ?assertEqual(Text, iolist_to_binary(erltrace:format_error(Error))),
                    binary_to_list(Text)
            end,
    ?assertEqual("not an option of the live page: prot => 1", Error(#{prot => 1})),
    ?assertEqual("not an option of the live page: port => \"1\"", Error(#{port => "1"})),
    ?assertEqual("not an option of the live page: nodes => a@b", Error(#{nodes => a@b})),
    ?assertEqual("not an option of the live page: bind => {127,0,0,1}",
                 Error(#{bind => {127, 0, 0, 1}})),
    ?assertMatch({match, _}, re:run(Error(#{port => 65536}), "not a port: 65536")),
    ?assertMatch({match, _}, re:run(Error(#{bind => "nowhere"}), "takes an address")),
    ?assertMatch({match, _}, re:run(Error(#{run_seconds => 3601}), "1 to 3600 seconds")),
    ?assertMatch({match, _}, re:run(Error(#{tls_cert => "x"}), "--tls-key")),
    ?assertMatch({match, _}, re:run(Error(#{log => "/nosuch/log"}), "cannot open the log")),
    ?assertEqual("cannot run /nosuch: there is no such command", Error(#{command => "/nosuch"})).

%% The server is killed: who watches it is told.
lost(Opts) ->
    {Pid, Port} = open(Opts),
    Mon = erlang:monitor(process, Pid),
    [P] = [P || P <- erlang:ports(), erlang:port_info(P, connected) =:= {connected, Pid}],
    {os_pid, Server} = erlang:port_info(P, os_pid),
    [] = os:cmd("kill -9 " ++ integer_to_list(Server)),
    receive {'DOWN', Mon, process, Pid, Reason} -> ?assertEqual({shutdown, {web, 137}}, Reason) end,
    ?assertEqual(econnrefused, page(Port)),
    ok = erltrace:web_stop(Pid).

%% A token that stays, in a file that only its owner can read; it is not in the address then.
token(#{command := Command} = Opts) ->
    File = filename:join(filename:dirname(Command), "token"),
    Log = filename:join(filename:dirname(Command), "log"),
    {ok, Pid, Url} = erltrace:web(Opts#{token_file => File, log => Log, run_seconds => 10,
                                        hosts => ["here.example"]}),
    ?assertMatch({match, _}, re:run(Url, ["^http://here\\.example:[0-9]+/#token=\\(in ", File,
                                          "\\)$"])),
    ok = erltrace:web_stop(Pid),
    {ok, Token} = file:read_file(File),
    ?assertMatch({match, _}, re:run(Token, "^[0-9a-f]{64}$")),
    ?assertEqual({ok, <<>>}, file:read_file(Log)).
