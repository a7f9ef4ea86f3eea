%% SPDX-License-Identifier: Apache-2.0
%% What random scripts trace: random_load compiles it once, and loads it again and again, with another VERSION.
-module(random_code).
-export([work/1, tail/2, deep/1, catches/1, raises/1, binary/1, map/1, server/1, hop/2, loops/2, version/0]).

version() -> 1.

work(N) ->
    _ = deep(N rem 50),
    _ = tail(N rem 100, [N]),
    _ = catches(N),
    _ = binary(N),
    map(N).

tail(0, Acc) -> length(Acc);
tail(N, Acc) -> tail(N - 1, [N | Acc]).

deep(0) -> 0;
deep(N) -> 1 + deep(N - 1).

catches(N) ->
    try raises(N) of
        X -> X
    catch
        C:R -> {C, R}
    end.

raises(N) ->
    case N rem 5 of
        0 -> throw({thrown, N, #{a => N}});
        1 -> error(badarg);
        2 -> exit({shutdown, [N]});
        3 -> element(N + 1, {});
        4 -> {ok, N}
    end.

binary(N) ->
    B = binary:copy(<<"x">>, N rem 300),
    {B, [B, <<N:7>>], binary_to_term(term_to_binary({B, N, 1.5, self(), make_ref()}))}.

map(N) ->
    M = maps:from_list([{K, {K, [N]}} || K <- lists:seq(1, N rem 70)]),
    M#{a => #{b => N}, {a, 1} => "text", 1 => <<"x">>}.

%% It waits in its own code: a purge kills it, an upgrade moves it.
server(State) ->
    receive
        {call, From, Ref, N} ->
            From ! {Ref, {ok, N, State}},
            ?MODULE:server(N);
        hibernate ->
            erlang:hibernate(?MODULE, server, [State]);
        stay ->
            server(State);
        {crash, Why} ->
            exit(Why);
        stop ->
            ok;
        Other ->
            ?MODULE:server(Other)
    after 500 ->
        server(State)
    end.

%% A request that goes through processes.
hop(0, Back) -> Back ! {done, self()};
hop(N, Back) -> spawn(?MODULE, hop, [N - 1, Back]).

loops(0, _) -> ok;
loops(N, X) ->
    _ = deep(X rem 20),
    loops(N - 1, X).
