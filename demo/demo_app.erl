%% SPDX-License-Identifier: Apache-2.0
%% The demo application: a small order desk, supervised, calm (some tens of orders a second), with
%% something of everything that a node does: gen_servers, ETS, timers, a port, short-lived
%% processes, messages between them. `make demo' traces it; demo_exact makes exact workloads beside
%% it, for tests.
%%
%%   demo_desk     a gen_server; a timer lets it take an order every 25 ms: a process for each
%%   demo_order    that process: looks at the store, reserves, writes a line to the journal
%%   demo_store    a gen_server that owns the stock, an ETS table; counting it is slow
%%   demo_journal  a gen_server with a port: cat writes its lines back
%%   demo_report   a gen_server that wakes up now and then, counts the stock, and hibernates
-module(demo_app).
-behaviour(application).
-behaviour(supervisor).
-export([start/0, start/2, stop/1, init/1]).

%% @doc Without an .app file: `erl -pa DIR -s demo_app'.
-spec start() -> ok.
start() ->
    _ = application:load({application, demo,
                          [{description, "what make demo traces"}, {vsn, "1"}, {modules, []},
                           {registered, []}, {applications, [kernel, stdlib]},
                           {mod, {?MODULE, []}}]}),
    application:start(demo).

-spec start(application:start_type(), term()) -> {ok, pid()} | {error, term()}.
start(_Type, _Args) ->
    supervisor:start_link({local, demo_sup}, ?MODULE, []).

-spec stop(term()) -> ok.
stop(_State) -> ok.

-spec init([]) -> {ok, {supervisor:sup_flags(), [supervisor:child_spec()]}}.
init([]) ->
    Child = fun(Mod) -> #{id => Mod, start => {Mod, start_link, []}} end,
    {ok, {#{strategy => rest_for_one, intensity => 5, period => 10},
          [Child(M) || M <- [demo_store, demo_journal, demo_report, demo_desk]]}}.
