%% SPDX-License-Identifier: Apache-2.0
%% @private
%% The command's end inside a node. bin/erltrace connects as a hidden C node, has start/2 called
%% and talks with two processes:
%%
%% The worker owns the handle: it compiles, starts, and sends what the script prints, one batch at
%% a time: the next one is made when the command has asked for it, so that a slow reader costs no
%% memory here. It is `sensitive': a script never sees it.
%%
%% The guard watches both. When the command goes away, by any death, it kills the worker, and with
%% it goes the handle. When the worker has ended it takes out what the command brought, if no
%% other command uses it, tells that all is done, and ends.
%%
%% To the command: `{matched, {N, ..}}', `{failed, {Script, {Tag, Line, Column, Text}}}', `{batch,
%% [{text | err, Binary}]}', `{rows, [Probe]}', `{done, ExitCode}' (-1: not by exit()). From it:
%% `go', `more', `stop'.
-module(erltrace_agent).
-export([start/2, guard/2, work/3]).

-type spec() :: [{settings, [{binary(), binary()}]}
               | {scripts, [{clause | file, Name :: binary(), Text :: binary()}]}
               | {args, [binary()]}
               | {list | json | terminal | zero, true}
               | {target, integer()}].

-define(POLL, 10).          % ms between two looks at what there is
-define(SILENCE, 30000).    % ms without a sign of the command: it does not read any more
-define(APP, erltrace).

%% @doc Called by the command. Its pid, and what to do.
-spec start(pid(), spec()) -> {ok, pid()}.
start(Command, Spec) ->
    Guard = spawn(?MODULE, guard, [Command, Spec]),
    locked(fun() ->
                   application:set_env(?APP, agents, [Guard | agents()])
           end),
    {ok, Guard}.

%% ---- the guard ------------------------------------------------------------------------------

%% @private
-spec guard(pid(), spec()) -> term().
guard(Command, Spec) ->
    process_flag(sensitive, true),
    erlang:monitor_node(node(Command), true),
    {Worker, Mon} = spawn_monitor(?MODULE, work, [Command, self(), Spec]),
    watch(Command, Worker, Mon, undefined).

watch(Command, Worker, Mon, Handle) ->
    receive
        {handle, Pid} ->
            watch(Command, Worker, Mon, erlang:monitor(process, Pid));
        {nodedown, Node} when Node =:= node(Command) ->
            exit(Worker, kill),
            watch(Command, Worker, Mon, Handle);
        {'DOWN', Mon, process, Worker, Reason} ->
            handle_gone(Handle),
            leave(Command, ended(Reason));
        {'DOWN', Handle, process, _, _} ->
            watch(Command, Worker, Mon, undefined);
        Word when is_atom(Word) ->
            Worker ! Word,
            watch(Command, Worker, Mon, Handle);
        _ ->
            watch(Command, Worker, Mon, Handle)
    end.

ended({done, Code}) -> [{done, Code}];
ended(killed) -> [{done, 1}];
ended(Reason) ->
    Text = unicode:characters_to_binary(io_lib:format("the agent failed: ~0P", [Reason, 30])),
    [{failed, {-1, {<<"ET_AGENT">>, 0, 0, Text}}}, {done, 1}].

%% The handle ends with its owner; what it armed is off before it ends.
handle_gone(undefined) -> ok;
handle_gone(Mon) -> receive {'DOWN', Mon, process, _, _} -> ok after 10000 -> ok end.

%% The last act is a tail call: nothing of this module is on the stack while it is purged.
leave(Command, Messages) ->
    Brought = locked(fun take_out/0),
    [tell(Command, M) || M <- Messages],
    case Brought of
        true -> code:purge(?MODULE);
        false -> ok
    end.

take_out() ->
    Others = [P || P <- agents(), P =/= self()],
    case {Others, application:get_env(?APP, brought)} of
        {[], {ok, Modules}} ->
            [code:purge(M) || M <- Modules, M =/= ?MODULE, code:delete(M)],
            [application:unset_env(?APP, K) || K <- [agents, brought, library]],
            code:delete(?MODULE);
        {[], undefined} ->
            application:unset_env(?APP, agents),
            false;
        _ ->
            application:set_env(?APP, agents, Others),
            false
    end.

agents() ->
    [P || P <- application:get_env(?APP, agents, []), is_process_alive(P)].

locked(Fun) ->
    global:trans({?MODULE, self()}, Fun, [node()]).

%% ---- the worker -----------------------------------------------------------------------------

%% @private
-spec work(pid(), pid(), spec()) -> no_return().
work(Command, Guard, Spec) ->
    process_flag(sensitive, true),
    case erltrace_handle:start(self()) of
        {ok, H} ->
            Guard ! {handle, H},
            Code = prepare(Command, H, Spec),
            erltrace_handle:close(H),
            exit({done, Code});
        {error, Reason} ->
            exit(failed(Command, -1, Reason))
    end.

prepare(Command, H, Spec) ->
    case settings(H, proplists:get_value(settings, Spec, [])) of
        ok ->
            target(H, proplists:get_value(target, Spec)),
            case proplists:get_bool(list, Spec) of
                false -> script(Command, H, Spec);
                true -> list(Command, H, Spec)
            end;
        {error, Reason} ->
            failed(Command, -1, Reason)
    end.

settings(_, []) -> ok;
settings(H, [{Name, Value} | Rest]) ->
    case erltrace_handle:call(H, {setopt, Name, Value}) of
        ok -> settings(H, Rest);
        Error -> Error
    end.

target(_, undefined) -> ok;
target(H, Pid) -> erltrace_handle:call(H, {target, Pid}).

script(Command, H, Spec) ->
    Args = proplists:get_value(args, Spec, []),
    case compile(H, proplists:get_value(scripts, Spec, []), Args, 0, []) of
        {ok, Matched} ->
            tell(Command, {matched, list_to_tuple(Matched)}),
            receive
                go -> go(Command, H, form(Spec));
                stop -> -1
            end;
        {error, Index, Reason} ->
            failed(Command, Index, Reason)
    end.

compile(_, [], _, _, Matched) -> {ok, lists:reverse(Matched)};
compile(H, [Script | Rest], Args, Index, Matched) ->
    case compile(H, Script, Args) of
        ok -> compile(H, Rest, Args, Index + 1, [erltrace_handle:call(H, info) | Matched]);
        {error, Reason} -> {error, Index, Reason}
    end.

compile(H, {clause, _, Text}, Args) ->
    erltrace_handle:call(H, {compile, Text, Args, [default_action]});
compile(H, {file, Name, Text}, Args) ->
    erltrace_handle:call(H, {compile, Text, Args, [{file, Name}]}).

%% How results are wanted.
form(Spec) ->
    case {proplists:get_bool(json, Spec), proplists:get_bool(terminal, Spec)} of
        {true, _} -> json;
        {_, true} -> terminal;
        _ -> text
    end.

go(Command, H, Form) ->
    case erltrace_handle:call(H, go) of
        ok -> run(Command, H, Form);
        {error, Reason} -> failed(Command, -1, Reason)
    end.

run(Command, H, Form) ->
    case erltrace_handle:call(H, {work, Form}) of
        {error, Reason} ->
            failed(Command, -1, Reason);
        {Status, Items} ->
            case {give(Command, {batch, [item(I) || I <- Items]}), Status} of
                {silent, _} ->
                    Text = <<"Abort due to systemic unresponsiveness">>,
                    failed(Command, -1, {dtrace, <<"ET_SILENCE">>, 0, 0, Text});
                {_, done} ->
                    exit_code(erltrace_handle:call(H, status));
                {stop, ok} ->
                    stop(H),
                    run(Command, H, Form);
                {more, ok} ->
                    receive stop -> stop(H) after ?POLL -> ok end,
                    run(Command, H, Form)
            end
    end.

stop(H) ->
    erltrace_handle:call(H, stop).

exit_code({exited, Code}) -> Code;
exit_code(_) -> -1.

%% A batch, and the command's answer to it.
give(_, {_, []}) -> more;
give(Command, Message) ->
    tell(Command, Message),
    receive
        more -> more;
        stop -> receive more -> stop after ?SILENCE -> silent end
    after ?SILENCE ->
        silent
    end.

item({text, _} = Text) -> Text;
item({drop, _Kind, _N, Message}) -> {err, Message};
item({warning, Message}) -> {err, Message};
item({fault, Message}) -> {err, Message}.

%% Never connects anew: a command that has gone is not looked for.
tell(Command, Message) ->
    erlang:send(Command, Message, [noconnect]).

failed(Command, Index, {dtrace, Tag, Line, Column, Text}) ->
    tell(Command, {failed, {Index, {Tag, Line, Column, Text}}}),
    1;
failed(Command, Index, Reason) ->
    Text = unicode:characters_to_binary(io_lib:format("~0P", [Reason, 30])),
    failed(Command, Index, {dtrace, <<"ET_AGENT">>, 0, 0, Text}).

%% ---- the list -------------------------------------------------------------------------------

list(Command, H, Spec) ->
    case proplists:get_value(scripts, Spec, []) of
        [] -> rows(Command, H, -1, <<>>, true);
        Scripts -> list(Command, H, Scripts, Spec, 0, -1)
    end.

list(_, _, [], _, _, Code) -> Code;
list(Command, H, [{clause, _, Text} | Rest], Spec, Index, Code) ->
    Zero = proplists:get_bool(zero, Spec),
    Codes = [rows(Command, H, Index, D, Zero) ||
                D <- binary:split(Text, [<<",">>, <<" ">>, <<"\n">>], [global, trim_all])],
    list(Command, H, Rest, Spec, Index + 1, lists:max([Code | Codes]));
list(Command, H, [{file, _, _} = Script | Rest], Spec, Index, Code) ->
    Code1 = case compile(H, Script, proplists:get_value(args, Spec, [])) of
                ok -> rows(Command, H, Index, script, true);
                {error, Reason} -> failed(Command, Index, Reason)
            end,
    list(Command, H, Rest, Spec, Index + 1, max(Code, Code1)).

rows(Command, H, Index, What, Zero) ->
    case erltrace_handle:call(H, {probes, What}) of
        {ok, []} when not Zero ->
            Text = <<"no probe matches the description">>,
            failed(Command, Index, {dtrace, <<"D_PDESC_ZERO">>, 0, 0, Text});
        {ok, Rows} -> rows(Command, Rows);
        {error, Reason} -> failed(Command, Index, Reason)
    end.

%% A thousand at a time, as the command takes them.
rows(_, []) -> -1;
rows(Command, Rows) ->
    {Some, Rest} = lists:split(min(1000, length(Rows)), Rows),
    case give(Command, {rows, Some}) of
        more -> rows(Command, Rest);
        _ -> 1
    end.
