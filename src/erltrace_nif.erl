%% SPDX-License-Identifier: Apache-2.0
%% @private
%% @doc The NIF library (c_src/beam). enabled/3 and trace/5 are the tracer that the VM calls.
-module(erltrace_nif).
-export([keep_large/2, probes/2, priv_dir/0]).
-include("build/erltrace_nifs.hrl"). % all others: c_src/beam/nifs.def, by make nif
-include_lib("kernel/include/file.hrl").
-on_load(init/0).

%% Once loaded, the library stays mapped in the VM, and dlopen() returns a mapped library of the
%% same name: after an upgrade in place that would be the old one. So the path identifies the file
%% without renaming it: a hash of its inode and time is spelt as "/" and "/." in the path. If the
%% command has brought this module, erltrace_loader knows which library to load.
init() ->
    Path = try ets:lookup_element(erltrace_loader, library, 2)
           catch
               error:badarg ->
                   case application:get_env(erltrace, library) of
                       {ok, Library} -> Library;
                       undefined -> own_name(priv_dir())
                   end
           end,
    case erlang:load_nif(Path, about_the_vm()) of
        {error, {load_failed, Why}} -> {error, {load_failed, Why ++ explained(Why)}};
        Result -> Result
    end.

explained(Why) ->
    case string:find(Why, "static TLS") of
        nomatch -> "";
        _ -> ": too many versions of this library, or of others, have been loaded into this node"
    end.

%% The library checks its assumptions against this (c_src/beam/vm/vm_facts.c). With the setting
%% `{erltrace, [{vm_internals, false}]}' it relies on none: this is slower, and returns are matched
%% by the names of functions.
about_the_vm() ->
    Sizes = {erts_debug:flat_size(list_to_binary(lists:duplicate(100, 0))),
             erts_debug:flat_size(fun about_the_vm/0),
             erts_debug:flat_size(make_ref())},
    {not lists:member(false, erltrace_app:setting(vm_internals)), erlang:processes(),
     erlang:system_info(process_limit), Sizes, erlang:system_info(dirty_cpu_schedulers), samples(),
     threads(), io:printable_range()}.

%% Slots for every thread that may fire, and some that OTP may add.
threads() ->
    32 + lists:sum([erlang:system_info(T) || T <- [schedulers, dirty_cpu_schedulers,
                                                   dirty_io_schedulers]]).

%% Terms with their sizes (c_src/beam/vm/sizes.c): most kinds; funs; bits. Funs and bits are read
%% word by word only in the release whose representation is known.
-dialyzer({no_improper_lists, samples/0}).
samples() ->
    Seq = lists:seq(1, 40),
    Words = [{a, [1, {b}], 1.5}, 1 bsl 64, 1 bsl 1000, -(1 bsl 300), make_ref(), #{}, #{a => {b}},
             maps:from_list([{I, {I}} || I <- Seq]),
             maps:from_list([{I, I} || I <- lists:seq(1, 600)]),
             [{I, [I]} || I <- Seq], binary_to_term(<<131, 88, 119, 1, $a, 1:32, 2:32, 3:32>>)],
    Large = binary:copy(<<1>>, 100),
    Small = binary:copy(<<1>>, 10),
    Funs = [fun samples/0, fun lists:seq/2, fun() -> {Words, Seq} end, fun(X) -> {X, Seq} end],
    Bits = [Large, Small, [Small, Large], binary:part(Large, 2, 90), binary:part(Large, 2, 9),
            binary:part(Small, 1, 3) | [bits(B, N) || B <- [Large, Small], N <- lists:seq(1, 17)]],
    case erlang:system_info(otp_release) of
        "25" -> {sizes(Words), sizes(Funs), sizes(Bits)};
        _ -> {sizes(Words), none, none}
    end.

sizes(Terms) -> [{T, erts_debug:flat_size(T)} || T <- Terms].

bits(Binary, N) ->
    <<_:N, Bits:(N * 3)/bits, _/bits>> = Binary,
    Bits.

own_name(Dir) ->
    Bits = case file:read_file_info(filename:join(Dir, "erltrace.so"), [raw, {time, posix}]) of
               {ok, #file_info{inode = I, mtime = T}} -> erlang:phash2({I, T}, 1 bsl 32);
               {error, _} -> 0
           end,
    Hash = [case (Bits bsr N) band 1 of 1 -> "/."; 0 -> "/" end || N <- lists:seq(0, 31)],
    lists:flatten([Dir, Hash, "/erltrace"]).

%% @doc Where the library is, and the helper for probes of the kernel.
-spec priv_dir() -> file:filename().
priv_dir() ->
    case code:priv_dir(erltrace) of
        {error, _} -> filename:join([filename:dirname(code:which(?MODULE)), "..", "priv"]);
        Dir -> Dir
    end.

-type nif() :: reference().
-type totals() :: reference().
-type failure() :: {error, closed | enomem | {binary(), integer(), integer(), binary()}}.

%% ---- jobs -----------------------------------------------------------------------------------

%% What takes long runs on a thread of the library, not on a dirty scheduler: in a node in trouble
%% all of these may be taken, for ever (c_src/beam/nif/jobs.c). Arguments are copied at one go: long
%% lists come in parts.
-define(SOME, 500).

run(Name, Args) ->
    Ref = make_ref(),
    case job(Ref, Name, Args) of
        Ref ->
            receive
                {Ref, Result} -> Result;
                Ref -> error(badarg, Args)
            end;
        {Ref, Result} ->
            Result
    end.

-spec job(reference(), atom(), [term()]) -> reference() | {reference(), term()}.
job(_, _, _) -> erlang:nif_error(not_loaded).

%% A hundred times a second there is nothing to do: that needs no thread.
unless_at_rest(What, Nif, Args) ->
    case rest(Nif, What) of
        job -> run(What, Args);
        Result -> Result
    end.

-spec rest(nif(), work | ticks | clean) -> job | tuple() | pos_integer() | failure().
rest(_, _) -> erlang:nif_error(not_loaded).

%% ---- the calls ------------------------------------------------------------------------------

-spec open() -> {ok, nif(), non_neg_integer()} | failure().
open() -> run(open, []).

-spec close(nif()) -> ok.
close(Nif) -> run(close, [Nif]).

-spec setopt(nif(), iodata(), iodata()) -> ok | failure().
setopt(_, _, _) -> erlang:nif_error(not_loaded).

%% @doc Whose probes a script names, besides those that fire anywhere; processes: it asks which
%% Erlang process fires.
-spec scan(nif(), Source :: binary(), [binary()]) -> [erlang | kernel | processes] | failure().
scan(Nif, Source, Args) -> run(scan, [Nif, Source, Args]).

%% @doc The next bytes of the stream of a helper, whose results are then those of the handle.
-spec stream(nif(), binary()) -> ok | failure().
stream(Nif, Bytes) -> run(stream, [Nif, Bytes]).

-spec stream_end(nif()) -> ok | failure().
stream_end(_) -> erlang:nif_error(not_loaded).

%% @doc What the script has taken in its helper, ns of processor time, and how often it has fired
%% there.
-spec helped(nif(), non_neg_integer(), non_neg_integer()) -> ok | closed.
helped(_, _, _) -> erlang:nif_error(not_loaded).

-spec wants(nif(), module()) -> boolean() | failure().
wants(_, _) -> erlang:nif_error(not_loaded).

-spec add_functions(nif(), [{module(), [{atom(), arity(), erlang | bif | nif}]}]) ->
          ok | failure().
add_functions(Nif, Modules) -> run(add_functions, [Nif, Modules]).

-spec extend(nif(), module(), [{atom(), arity(), erlang | bif | nif}]) ->
          [erltrace_needs:pattern()] | failure().
extend(Nif, Module, Functions) -> run(extend, [Nif, Module, Functions]).

-spec countable(nif(), module() | all) -> [mfa()] | failure().
countable(Nif, Module) -> run(countable, [Nif, Module]).

-spec counted(nif(), [mfa()]) -> ok | failure().
counted(Nif, Functions) when length(Functions) > ?SOME ->
    {Some, Rest} = lists:split(?SOME, Functions),
    case run(counted, [Nif, Some]) of
        ok -> counted(Nif, Rest);
        Error -> Error
    end;
counted(Nif, Functions) ->
    run(counted, [Nif, Functions]).

-spec uncount(nif(), module()) -> ok | failure().
uncount(Nif, Module) -> run(uncount, [Nif, Module]).

-spec count(nif(), [nonempty_improper_list(mfa(), non_neg_integer())]) ->
          Anew :: non_neg_integer() | failure().
count(Nif, Counts) -> run(count, [Nif, Counts]).

-spec counting(nif(), start | done | over | pending) -> ok | boolean() | failure().
counting(_, _) -> erlang:nif_error(not_loaded).

-spec warn(nif(), iodata()) -> ok | failure().
warn(_, _) -> erlang:nif_error(not_loaded).

-spec add_ports(nif(), [{port(), pid(), string()}], [string()]) -> ok | failure().
add_ports(Nif, Ports, Drivers) -> run(add_ports, [Nif, Ports, Drivers]).

-spec compile(nif(), iodata(), [iodata()], [atom() | {file, iodata()}]) ->
          ok | {ok, functions} | functions | {record, Name :: binary(), failure()}
          | {no_probe, Description :: binary(), failure()} | failure().
compile(Nif, Source, Args, Opts) -> run(compile, [Nif, Source, Args, Opts]).

%% none: no description of the script names functions.
-spec calls(nif()) -> auto | fast | traced | none | failure().
calls(_) -> erlang:nif_error(not_loaded).

-spec set_calls(nif(), fast | traced) -> ok | failure().
set_calls(Nif, Way) -> run(set_calls, [Nif, Way]).

-spec needs(nif(), node(), pos_integer(), Owner :: pid()) -> erltrace_needs:needs() | failure().
needs(Nif, Node, ProcessLimit, Owner) -> run(needs, [Nif, Node, ProcessLimit, Owner]).

-spec unflagged(nif()) -> ok | failure().
unflagged(_) -> erlang:nif_error(not_loaded).

-spec go(nif()) -> ok | failure().
go(Nif) -> run(go, [Nif]).

%% All that the script needs of the VM is armed: from now on timers run (tick-N).
-spec armed(nif()) -> ok | {error, closed}.
armed(_) -> erlang:nif_error(not_loaded).

-spec stop(nif()) -> ok | failure().
stop(Nif) -> run(stop, [Nif]).

-spec work(nif(), text | terminal | json | records | both | alerts |
           {stream, Ms :: pos_integer(), Beat :: non_neg_integer(), Form :: atom()}) ->
          {ok | done, [tuple()]} | failure().
% the time comes in any case
work(Nif, {stream, _, Beat, _} = Form) when Beat > 0 -> run(work, [Nif, Form]);
work(Nif, Form) -> unless_at_rest(work, Nif, [Nif, Form]).

-spec snapshot(nif(), Why :: iodata(), Form :: atom()) -> {ok, [tuple()]} | failure().
snapshot(Nif, Why, Form) -> run(snapshot, [Nif, Why, Form]).

-spec recorder(nif()) -> boolean().
recorder(_) -> erlang:nif_error(not_loaded).

-spec walk(nif(), boolean()) -> {ok, [tuple()]} | failure().
walk(Nif, Stop) -> run(walk, [Nif, Stop]).

%% Totals of scripts (c_src/beam/nif/feed.c).
-spec totals(MaxSeries :: non_neg_integer()) -> {ok, totals()} | failure().
totals(_) -> erlang:nif_error(not_loaded).

-spec totals_limit(totals(), MaxSeries :: non_neg_integer()) -> ok.
totals_limit(Totals, MaxSeries) -> run(totals_limit, [Totals, MaxSeries]).

-spec totals_forget(totals(), Script :: binary()) -> ok.
totals_forget(Totals, Script) -> run(totals_forget, [Totals, Script]).

-spec totals_about(totals()) -> [
    {Script :: binary(), Aggregation :: binary(), WhyNotShown :: binary() | undefined,
        ToOther :: non_neg_integer()}
].
totals_about(Totals) -> run(totals_about, [Totals]).

%% From go on what the handle gathers is added to these; before it, which metrics that makes.
-spec feed(nif(), totals(), Script :: binary()) ->
    [{Aggregation :: binary(), erltrace_metrics:shape() | Why :: binary()}] | failure().
feed(Nif, Totals, Script) -> run(feed, [Nif, Totals, Script]).

-spec exposition(totals(), [erltrace_metrics:own_family()], terms | text | openmetrics) ->
    [erltrace_metrics:family()] | binary().
exposition(Totals, Own, Form) -> run(exposition, [Totals, Own, Form]).

%% Those that begin; were the first ones of this minute left out?
-spec alerts_call(totals(), Script :: binary(), [{Name, Text}], PerMinute :: pos_integer()) ->
    {[{Name, Text}], LeftOut :: boolean()} when Name :: binary(), Text :: binary().
alerts_call(Totals, Script, Calls, PerMinute) ->
    run(alerts_call, [Totals, Script, Calls, PerMinute]).

%% Those that are over, or of a script that was removed; how many were left out in the last minute.
-spec alerts_over(totals(), (Hold :: pos_integer()) | (Script :: binary())) ->
    {[{Script :: binary(), Name :: binary(), Text :: binary()}], LeftOut :: non_neg_integer(),
        Rests :: boolean()}.
alerts_over(Totals, Which) -> run(alerts_over, [Totals, Which]).

-spec alerts(totals()) -> {[{Script :: binary(), Name :: binary()}], Dropped :: non_neg_integer()}.
alerts(Totals) -> run(alerts, [Totals]).

%% As work/2, and what came since the last call is added to the totals; Parts: it is wanted too.
-spec ticks(nif(), records | text | alerts, Node :: binary(), Parts :: boolean()) ->
    {ok | done, [tuple()], [erltrace_metrics:part()]} | failure().
ticks(Nif, Form, Node, Parts) -> unless_at_rest(ticks, Nif, [Nif, Form, Node, Parts]).

%% ns of processor time: of the script, with the VM's part of its events; of the whole node. How
%% many probes have fired.
-spec took(non_neg_integer(), Ns :: non_neg_integer()) -> ok.
took(_, _) -> erlang:nif_error(not_loaded).

-spec spent(nif() | none) ->
    {Spent :: non_neg_integer(), Node :: non_neg_integer(), Fired :: non_neg_integer()} | closed.
spent(_) -> erlang:nif_error(not_loaded).

%% Rest: ms that the caller would wait in any case; Ms: as long as it may wait.
-spec watch(nif(), Schedulers :: pos_integer(), Rest :: non_neg_integer()) ->
          {running, CostPermille :: non_neg_integer(), Ms :: non_neg_integer()} |
          {done | aborted, CostPermille :: non_neg_integer(), binary()} | failure().
watch(_, _, _) -> erlang:nif_error(not_loaded).

-spec forbid(nif()) -> ok | failure().
forbid(_) -> erlang:nif_error(not_loaded).

-spec no_payload(nif()) -> ok.
no_payload(_) -> erlang:nif_error(not_loaded).

-spec halt(nif()) -> ok.
halt(_) -> erlang:nif_error(not_loaded).

-spec clean(nif()) -> pos_integer() | failure().
clean(Nif) -> unless_at_rest(clean, Nif, [Nif]).

-spec sweep(nif()) -> non_neg_integer() | infinity | failure().
sweep(Nif) -> run(sweep, [Nif]).

-spec place(nif()) -> {binary(), binary()} | failure().
place(_) -> erlang:nif_error(not_loaded).

-spec code(nif()) -> binary() | failure().
code(Nif) -> run(code, [Nif]).

%% What may have to wait.
-spec sampling_wait(test_start) -> ok | {refused, binary()}.
sampling_wait(Step) -> run(sampling_wait, [Step]).

-spec sampling_dirty(dirty | {burn, non_neg_integer()}) -> ok | {refused, binary()}.
sampling_dirty(_) -> erlang:nif_error(not_loaded).

-spec samples(nif()) -> boolean() | failure().
samples(_) -> erlang:nif_error(not_loaded).

-spec wall(pos_integer(), Elapsed :: non_neg_integer(),
           [{pid(), Weight :: non_neg_integer(), State :: atom(), Name :: atom() | [],
             [mfa() | {module(), atom(), arity(), File :: binary(), Line :: pos_integer()}]}]) ->
          boolean().
wall(_, _, _) -> erlang:nif_error(not_loaded).

%% @doc Compute only the predicates of a probe's clauses, for rows of what these read. The processes
%% for which one is true; `false': the script does not run any more.
-spec gate(pos_integer(), Probe :: non_neg_integer(), Rows :: [tuple()]) -> [pid()] | false.
gate(_, _, _) -> erlang:nif_error(not_loaded).

%% @doc Fire a probe of the provider state once for each row: `{Process, Value, ...}'. Is the script
%% still running? A list has the rows that there was no time for: call it again with these.
-spec state(pos_integer(), Probe :: non_neg_integer(), Rows :: [tuple()]) -> boolean() | [tuple()].
state(_, _, _) -> erlang:nif_error(not_loaded).

%% @doc How far the provider state has come: rounds that are over, those of them that were over all
%% there is, what the last of these saw; of one that is not whole what it has seen so far, and of
%% how many.
-spec looked(pos_integer(), {
    Rounds :: non_neg_integer(),
    Whole :: non_neg_integer(),
    Things :: non_neg_integer(),
    Now :: non_neg_integer(),
    There :: non_neg_integer()
}) -> ok.
looked(_, _) -> erlang:nif_error(not_loaded).

%% @doc The CPU time of the scheduler that this process runs on, in nanoseconds.
-spec thread_time() -> non_neg_integer().
thread_time() -> erlang:nif_error(not_loaded).

%% @doc The CPU time of all threads of the node, in nanoseconds.
-spec node_time() -> non_neg_integer().
node_time() -> erlang:nif_error(not_loaded).

-spec session(pos_integer(), non_neg_integer()) -> ok.
session(_, _) -> erlang:nif_error(not_loaded).

-spec alive(non_neg_integer()) -> boolean().
alive(_) -> erlang:nif_error(not_loaded).

-spec counts(nif()) -> {Fired :: non_neg_integer(), Lost :: non_neg_integer(),
                        Unnamed :: non_neg_integer(), NoArgs :: non_neg_integer(),
                        Cut :: non_neg_integer(), BufSize :: non_neg_integer(),
                        Prints :: boolean()} | failure().
counts(_) -> erlang:nif_error(not_loaded).

-spec status(nif()) -> idle | running | filled | stopped | {exited, integer()} | failure().
status(_) -> erlang:nif_error(not_loaded).

-spec info(nif()) -> non_neg_integer() | failure().
info(_) -> erlang:nif_error(not_loaded).

-spec probes(nif(), iodata() | script) -> {ok, [tuple()]} | functions | failure().
probes(Nif, What) -> probes(Nif, What, full).

-spec probes(nif(), iodata() | script, full | brief) ->
          {ok, [tuple() | binary()]} | functions | failure().
probes(Nif, What, Form) -> run(probes, [Nif, What, Form]).

%% Descriptions of the script that match no probe so far.
-spec unmatched(nif()) ->
    [{Line :: integer(), Column :: integer(), Description :: binary()}] | failure().
unmatched(Nif) -> run(unmatched, [Nif]).

-spec names(options | tags) -> [{Name :: binary(), Help :: binary()}].
names(_) -> erlang:nif_error(not_loaded).

%% Terms that outlive every process.
-spec keep(atom(), term()) -> ok.
keep(_, _) -> erlang:nif_error(not_loaded).

%% The same, for a term that takes long to copy.
-spec keep_large(atom(), term()) -> ok.
keep_large(Key, Term) ->
    case erltrace_room:is_dirty_taken() of
        true -> keep(Key, Term);
        false -> keep_dirty(Key, Term)
    end.

-spec keep_dirty(atom(), term()) -> ok.
keep_dirty(_, _) -> erlang:nif_error(not_loaded).

-spec kept(atom(), Default :: term()) -> term().
kept(Key, Default) ->
    {ok, Term} = case kept_small(Key, Default) of
                     job -> run(kept, [Key, Default]);
                     Small -> Small
                 end,
    Term.

-spec kept_small(atom(), Default :: term()) -> {ok, term()} | job.
kept_small(_, _) -> erlang:nif_error(not_loaded).

-spec drop(atom()) -> ok.
drop(_) -> erlang:nif_error(not_loaded).

-spec set_target(nif(), integer()) -> ok | failure().
set_target(_, _) -> erlang:nif_error(not_loaded).

-spec set_node(nif(), node()) -> ok | failure().
set_node(_, _) -> erlang:nif_error(not_loaded).

-spec set_record(nif(), Name :: binary(), Fields :: [binary()]) -> ok | failure().
set_record(_, _, _) -> erlang:nif_error(not_loaded).
%% What probes of ETS tables and atoms need to know when they are armed.
-spec vm_fact(nif(), atoms, non_neg_integer()) -> ok | failure();
             (nif(), ets:tid(), Name :: atom()) -> ok | failure().
vm_fact(_, _, _) -> erlang:nif_error(not_loaded).

-spec set_name(nif(), pid() | port(), atom(), boolean()) -> ok | failure().
set_name(_, _, _, _) -> erlang:nif_error(not_loaded).
-spec claim_names(nif(), [pid()]) -> [Token :: non_neg_integer()] | failure().
claim_names(_, _) -> erlang:nif_error(not_loaded).
-spec fill_names(nif(), [pid() | {pid(), Token :: non_neg_integer(), mfa() | term(),
                                  Label :: term()}]) -> ok | failure().
fill_names(_, _) -> erlang:nif_error(not_loaded).
-spec wanted_names(nif()) -> [{pid(), Token :: non_neg_integer()}] | done | failure().
wanted_names(_) -> erlang:nif_error(not_loaded).
%% What processes are called has been told: samples may fire.
-spec named(nif()) -> ok | failure().
named(_) -> erlang:nif_error(not_loaded).

%% @doc Of a process that is traced with the state `top_words' (erltrace_waits): `start' before it
%% is scheduled, `get' afterwards: pids and atoms among the newest words of its stack, the newest
%% first.
-spec top_words(start | get) -> ok | [pid() | atom()].
top_words(_) -> erlang:nif_error(not_loaded).

%% @doc Where the VM keeps a fact (c_src/beam/vm/find.h): the steps of its search, which
%% erltrace_find drives.
-spec find(erltrace_find:fact(), atom() | {atom(), term()}) -> term().
find(_, _) -> erlang:nif_error(not_loaded).

%% @doc Of those of these processes that there are: length of the mailbox, reductions, words of
%% heaps, and of binaries that these refer to, whether it monitors anything. They need not answer.
-spec proc_words([pid()]) -> [erltrace_words:look()].
proc_words(_) -> erlang:nif_error(not_loaded).

%% Flows that are over end; foreign: there are tokens that are not ours. Nodes: those that run the
%% script. Reports: parts of flows of other nodes that are over.
-spec end_flows(Number :: non_neg_integer()) ->
          {ours | foreign, Nodes :: [node()], [flow_report()]} | gone.
end_flows(Number) -> run(end_flows, [Number]).

-type flow_report() :: {node(), Flow :: pos_integer(), Away :: non_neg_integer(),
                        Messages :: non_neg_integer(), Spawns :: non_neg_integer(),
                        Depth :: non_neg_integer(), Last :: non_neg_integer()} |
                       {node(), Flow :: pos_integer(), Away :: non_neg_integer(),
                        Messages :: non_neg_integer(), Spawns :: non_neg_integer(),
                        Depth :: non_neg_integer(), Last :: non_neg_integer(), cut}.

-spec flow_reports(Number :: non_neg_integer(), [flow_report()]) -> ok.
flow_reports(Number, Reports) -> run(flow_reports, [Number, Reports]).

%% The clock of this node in ns, and what is added to it to have that of the first node that runs
%% the script.
-spec flow_clock(Number :: non_neg_integer(), get | integer()) ->
          {Now :: non_neg_integer(), Offset :: integer(), Known :: boolean()} | gone.
flow_clock(_, _) -> erlang:nif_error(not_loaded).

%% From now on a process that sends or receives a token of ours loses it, and follow() begins
%% nothing.
-spec drain_flows(Number :: non_neg_integer()) -> ok | gone.
drain_flows(_) -> erlang:nif_error(not_loaded).

-spec has_stacks(nif()) -> boolean() | failure().
has_stacks(_) -> erlang:nif_error(not_loaded).

%% The table of loaded code (c_src/beam/code/code_table.c): bring it up to date; the rest.
-spec code_table([{module(), fun(), HasOldCode :: boolean()}]) ->
          {Modules :: non_neg_integer(), Functions :: non_neg_integer(),
           NotUnderstood :: non_neg_integer(), Why :: binary()} | {refused, Why :: binary()}.
code_table(Modules) -> run(code_table, [Modules]).

-spec code_ask(term()) -> term().
code_ask(_) -> erlang:nif_error(not_loaded).

%% For tests: the text of a term as a script sees it, and the number of steps it took.
-spec match(term(), iodata(), [{atom(), [atom()]}]) ->
          {match, [{string(), term()}]} | nomatch | {error, {non_neg_integer(), string()}}.
match(_, _, _) -> erlang:nif_error(not_loaded).

-spec look(term(), atom(), integer() | iodata()) ->
          integer() | binary() | boolean() | undefined | {error, {non_neg_integer(), string()}}.
look(_, _, _) -> erlang:nif_error(not_loaded).

-spec print(term(), pos_integer(), boolean()) -> {binary(), non_neg_integer()}.
print(_, _, _) -> erlang:nif_error(not_loaded).

-spec fire(non_neg_integer(), atom(), pid() | port(), [
    atom() | pid() | port() | binary() | integer()
]) -> boolean().
fire(_, _, _, _) -> erlang:nif_error(not_loaded).

-spec user_enabled() -> boolean().
user_enabled() -> erlang:nif_error(not_loaded).

-spec user_trace([term()]) -> true | false | badarg.
user_trace(_) -> erlang:nif_error(not_loaded).

-spec enabled(atom(), term(), pid() | port()) -> trace | discard | remove.
enabled(_, _, _) -> erlang:nif_error(not_loaded).

-spec trace(atom(), term(), pid() | port(), term(), map()) -> term().
trace(_, _, _, _, _) -> erlang:nif_error(not_loaded).
