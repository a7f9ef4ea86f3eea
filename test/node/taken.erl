%% SPDX-License-Identifier: Apache-2.0
%% For taken.sh: takes what a node has only a few of, until somebody opens a FIFO to write.
-module(taken).
-export([load/1, dirty_cpu/1, all_dirty_cpu/1, async/2, atoms/1]).
-nifs([dirty_cpu/1]).

load(Dir) -> erlang:load_nif(filename:join(Dir, "taken"), 0).

dirty_cpu(_) -> erlang:nif_error(not_loaded).

all_dirty_cpu(Fifo) ->
    [spawn(fun() -> dirty_cpu(Fifo) end)
     || _ <- lists:seq(1, 2 * erlang:system_info(dirty_cpu_schedulers))],
    ok.

%% The node has one async thread: +A 1.
async(Dir, Fifo) ->
    ok = erl_ddll:load_driver(Dir, "taken"),
    spawn(fun() ->
                  Port = open_port({spawn_driver, "taken"}, []),
                  port_command(Port, Fifo),
                  receive stop -> ok end
          end),
    ok.

%% Atoms, until there is room for Left more.
atoms(Left) ->
    case erlang:system_info(atom_limit) - erlang:system_info(atom_count) of
        N when N =< Left -> N;
        N -> _ = list_to_atom("taken_" ++ integer_to_list(N)), atoms(Left)
    end.

