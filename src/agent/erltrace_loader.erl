%% SPDX-License-Identifier: Apache-2.0
%% @private
%% @doc The loader loads erltrace into a node that does not have it, and removes it afterwards. It
%% is the first module that a command loads there and the last one to go. Any number of commands may
%% come at once, and each may be killed at any moment:
%%
%% 1. A command is identified by its connection, the port that carries it. The connection ends when
%% the command ends, in whatever way. (The name of its node is reused by the next command.)
%%
%% 2. A command that finds no loader creates the named table `erltrace_loader', which only one at a
%% time can do, loads this module and calls begin/1, which starts the loader's process and gives it
%% the table. All that is one remote call: its process goes on if the command is killed.
%%
%% 3. The command tells the loader to `bring' the other modules and the library, which it loads in
%% one step. If the node cannot read the library's file (another machine, a container, another user)
%% the loader gets its bytes, and writes them to a temporary folder while it loads them. Requests of
%% others wait in the mailbox meanwhile. If loading fails, or the command is killed before it, the
%% loader ends.
%%
%% 4. A command that comes later says `come'. The modules stay while there are commands. A command
%% is there until its connection has ended or it has said `leave', and until what it had `run' has
%% ended. (A suspended command says nothing: its erltrace_conn says that it has `left'.)
%%
%% 5. When no command is left the loader removes everything, itself last, and ends. Callers that
%% wait for a reply see it end. To the command that left this is the reply; others start again at 2.
%%
%% 6. To purge a module the VM has every process of the node look whether it uses it: in one with
%% 100,000 processes our modules would keep all schedulers busy for many seconds. Where there are
%% that many the loader rests first, as the next command may come soon, and then removes a module
%% now and then. Where schedulers are busy with few processes each module waits for these: the
%% command is told soon, and the loader goes on. A command that comes meanwhile is told to `bring',
%% and what is still there is not loaded again.
%%
%% 7. A node in trouble may have a code server, files or an `init' that do not answer: all dirty I/O
%% schedulers wait for a disk, say. Nothing here needs them: modules are loaded, deleted and purged
%% by the VM's own functions, which need neither. (So the code server does not know our modules:
%% code:all_loaded/0 has them not, erlang:loaded/0 has.) Files are asked for with a time limit.
%%
%% There is no fun in this module: if it is loaded once more while it is there, the VM takes the
%% code away from the funs of the one that runs.
%%
%% Commands call it by gen_server:call/3: nothing of ours is on the stack of a process that waits.
%% The command's side is c_src/node/agent.c. A node that has an erltrace of its own has no loader.
%%
%% Its states: `empty' until the modules have been brought, then `serving'; `resting' between the
%% last command and the end, if that takes long.
-module(erltrace_loader).
-behaviour(gen_statem).
-export([begin_loading/1, start/1, on_load/1]).
-export([turn/0]).
-export([init/1, callback_mode/0, handle_event/4, terminate/3, format_status/1]).
-include_lib("kernel/include/file.hrl").

%% times that a process may be asked whether it uses a module: about a second
-define(AT_ONCE, 250000).
-define(ANSWER_TIME, 1000). % ms, for a server of OTP, or a file's facts; longer: it is stuck
-define(FILE_TIME, 100).  % ms, for a dirty I/O scheduler to get free
-define(LOOK, 5).         % ms, between two looks at what waits
-define(TURN, 3000).      % us, before others have a turn
%% ms that a command waits; longer: schedulers are busy, or others purge code too
-define(MOST, 300).
-define(REST, 10000).     % ms, before the first module is removed in a larger node
-define(AT_LEAST, 1).     % ms: a timeout of 0 comes before the messages of commands
-define(PAUSE, 30).       % times as long as it took to remove one, before the next

-type connection() :: port() | pid(). % a process with some carriers

-record(user, {left = false :: boolean() | {pid(), term()}, % a tuple: the caller of `leave'
               running = 0 :: non_neg_integer()}).
-record(st, {modules = [] :: [module()], % that were brought, and are there
             leaver :: {pid(), term()} | undefined, % who waits for the end
             users = #{} :: #{connection() => #user{}},
             monitors = #{} :: #{reference() => {connection | running, connection()}}}).

%% @private
%% Called by the command, in the process that has created the table.
-spec begin_loading(connection()) -> true.
begin_loading(Connection) ->
    %% Commands wait for it, and it does little.
    Loader = proc_lib:spawn_opt(?MODULE, start, [Connection], [{priority, high}]),
    true = register(?MODULE, Loader),
    true = ets:give_away(?MODULE, Loader, []). % for erltrace_nif: where its library is

%% @private
%% Not by gen_statem:start/3, which would wait for this process: the command waits already.
-spec start(connection()) -> no_return().
start(Connection) ->
    {ok, empty, St} = init(Connection),
    gen_statem:enter_loop(?MODULE, [], empty, St).

-spec init(connection()) -> {ok, empty, #st{}}.
init(Connection) ->
    process_flag(sensitive, true),
    {ok, empty, come(Connection, #st{})}.

-spec callback_mode() -> gen_statem:callback_mode_result().
callback_mode() ->
    handle_event_function.

-type state() :: empty | serving | resting.

-spec handle_event(gen_statem:event_type(), term(), state(), #st{}) ->
          gen_statem:event_handler_result(state()).
handle_event({call, From}, Request, empty, St) ->
    empty(Request, From, St);
handle_event({call, From}, Request, serving, St) ->
    serve(Request, From, St);
handle_event({call, From}, {come, Connection}, resting, St) ->
    {next_state, empty, come(Connection, St), {reply, From, bring}};
handle_event({call, From}, Request, resting, St) ->
    serve(Request, From, St);
handle_event(state_timeout, remove, resting, St) ->
    remove_one(St);
handle_event(info, {left, Connection}, serving, #st{users = Users} = St)
  when is_map_key(Connection, Users) ->
    next(down({connection, Connection}, St));
handle_event(info, {'DOWN', Mon, _, _, _}, _, #st{monitors = Monitors} = St)
  when is_map_key(Mon, Monitors) ->
    next(down(map_get(Mon, Monitors), St#st{monitors = maps:remove(Mon, Monitors)}));
handle_event(_, _, _, _) ->
    keep_state_and_data.

%% Only the connection that brings the modules is served. Others wait.
empty({sees, Connection, File, Size, Inode}, From, #st{users = Users})
  when is_map_key(Connection, Users) ->
    {keep_state_and_data, {reply, From, sees(File, Size, Inode)}};
empty({bring, Connection, Modules, Library}, From, #st{users = Users, modules = Kept} = St)
  when is_map_key(Connection, Users) ->
    Names = [M || {M, _, _} <- Modules],
    case bring(Modules, Library, Kept) of
        ready ->
            tidy(),
            {next_state, serving, St#st{modules = Names}, [{reply, From, ready}, hibernate]};
        own -> {next_state, serving, St, [{reply, From, ready}, hibernate]};
        Error -> {stop_and_reply, normal, {reply, From, Error}, St#st{modules = Names}}
    end;
empty({leave, Connection}, From, #st{users = Users} = St) when is_map_key(Connection, Users) ->
    next(gone(Connection, #user{left = From}, St));
empty(_, _, _) ->
    {keep_state_and_data, postpone}.

serve({come, Connection}, From, St) ->
    {keep_state, come(Connection, St), {reply, From, ready}};
serve({run, Connection, M, F, Args}, From, #st{users = Users, monitors = Monitors} = St) ->
    case Users of
        #{Connection := #user{left = false, running = N} = User} ->
            case apply(M, F, Args) of
                {ok, {Pid, Mon}} ->
                    {keep_state, St#st{users = Users#{Connection := User#user{running = N + 1}},
                                       monitors = Monitors#{Mon => {running, Connection}}},
                     {reply, From, {ok, Pid}}};
                Error -> % it was killed before it could start
                    {keep_state_and_data, {reply, From, Error}}
            end;
        _ ->
            {keep_state_and_data, {reply, From, {error, {unknown, Connection}}}}
    end;
serve({leave, Connection}, From, #st{users = Users} = St) when is_map_key(Connection, Users) ->
    User = map_get(Connection, Users),
    next(gone(Connection, User#user{left = From}, St));
serve({leave, _}, From, _) ->
    {keep_state_and_data, {reply, From, ok}};
serve(Other, From, _) ->
    {keep_state_and_data, {reply, From, {error, {unknown, Other}}}}.

%% The modules came by a message to rex, which does little and would keep it for a long time.
tidy() ->
    case whereis(rex) of
        undefined -> ok;
        Rex -> _ = spawn(erlang, garbage_collect, [Rex]), ok
    end.

%% When no command is left: ends, or rests.
next(#st{users = Users, modules = Modules} = St) when map_size(Users) =:= 0 ->
    case is_large(Modules) of
        true -> rest(?REST, St);
        false -> remove_until(erlang:monotonic_time(millisecond) + ?MOST, purger(), St)
    end;
next(St) ->
    {keep_state, St}.

remove_until(End, Purger, #st{modules = [Module | Modules]} = St) ->
    Purger1 = remove_all([Module], Purger),
    case erlang:monotonic_time(millisecond) < End of
        true -> remove_until(End, Purger1, St#st{modules = Modules});
        false -> rest(?AT_LEAST, St#st{modules = Modules})
    end;
remove_until(_, _, St) ->
    {stop, normal, St}.

is_large(Modules) ->
    length(Modules) * erlang:system_info(process_count) > ?AT_ONCE.

rest(Ms, #st{leaver = Leaver} = St) ->
    _ = Leaver =/= undefined andalso gen_statem:reply(Leaver, ok),
    {next_state, resting, St#st{leaver = undefined}, [{state_timeout, Ms, remove}, hibernate]}.

%% The pauses keep what this takes to a few percent of the schedulers' time, where it takes any:
%% else it waits for processes that compute.
remove_one(#st{modules = []} = St) ->
    {stop, normal, St};
remove_one(#st{modules = Modules} = St) ->
    case is_large(Modules) andalso is_busy() of
        true -> {keep_state_and_data, [{state_timeout, ?REST, remove}]};
        false -> remove_next(St)
    end.

%% Has every scheduler, ours too, something to run?
is_busy() ->
    lists:sum(statistics(active_tasks)) > erlang:system_info(schedulers_online).

remove_next(#st{modules = [Module | Modules]} = St) ->
    Purger = purger(),
    Began = erlang:monotonic_time(millisecond),
    _ = remove_all([Module], Purger),
    Pause = case is_large([Module | Modules]) of
                true -> (erlang:monotonic_time(millisecond) - Began) * ?PAUSE;
                false -> ?AT_LEAST
            end,
    {keep_state, St#st{modules = Modules}, [{state_timeout, Pause, remove}, hibernate]}.

%% @private
-spec terminate(term(), state(), #st{}) -> term().
terminate(_, _, #st{modules = Modules}) ->
    remove(Modules).

-spec format_status(gen_statem:format_status()) -> gen_statem:format_status().
format_status(#{data := #st{users = Users, modules = Modules}} = Status) ->
    Status#{data := #{commands => maps:keys(Users), brought => Modules}};
format_status(Status) ->
    Status.

come(Connection, #st{users = Users, monitors = Monitors} = St) ->
    Mon = case is_port(Connection) of
              true -> erlang:monitor(port, Connection);
              false -> erlang:monitor(process, Connection)
          end,
    St#st{users = Users#{Connection => #user{}},
          monitors = Monitors#{Mon => {connection, Connection}}}.

down({What, Connection}, #st{users = Users} = St) ->
    case {What, Users} of
        {running, #{Connection := #user{running = N} = User}} ->
            gone(Connection, User#user{running = N - 1}, St);
        {connection, #{Connection := #user{left = false} = User}} ->
            gone(Connection, User#user{left = true}, St);
        _ ->
            St
    end.

%% Remove a command if it has left and runs nothing. The last one sees us end instead of a reply.
gone(Connection, #user{left = Left, running = 0}, #st{users = Users} = St) when Left =/= false ->
    Others = maps:remove(Connection, Users),
    case is_tuple(Left) of
        true when map_size(Others) =:= 0 -> St#st{users = Others, leaver = Left};
        true -> gen_statem:reply(Left, ok), St#st{users = Others};
        false -> St#st{users = Others}
    end;
gone(Connection, User, #st{users = Users} = St) ->
    St#st{users = Users#{Connection := User}}.

%% Ends with a tail call: nothing of this module is on the stack while it is purged.
remove(Modules) ->
    Purger = remove_all(Modules, purger()),
    true = is_deleted(?MODULE),
    case Purger of
        code -> in_time(code_server, code, purge, [?MODULE]);
        _ -> Purger:purge(?MODULE)
    end.

%% By whom: from when the code server does not answer, by the VM's purger.
remove_all([Module | Modules], Purger) ->
    case is_deleted(Module) of
        true -> remove_all(Modules, purge(Module, Purger));
        false -> remove_all(Modules, Purger)
    end;
remove_all([], Purger) ->
    Purger.

purge(Module, code) ->
    case in_time(code_server, code, purge, [Module]) of
        {badrpc, timeout} -> purge(Module, erts_code_purger);
        _ -> code
    end;
purge(Module, Purger) ->
    _ = Purger:purge(Module),
    Purger.

is_deleted(Module) ->
    _ = erlang:check_old_code(Module) andalso erts_code_purger:purge(Module),
    erlang:delete_module(Module) =:= true.

%% Where a purge makes the VM drop the end of an on_load function (finish_after_on_load/3), the code
%% server would never get out of loading a library. It purges for us then: it does not do both at
%% once. If it does not answer it loads none.
purger() ->
    case drops_on_load() andalso in_time(code_server, code, is_loaded, [code]) of
        {file, _} -> code;
        _ -> erts_code_purger
    end.

%% ---- bringing -------------------------------------------------------------------------------

%% Does this node see the very same file, and may it read it? `blocked': it reads no file at all.
sees(File, Size, Inode) ->
    case
        moves(dirty_io, ?FILE_TIME) andalso
            rpc:call(node(), file, read_file_info, [File, [raw]], ?ANSWER_TIME)
    of
        {ok, #file_info{size = Size, inode = Inode, access = Access}} ->
            lists:member(Access, [read, read_write]);
        Blocked when Blocked =:= false; Blocked =:= {badrpc, timeout} ->
            blocked;
        _ ->
            false
    end.

%% The process that waits longer than we do has nothing of ours on its stack.
in_time(Server, M, F, Args) ->
    case moves(Server, ?ANSWER_TIME) of
        true -> rpc:call(node(), M, F, Args, ?ANSWER_TIME);
        false -> {badrpc, timeout}
    end.

%% Does it take what waits for it? Where it does not, nobody is to ask it: who asks stays until
%% there is an answer, and that would be one for each command.
moves(What, Time) ->
    moves(What, 0, erlang:monotonic_time(millisecond) + Time).

moves(What, Before, Until) ->
    Waiting = waiting(What),
    Waiting =:= 0 orelse Waiting < Before orelse
        (erlang:monotonic_time(millisecond) < Until andalso
            receive after ?LOOK -> moves(What, Waiting, Until) end).

%% For dirty I/O schedulers, if all are at work, also what these do.
waiting(dirty_io) ->
    Active = lists:last(statistics(active_tasks_all)),
    case Active < erlang:system_info(dirty_io_schedulers) of
        true -> 0;
        false -> Active
    end;
waiting(Server) ->
    Pid = whereis(Server),
    case is_pid(Pid) andalso process_info(Pid, message_queue_len) of
        {_, N} -> N;
        _ -> 0
    end.

bring(Modules, Library, [_ | _] = Kept) ->
    Same = [M || {M, _, Code} <- Modules, lists:member(M, Kept), is_same(M, Code, Library)],
    _ = remove_all(Kept -- Same, purger()), % of another build
    load([New || {M, _, _} = New <- Modules, not lists:member(M, Same)], Library);
bring(Modules, Library, []) ->
    %% The command has searched the code path for an agent, so only loaded modules are checked here.
    %% (One that is in the path but not loaded is as before once ours are removed; searching the
    %% disk takes long in a busy node.)
    case {erlang:module_loaded(erltrace_agent), erlang:module_loaded(erltrace)} of
        {false, false} -> load(Modules, Library);
        {true, _} -> own; % not in the code path: somebody has loaded it by hand
        {false, true} -> {error, {erltrace, version}}
    end.

%% What was brought is what is there.
is_same(Module, Code, Library) ->
    erlang:get_module_info(Module, md5) =:= code:module_md5(Code) andalso
        (Module =/= erltrace_nif orelse is_library(Library)).

is_library({file, Path}) ->
    ets:lookup_element(?MODULE, library, 2) =:= Path;
is_library({bytes, Bytes}) ->
    filename:basename(filename:dirname(ets:lookup_element(?MODULE, library, 2))) =:= name(Bytes).

%% All but erltrace_nif in few steps (finish/1): each synchronizes all schedulers.
load(Modules, Library) ->
    case arguments() of
        unknown ->
            {error, {init, timeout}};
        Arguments ->
            true = ets:insert(?MODULE, {arguments, Arguments}),
            load_all(Modules, Library)
    end.

load_all(Modules, Library) ->
    Nif = lists:keyfind(erltrace_nif, 1, Modules),
    case prepare(lists:keydelete(erltrace_nif, 1, Modules), []) of
        {ok, Prepared} when Nif =:= false -> finish(Prepared);
        {ok, Prepared} ->
            case finish(Prepared) of
                ready -> loaded(erltrace_nif, load_nif(element(3, Nif), Library));
                Error -> Error
            end;
        {error, Module, Why} -> loaded(Module, {error, Why})
    end.

%% The node's settings of erltrace on its command line, for erltrace_app. What these forbid must be
%% known. If `init' does not answer, the kernel knows them.
arguments() ->
    case in_time(init, init, get_arguments, []) of
        {badrpc, timeout} ->
            case in_time(dirty_io, prim_file, read_file, ["/proc/self/cmdline"]) of
                {ok, Line} -> flags(string:lexemes(binary_to_list(Line), [0]));
                _ -> unknown
            end;
        Arguments ->
            [A || {erltrace, _} = A <- Arguments]
    end.

flags(["-erltrace" | Rest]) -> flag(Rest, []);
flags([_ | Rest]) -> flags(Rest);
flags([]) -> [].

flag([[$- | _] | _] = Rest, Words) -> [{erltrace, lists:reverse(Words)} | flags(Rest)];
flag([Word | Rest], Words) -> flag(Rest, [Word | Words]);
flag([], Words) -> [{erltrace, lists:reverse(Words)}].

%% One at a time, not at once: each takes a scheduler some ms.
prepare([], Prepared) -> {ok, lists:reverse(Prepared)};
prepare([{Module, _, Code} | Rest], Prepared) ->
    case erlang:prepare_loading(Module, Code) of
        {error, Why} -> {error, Module, Why};
        Reference -> turn(), prepare(Rest, [Reference | Prepared])
    end.

%% @doc To be called between two steps of long work at high priority: processes of normal priority
%% that wait for this scheduler have a turn every 3 ms.
-spec turn() -> ok.
turn() ->
    Now = erlang:monotonic_time(microsecond),
    case get(?MODULE) of
        Since when is_integer(Since), Now - Since < ?TURN ->
            ok;
        Since ->
            _ = is_integer(Since) andalso erlang:statistics(total_run_queue_lengths) > 0 andalso
                receive after 1 -> ok end,
            put(?MODULE, erlang:monotonic_time(microsecond)),
            ok
    end.

%% A step keeps other processes from its scheduler: a quarter of a millisecond for each module, and
%% some 3 ms for each thousand modules that the node has, as the VM copies its tables.
finish(Prepared) -> finish(Prepared, max(8, length(erlang:loaded()) div 100)).

finish([], _) -> ready;
finish(Prepared, Most) ->
    {Now, Rest} = lists:split(min(Most, length(Prepared)), Prepared),
    case erlang:finish_loading(Now) of
        ok -> turn(), finish(Rest, Most);
        {Why, [Module | _]} -> {error, {Module, Why}}
    end.

%% {features_not_allowed, ..} is in no specification.
-dialyzer({no_match, loaded/2}).
loaded(Module, {module, Module}) -> ready;
loaded(_, {error, {places, _}} = Error) -> Error;
loaded(Module, {error, Why}) when is_tuple(Why) -> {error, {Module, element(1, Why)}};
loaded(Module, {error, Why}) -> {error, {Module, Why}}.

load_nif(Code, {file, Library}) ->
    true = ets:insert(?MODULE, {library, Library}),
    load_code(erltrace_nif, Code);
load_nif(Code, {bytes, Bytes}) ->
    Cwd = case file:get_cwd() of
              {ok, Dir} -> Dir;
              {error, _} -> false
          end,
    Parents = [os:getenv("TMPDIR"), "/tmp", "/var/tmp", "/dev/shm", "/run", os:getenv("HOME"), Cwd],
    try_folders([P || "/" ++ [_ | _] = P <- Parents], name(Bytes), {Code, Bytes}, []).

%% As the code server loads a module with an on_load function.
load_code(Module, Code) ->
    case erlang:load_module(Module, Code) of
        {error, on_load} ->
            {Pid, Mon} = spawn_opt(?MODULE, on_load, [Module], [monitor, {priority, high}]),
            Result =
                receive
                    {'DOWN', Mon, process, Pid, Why} -> Why
                end,
            finish_after_on_load(drops_on_load(), Module, Result =:= ok),
            case Result of
                ok ->
                    {module, Module};
                _ ->
                    logger:warning("The on_load function for module ~s returned:~n~0tP", [
                        Module, Result, 30
                    ]),
                    {error, on_load_failure}
            end;
        Other ->
            Other
    end.

%% Until OTP 25.3.2.10 and 26.2.3 the VM's purger drops this request if it is purging (OTP-19006):
%% who sent it would wait forever. It drops none that ask to purge, and answers in the order of the
%% requests. So if the answer to the second one is there and the first is not, the first was
%% dropped.
finish_after_on_load(false, Module, Keep) ->
    erts_code_purger:finish_after_on_load(Module, Keep);
finish_after_on_load(true, Module, Keep) ->
    Ref = make_ref(),
    erts_code_purger ! {finish_after_on_load, {Module, Keep}, self(), Ref},
    _ = erts_code_purger:purge(erltrace_no_module),
    receive
        {reply, finish_after_on_load, _, Ref} -> ok
    after 0 ->
            finish_after_on_load(true, Module, Keep)
    end.

drops_on_load() ->
    erlang:system_info(otp_release) < "27".

%% @private
-spec on_load(module()) -> no_return().
on_load(Module) ->
    exit(erlang:call_on_load_function(Module)).

%% The library stays mapped in the node, and dlopen() returns a mapped library of the same name
%% instead of the file: so the name is a hash of the content. It is also unique to this node, and
%% hard to guess: it depends on the start time in nanoseconds. (Other users see the name; it gives
%% no clue to the cookie. No binary is matched here: OTP 29 does not load such code of OTP 25.)
name(Bytes) ->
    Started = [erlang:system_info(start_time), erlang:time_offset()],
    Own = [Bytes, os:getpid(), atom_to_binary(node()), io_lib:format("~0p", [Started])],
    Digest = binary_to_list(erlang:md5(Own)),
    Hex = [io_lib:format("~2.16.0b", [B]) || B <- lists:sublist(Digest, 8)],
    lists:flatten(["erltrace-" | Hex]).

%% The first folder where the node can write a library and load it.
try_folders([], _, _, Tried) ->
    Text = lists:join(", ", [io_lib:format("~ts: ~ts", [P, Why]) || {P, Why} <- Tried]),
    {error, {places, unicode:characters_to_binary(Text)}};
try_folders([Parent | Rest], Name, Nif, Tried) ->
    case in_folder(filename:join(Parent, Name), Nif) of
        {error, on_load_failure} ->
            try_folders(Rest, Name, Nif, Tried ++ [{Parent, "does not load"}]);
        {cannot, Why} ->
            try_folders(Rest, Name, Nif, Tried ++ [{Parent, Why}]);
        Result ->
            Result
    end.

in_folder(Folder, {Code, Bytes}) ->
    case make_own(Folder) of
        ok ->
            So = filename:join(Folder, "erltrace.so"),
            try write(Folder, So, Bytes) of
                ok -> load_nif(Code, {file, filename:rootname(So)});
                {error, Why} -> {cannot, Why}
            after
                _ = file:delete(So),
                _ = file:del_dir(Folder)
            end;
        {error, Why} ->
            {cannot, Why}
    end.

%% A folder that exists may be left over from a node that was killed. We use it if we own it and
%% nobody else can write to it: whoever can write there chooses what we load.
make_own(Folder) ->
    case file:make_dir(Folder) of
        {error, eexist} ->
            case {file:read_link_info(Folder, [raw]), file:read_file_info("/proc/self", [raw])} of
                {{ok, #file_info{type = directory, uid = Uid, mode = Mode}},
                 {ok, #file_info{uid = Uid}}} when Mode band 8#077 =:= 0 -> ok;
                _ -> {error, "there is a folder of somebody else"}
            end;
        Made ->
            Made
    end.

write(Folder, So, Bytes) ->
    case file:change_mode(Folder, 8#700) of
        ok ->
            _ = file:delete(So),
            file:write_file(So, Bytes, [exclusive]);
        Error ->
            Error
    end.
