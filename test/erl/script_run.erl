%% SPDX-License-Identifier: Apache-2.0
%% What tests of probes have in common: a script runs around a function, its aggregations are
%% looked up by name and key.
-module(script_run).
-export([run/2, aggregations/1, text/1, in_process/1, in_node/2, quoted/1]).

%% Run a script around Fun, which may want its handle; its aggregations.
-spec run(iodata(), fun(() -> term()) | fun((erltrace:handle()) -> term())) ->
          #{{Name :: string(), Keys :: [term()]} => term()}.
run(Script, Fun) ->
    {ok, H} = erltrace:script(Script),
    try
        _ = case is_function(Fun, 0) of
                true -> Fun();
                false -> Fun(H)
            end,
        aggregations(H)
    after
        erltrace:close(H)
    end.

-spec aggregations(erltrace:handle()) -> #{{Name :: string(), Keys :: [term()]} => term()}.
aggregations(H) ->
    {ok, Aggs} = erltrace:aggregations(H),
    maps:from_list([{{binary_to_list(N), [text(K) || K <- Ks]}, V} || {N, _, Ks, V} <- Aggs]).

-spec text(term()) -> term().
text(B) when is_binary(B) -> binary_to_list(B);
text(X) -> X.

%% In a process of its own, which has ended when this returns.
-spec in_process(fun(() -> term())) -> {pid(), Reason :: term()}.
in_process(Fun) ->
    {P, M} = spawn_monitor(Fun),
    receive {'DOWN', M, process, P, Reason} -> {P, Reason} end.

%% In a node of its own; `ok' is the answer.
-spec in_node(module(), atom()) -> ok.
in_node(Module, Function) ->
    {ok, Peer, _} = peer:start(#{name => peer:random_name(Module), connection => standard_io,
                                 wait_boot => 120000, args => ["-pa" | code:get_path()]}),
    try ok = peer:call(Peer, Module, Function, [], 60000)
    after peer:stop(Peer)
    end.

%% A pid as a string of D's.
-spec quoted(pid()) -> iolist().
quoted(Pid) when is_pid(Pid) -> ["\"", pid_to_list(Pid), "\""].
