%% SPDX-License-Identifier: Apache-2.0
%% @private
%% The live page's server as a program beside the node. This process holds the port. When it ends,
%% in whatever way, or when its owner ends, the server reads the end of its input and ends too, with
%% every script that a browser is running.
-module(erltrace_web).
-behaviour(gen_server).
-export([start/2, stop/1]).
-export([init/1, handle_call/3, handle_cast/2, handle_info/2, terminate/2, code_change/3,
         format_status/1]).

-define(UP, 10000). % ms for the server to print its address

-type opts() :: #{port => inet:port_number(), bind => string(), nodes => [node()],
                  command => file:filename(), cookie_file => file:filename(),
                  token_file => file:filename(), log => file:filename(),
                  tls_cert => file:filename(), tls_key => file:filename(),
                  hosts => [string()], run_seconds => 1..3600,
                  scripts => file:filename(), pages => file:filename(), kernel => boolean()}.
-export_type([opts/0]).

-spec start(pid(), opts()) -> {ok, pid(), Url :: string()} | {error, term()}.
start(Owner, Opts) ->
    case [Opt || {Key, Value} = Opt <- maps:to_list(Opts), not is_option(Key, Value)] of
        [{Key, Value} | _] ->
            error_text("not an option of the live page: ~0tp => ~0tp", [Key, Value]);
        [] when node() =:= nonode@nohost, not is_map_key(nodes, Opts) orelse
                map_get(kernel, Opts) ->
            {error, not_alive};
        [] ->
            start_server(Owner, Opts)
    end.

start_server(Owner, Opts) ->
    case command(Opts) of
        {ok, Command} ->
            case gen_server:start(?MODULE, {Owner, Command, Opts}, []) of
                {ok, Pid} -> started(Pid);
                {error, {shutdown, Error}} -> Error;
                {error, Reason} -> {error, Reason}
            end;
        Error ->
            Error
    end.

started(Pid) ->
    try gen_server:call(Pid, url, infinity) of
        Url -> {ok, Pid, Url}
    catch
        exit:{Reason, _} -> {error, Reason} % it has ended meanwhile
    end.

is_option(port, N) -> is_integer(N);
is_option(run_seconds, N) -> is_integer(N);
is_option(kernel, On) -> is_boolean(On);
is_option(nodes, Nodes) -> is_list(Nodes) andalso lists:all(fun is_atom/1, Nodes);
is_option(hosts, Hosts) -> is_list(Hosts) andalso lists:all(fun io_lib:char_list/1, Hosts);
is_option(Key, Text) ->
    lists:member(Key, [bind, command, cookie_file, token_file, log, tls_cert, tls_key, scripts,
                       pages]) andalso io_lib:char_list(Text).

error_text(Format, Args) ->
    {error, {web, unicode:characters_to_binary(io_lib:format(Format, Args))}}.

-spec stop(pid()) -> ok.
stop(Pid) ->
    try gen_server:stop(Pid)
    catch exit:_ -> ok % it has ended already
    end.

%% The command beside this library, as built or as installed; otherwise from the path.
command(#{command := Command}) ->
    case os:find_executable(Command) of
        false -> error_text("cannot run ~ts: there is no such command", [Command]);
        File -> {ok, File}
    end;
command(_) ->
    Ebin = filename:dirname(code:which(?MODULE)),
    Beside = [filename:join([Ebin | Up] ++ ["bin", "erltrace"]) ||
                 Up <- [[".."], ["..", "..", ".."], ["..", "..", "..", ".."]]],
    case [F || F <- Beside, filelib:is_regular(F)] ++ [F || F <- [os:find_executable("erltrace")],
                                                            F =/= false] of
        [File | _] -> {ok, File};
        [] -> {error, no_command}
    end.

args(Opts) ->
    Names = [{port, "--port"}, {bind, "--bind"}, {cookie_file, "--cookie-file"},
             {token_file, "--token-file"}, {log, "--log"}, {tls_cert, "--tls-cert"},
             {tls_key, "--tls-key"}, {run_seconds, "--run-seconds"}, {scripts, "--scripts"},
             {pages, "--pages"}],
    ["--until-eof"] ++
        lists:append([[Name, text(maps:get(Key, Opts))] || {Key, Name} <- Names,
                                                           is_map_key(Key, Opts)]) ++
        lists:append([["--host", Host] || Host <- maps:get(hosts, Opts, [])]) ++
        ["--kernel=" ++ atom_to_list(node()) || maps:get(kernel, Opts, false)] ++
        lists:append([["-N", atom_to_list(N)] || N <- maps:get(nodes, Opts, [node()])]).

text(N) when is_integer(N) -> integer_to_list(N);
text(Text) -> Text.

%% ---- the process -----------------------------------------------------------------------------

-record(st, {owner :: pid(), port :: port(), url :: string()}).

-spec init({pid(), file:filename(), opts()}) -> {ok, #st{}} | {stop, {shutdown, {error, term()}}}.
init({Owner, Command, Opts}) ->
    _ = erlang:monitor(process, Owner),
    %% The server reads the cookie before it checks options: this write does not fail.
    {How, Input} = case cookie(Opts) of
                       {unknown, Cookie} -> {["--cookie-file", "-"], [Cookie, $\n]};
                       known -> {[], []}
                   end,
    Port = open_port({spawn_executable, Command},
                     [{args, ["web" | How ++ args(Opts)]}, {line, 1024}, exit_status,
                      stderr_to_stdout, hide]),
    port_command(Port, Input),
    case address(Port, erlang:monotonic_time(millisecond) + ?UP, []) of
        {ok, Url} ->
            {ok, #st{owner = Owner, port = Port, url = Url}};
        Error ->
            close(Port),
            {stop, {shutdown, Error}}
    end.

-spec handle_call(url, gen_server:from(), #st{}) -> {reply, string(), #st{}}.
handle_call(url, _, St) ->
    {reply, St#st.url, St}.

-spec handle_cast(term(), #st{}) -> {noreply, #st{}}.
handle_cast(_, St) ->
    {noreply, St}.

-spec handle_info(term(), #st{}) -> {noreply, #st{}} | {stop, term(), #st{}}.
handle_info({'DOWN', _, process, Owner, _}, #st{owner = Owner} = St) ->
    {stop, normal, St};
handle_info({Port, {exit_status, Status}}, #st{port = Port} = St) ->
    {stop, {shutdown, {web, Status}}, St};
handle_info({Port, {data, {_, Line}}}, #st{port = Port} = St) ->
    logger:info("erltrace web: ~ts", [Line]),
    {noreply, St};
handle_info(_, St) ->
    {noreply, St}.

-spec terminate(term(), #st{}) -> term().
terminate(_, #st{port = Port}) ->
    close(Port).

-spec code_change(term(), #st{}, term()) -> {ok, #st{}}.
code_change(_, St, _) ->
    {ok, St}.

%% The URL is left out: it has the token, and whoever has that may run scripts.
-spec format_status(gen_server:format_status()) -> gen_server:format_status().
format_status(#{state := #st{owner = Owner, port = Port}} = Status) ->
    Status#{state := #{owner => Owner, os_pid => erlang:port_info(Port, os_pid)}};
format_status(Status) ->
    Status.

%% A cookie that the command would not find is passed by its input, and never written to a file.
cookie(#{cookie_file := _}) ->
    known;
cookie(_) ->
    Cookie = atom_to_binary(erlang:get_cookie()),
    Home = [file:read_file(filename:join(Dir, ".erlang.cookie")) ||
               {ok, [[Dir]]} <- [init:get_argument(home)]],
    case Home of
        [{ok, Text}] when Text =:= Cookie; Text =:= <<Cookie/binary, "\n">> -> known;
        _ -> {unknown, Cookie}
    end.

%% The URL is the first line that starts with http. If the server fails, what it printed is the
%% error.
address(Port, Until, Said) ->
    receive
        {Port, {data, {_, "http" ++ _ = Url}}} -> {ok, Url};
        {Port, {data, {_, Line}}} -> address(Port, Until, [Line | Said]);
        {Port, {exit_status, _}} ->
            {error, {web, unicode:characters_to_binary(lists:join("\n", lists:reverse(Said)))}}
    after max(0, Until - erlang:monotonic_time(millisecond)) ->
        {error, timeout}
    end.

%% When this returns the server has ended.
close(Port) ->
    case erlang:port_info(Port, os_pid) of
        {os_pid, Pid} ->
            catch port_close(Port),
            gone(Pid, 400);
        undefined ->
            ok
    end.

gone(_, 0) -> ok;
gone(Pid, N) ->
    case filelib:is_dir("/proc/" ++ integer_to_list(Pid)) of
        true -> timer:sleep(5), gone(Pid, N - 1);
        false -> ok
    end.
