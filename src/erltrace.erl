%% SPDX-License-Identifier: Apache-2.0
%% @doc D scripts inside this node.
%%
%% ```
%% {ok, H} = erltrace:open(),
%% ok = erltrace:compile(H, "erlang*:::process-spawn { @[copyinstr(arg1)] = count(); }"),
%% ok = erltrace:go(H),
%% {ok, [{count, ["erlang:apply/2"], 17}]} = erltrace:walk(H),
%% ok = erltrace:close(H).
%% '''
%% A handle belongs to the process that opened it. When that process ends, in whatever way, the
%% probes are turned off and nothing is left. Any process may use the handle; calls are served one
%% after the other. Compiling, starting and reading run on dirty schedulers.
%%
%% Scripts, options and arguments are iodata, or a string of any characters, which is passed as
%% UTF-8. Anything else is an error of class `error', `badarg', in the caller.
%%
%% == Probes of the kernel ==
%% A script with probes of the kernel, or of other programs, runs in a program beside the node,
%% `priv/erltrace-kernel', which needs root or capabilities: without them {@link go/1} returns an
%% error with the command that grants these. All calls are the same. Probes of this node may be in
%% the same script; `$target' is the node. doc/kernel.md says more.
%%
%% == Results ==
%% There are three ways to get them. Do not mix them for one handle:
%%
%% `walk/1' and `consume/1' are those of the erltrace of 2013, and return terms of the same shape:
%% aggregations since the last walk, records since the last call. Texts are strings whose characters
%% are bytes, so that `list_to_binary/1' gives back what was traced.
%%
%% `aggregations/1' returns the names too, and does not clear what it returns; `output/1' returns
%% what the command would print.
%%
%% `subscribe/2' sends results each tick, with back pressure.
%%
%% When a script has ended by `exit()', or has been stopped, its END clauses run and their results
%% can be read; after that the calls return `{error, exited}' or `{error, stopped}'.
-module(erltrace).
-export([
    open/0,
    close/1,
    script/1, script/2,
    compile/2, compile/3,
    set_record/3,
    setopt/3,
    go/1,
    stop/1,
    status/1,
    controlling_process/2
]).
-export([walk/1, consume/1, aggregations/1, output/1, snapshot/2]).
-export([subscribe/1, subscribe/2, ack/1, unsubscribe/2]).
-export([probes/0, probes/1, options/0, format_error/1, format_error/2]).
-export([scripts/0, reload/0, metrics/0, metrics/1]).
-export([web/0, web/1, web_stop/1]).
-export_type([handle/0, reason/0, text/0, function_name/0, key/0, value/0, bucket/0, percentile/0,
              probe/0, item/0, aggregation/0, state/0, subscription/0, tick/0, probe_info/0]).

-opaque handle() :: pid().
-type text() :: iodata() | unicode:chardata().
-type reason() :: no_prog | already_running | idle | exited | filled | stopped | closed | upgraded
                | badarg | subscribed | not_subscribed | {badopt, term()} | {library, term()}
                | not_alive | no_command | timeout | {web, Text :: binary()}
                | {dtrace, Tag :: binary(), Line :: non_neg_integer(),
                   Column :: non_neg_integer(), Text :: binary()}.
%% Line and column are 0 if the error is at no position of the script.

-type function_name() :: count | sum | min | max | avg | stddev | quantize | lquantize | llquantize
                       | percentile.
-type bucket() :: {{Min :: integer(), Max :: integer()}, Count :: integer()}.
%% Min and Max are inclusive; -(1 bsl 63) and (1 bsl 63) - 1 mean no bound.
-type percentile() :: {Percent :: number(), Value :: integer()}.
%% `{50, 417}', `{99.9, 10303}': in the order of the script.
-type value() :: integer() | float() | [bucket()] | [percentile()] | undefined.
-type key() :: integer() | float() | string() | [string()] | undefined.
%% A list of strings is a stack.
-type aggregation() :: {Name :: binary(), function_name(),
                        Keys :: [integer() | float() | binary() | [binary()] | undefined], value()}.
-type probe() :: {Provider :: string(), Module :: string(), Function :: string(), Name :: string()}.
-type item() :: {probe, probe(), integer() | float() | string() | [string()] | undefined}
              | {printf | printa | print, probe(), Text :: string()}
              | {alert, probe(), {Name :: string(), Text :: string()}}
              | {drop, Kind :: string(), Count :: non_neg_integer(), Message :: string()}
              | {fault | warning, Message :: string()}.
-type state() :: idle | running | stopped | filled | {exited, Code :: integer()}.
-type subscription() :: reference().
-type tick() :: #{tick := pos_integer(), status := state(), aggregations := [aggregation()],
                  records => [tuple()], output => binary(),
                  drops := [{Kind :: binary(), Count :: non_neg_integer(), Message :: binary()}],
                  faults := [Message :: binary()], warnings := [Message :: binary()],
                  missed := non_neg_integer()}.
-type probe_info() :: #{id := pos_integer(), provider := binary(), module := binary(),
                        function := binary(), name := binary(), args := [binary()] | unknown}.

%% ---- life ------------------------------------------------------------------------------------

%% @doc A new handle, owned by the caller.
-spec open() -> {ok, handle()} | {error, reason()}.
open() ->
    case erltrace_handle:start(self()) of
        {ok, Pid, _} -> {ok, Pid};
        Error -> Error
    end.

%% @doc Turns the probes off and frees everything. Closing twice is fine.
-spec close(handle()) -> ok.
close(H) ->
    _ = call(H, close, [H]),
    ok.

%% @equiv script(Source, [])
-spec script(text()) -> {ok, handle()} | {error, reason()}.
script(Source) ->
    script(Source, []).

%% @doc Open, compile and go in one step.
-spec script(text(), [text()]) -> {ok, handle()} | {error, reason()}.
script(Source, Args) ->
    Request = {compile, text(Source, [Source, Args]), texts(Args, [Source, Args]), [kernel]},
    case open() of
        {ok, H} ->
            case erltrace_handle:calls(H, [Request, go]) of
                ok -> {ok, H};
                Error -> close(H), Error
            end;
        Error ->
            Error
    end.

%% @doc Sets an option, as `-x' of the command does: `setopt(H, "bufsize", "8m")'. An empty value
%% means the option without a value.
-spec setopt(handle(), text(), text()) -> ok | {error, reason()}.
setopt(H, Name, Value) ->
    Args = [H, Name, Value],
    call(H, {setopt, plain(Name, Args), plain(Value, Args)}, Args).

%% @equiv compile(H, Source, [])
-spec compile(handle(), text()) -> ok | {error, reason()}.
compile(H, Source) ->
    compile(H, Source, []).

%% @doc Compiles a script. Args are what `$1', `$2' ... stand for in it. Several scripts may be
%% compiled before go; they share their variables.
-spec compile(handle(), text(), [text()]) -> ok | {error, reason()}.
compile(H, Source, Args) ->
    All = [H, Source, Args],
    call(H, {compile, text(Source, All), texts(Args, All), [kernel]}, All).

%% @doc The fields of a record, for patterns such as `#order{id = Id}' and erlfield() in scripts
%% that are compiled afterwards. Without it they are found in the debug information of the modules
%% that the script's probes name.
-spec set_record(handle(), Name :: atom(), Fields :: [atom()]) -> ok | {error, reason()}.
set_record(H, Name, Fields) ->
    Args = [H, Name, Fields],
    is_atom(Name) andalso lists:all(fun is_atom/1, Fields) orelse error(badarg, Args),
    call(H, {set_record, atom_to_binary(Name), [atom_to_binary(F) || F <- Fields]}, Args).

%% @doc Turns the probes on; `{error, no_prog}' without a compiled script. A handle runs once: to
%% run again, open another.
-spec go(handle()) -> ok | {error, reason()}.
go(H) ->
    call(H, go, [H]).

%% @doc Turns the probes off; END runs when results are read next.
-spec stop(handle()) -> ok | {error, reason()}.
stop(H) ->
    call(H, stop, [H]).

%% @doc The state of a script, as a map:
%%
%% `fired', how many probes have fired; `lost', how many returns were lost for lack of room;
%% `unnamed', how many names of processes were, which are shown by their pids; `no_args', how many
%% returns and exceptions had no arguments of their calls; `cut_args', at how many of them patterns
%% or comparisons met parts of arguments that were not kept, being too large or not to be copied;
%% `bufsize', the size of the trace buffer of each thread; `prints', whether anything is ever
%% written there while the script runs;
%% `skipped', how many processes belong to another tracer (before OTP 27); `left', how many
%% functions have somebody else's pattern, so that not all of their calls may be seen (before OTP
%% 27); `missing', which probes cannot fire here and why, or `<<>>'; `returns_by', whether returns
%% are matched by the `stack' pointer or, where the VM's layout is not known, by `names', and
%% `undefined' if nothing needs it; `things', of a script with probes of the provider state, how
%% many `rounds' there were, how many `partial' ones, how many things these have `seen', how often a
%% process was `silent', the CPU time of the `first' two passes in ns, the `longest' slice in ns,
%% and the `cost' of the others in percent of the schedulers' time; `stacks', of a script that
%% records Erlang stacks, whether the `table' of loaded code is known, which functions and lines are
%% looked up in, or why it was refused, and how many frames of the node were not in it when they
%% were looked up (`unknown'; `changed': other code was there), which are shown as addresses;
%% `samples', of a script that samples the schedulers, by which `signal', how many `threads' there
%% are and how many samples of the node found no room so far (`drops'), or why that was `refused';
%% `kernel', whether it has probes of the kernel and so runs there;
%% `calls', which `way' function probes go, `fast' or `traced' (`none': there are none), how many
%% `functions' do, how many are `counted' by the VM and have no events, which are `traced' although
%% the others are not, as reason, number and example, `why' the fast way is not possible, or `<<>>',
%% and whether the script has `warned' of that; `cost', the percentage of the schedulers' busy time
%% that the script takes, with rounds and samples (of one with probes of the kernel: of the time in
%% which the machine's processors are busy); `aborted', why the watchdog ended the script.
%% After that, what was gathered can be read once more; then the calls that read results return the
%% reason as an error.
-spec status(handle()) -> {ok, #{state := state(), running := boolean(), kernel := boolean(),
                                 fired := non_neg_integer(),
                                 lost := non_neg_integer(), unnamed := non_neg_integer(),
                                 no_args := non_neg_integer(), cut_args := non_neg_integer(),
                                 bufsize := non_neg_integer(), prints := boolean(),
                                 skipped := non_neg_integer(),
                                 left := non_neg_integer(), missing := binary(),
                                 calls := erltrace_calls:about(),
                                 cost := float(), aborted := binary() | undefined,
                                 returns_by := stack | names | undefined,
                                 samples := #{signal := non_neg_integer(),
                                              threads := non_neg_integer(),
                                              drops := non_neg_integer()} |
                                            {refused, Why :: binary()} | undefined,
                                 things := erltrace_state:about() | undefined,
                                 stacks := erltrace_code:about() | undefined}} | {error, reason()}.
status(H) ->
    call(H, counts, [H]).

%% @doc Gives the handle to another process: it ends with that process.
-spec controlling_process(handle(), pid()) -> ok | {error, reason()}.
controlling_process(H, Owner) when is_pid(Owner) ->
    call(H, {owner, Owner}, [H, Owner]);
controlling_process(H, Owner) ->
    error(badarg, [H, Owner]).

%% ---- results ---------------------------------------------------------------------------------

%% @doc What the aggregations gathered since the last walk; `ok' if that is nothing. Keys are in
%% the order in which the script has them. Of a scheduler that is put aside in the midst of an
%% event, what it has gathered is in a later walk; after {@link stop/1} all of it is there.
-spec walk(handle()) -> ok | {ok, [{function_name(), [key()], value()}]} | {error, reason()}.
walk(H) ->
    case call(H, {walk, true}, [H]) of
        {ok, []} -> ok;
        {ok, Aggs} -> {ok, [{Fn, strings(Keys), V} || {_, Fn, Keys, V} <- Aggs]};
        Error -> Error
    end.

%% @doc Everything that the aggregations hold, by name (`<<"_">>' for `@'), with keys in the order
%% in which the script has them. Nothing is cleared. As in {@link walk/1}, what a scheduler that is
%% put aside has gathered may come later.
-spec aggregations(handle()) -> {ok, [aggregation()]} | {error, reason()}.
aggregations(H) ->
    call(H, {walk, false}, [H]).

%% @doc Records since the last call, one by one: what was traced or printed, with the probe, and
%% what was lost. A probe whose clause has no action has the value `undefined'.
-spec consume(handle()) -> ok | {ok, [item()]} | {error, reason()}.
consume(H) ->
    case call(H, {work, records}, [H]) of
        {ok, []} -> ok;
        {done, []} -> {error, ended(call(H, status, [H]))};
        {error, _} = Error -> Error;
        {_, Items} -> {ok, strings(Items)}
    end.

ended({exited, _}) -> exited;
ended(filled) -> filled;
ended({error, Reason}) -> Reason;
ended(_) -> stopped.

%% @doc What the script prints, as the command would print it; `done' when it has ended.
-spec output(handle()) -> {ok | done, iodata()} | {error, reason()}.
output(H) ->
    case call(H, {work, text}, [H]) of
        {error, _} = Error -> Error;
        {Status, Items} -> {Status, lists:append([item_text(I) || I <- Items])}
    end.

item_text({text, Text}) -> [Text];
item_text({drop, _, _, Text}) -> [Text, $\n];
item_text({fault, Text}) -> [Text, $\n];
item_text({warning, Text}) -> [Text, $\n].

%% @doc Writes what a script with `bufpolicy=ring' has recorded to files in the folder of the option
%% `snapshotdir', while it goes on; `Why' is in their names. (`snapshot()' of a script does the
%% same.)
-spec snapshot(handle(), Why :: iodata()) -> {ok, [file:filename()]} | {error, reason()}.
snapshot(H, Why) ->
    case call(H, {snapshot, unicode:characters_to_binary(Why), text}, [H, Why]) of
        {ok, Items} ->
            case [Text || {warning, Text} <- Items] of
                [] -> {ok, [unicode:characters_to_list(F) || {snapshot, F} <- Items]};
                [Text | _] -> {error, {dtrace, <<"ET_FILE">>, 0, 0, Text}}
            end;
        Error -> Error
    end.

%% Binaries become strings, wherever they are in results.
strings(B) when is_binary(B) -> binary_to_list(B);
strings(L) when is_list(L) -> [strings(E) || E <- L];
strings(T) when is_tuple(T) -> list_to_tuple(strings(tuple_to_list(T)));
strings(Other) -> Other.

%% ---- a subscription --------------------------------------------------------------------------

%% @equiv subscribe(H, #{})
-spec subscribe(handle()) -> {ok, subscription()} | {error, reason()}.
subscribe(H) ->
    subscribe(H, #{}).

%% @doc Has results sent each tick as `{erltrace, Ref, tick, Map}', and at the end, in whatever way
%% the script ends, once as `{erltrace, Ref, done, Map}' with the results of END. The map has
%% `aggregations', `records' (as from consume/1, but with binaries) or `output', `drops', `faults',
%% `warnings', `status', the number of the `tick', and how many ticks were `missed' since the last
%% message.
%%
%% The receiver acknowledges each message with {@link ack/1}. While `window' messages are not
%% acknowledged none is sent, and what the script gathers stays in its buffers, which are bounded.
%% The subscription ends with the handle or with the receiver.
%%
%% Options, with their defaults: `to', the receiver (the caller); `interval' in milliseconds (1000);
%% `window' (1); `output', either `records' or `text' as the command prints it (records);
%% `aggregations', either `new' for what came since the last message or `all' (new).
-spec subscribe(handle(), erltrace_sub:opts()) -> {ok, subscription()} | {error, reason()}.
subscribe(H, Opts) when is_map(Opts) ->
    case erltrace_sub:options(Opts) of
        {ok, All} -> call(H, {subscribe, maps:get(to, All, self()), All}, [H, Opts]);
        Error -> Error
    end;
subscribe(H, Opts) ->
    error(badarg, [H, Opts]).

%% @doc Acknowledges a message of a subscription: the next one may come.
-spec ack(subscription()) -> ok.
ack(Ref) when is_reference(Ref) ->
    Ref ! {ack, Ref},
    ok.

%% @doc Ends a subscription. Messages that are in the caller's mailbox already are removed.
-spec unsubscribe(handle(), subscription()) -> ok | {error, reason()}.
unsubscribe(H, Ref) when is_reference(Ref) ->
    Result = call(H, {unsubscribe, Ref}, [H, Ref]),
    flush(Ref),
    Result.

flush(Ref) ->
    receive {erltrace, Ref, _, _} -> flush(Ref) after 0 -> ok end.

%% ---- scripts that are always on --------------------------------------------------------------

%% @doc The scripts of the application's setting `scripts' (doc/deploy.md), by their names. Of each
%% the `state', which is armed, paused to stay within its budget, or failed, and `why'; how often it
%% `starts', `errors', `events', `pauses'; `spent' nanoseconds of processor time; milliseconds
%% that it was `armed', and `paused' or ended; and `demand', the part of the schedulers' time that
%% it takes while it is armed; `unmatched', the probe descriptions that match nothing so far, and
%% why.
-spec scripts() -> [{Name :: binary(), #{atom() | {drops | left_out, binary()} => term()}}].
scripts() ->
    erltrace_deploy:scripts().

%% @doc Looks at the settings and the files of the scripts that are always on, now instead of within
%% five seconds.
-spec reload() -> ok | {error, not_running}.
reload() ->
    erltrace_deploy:reload().

%% @doc What the scripts that are always on have gathered, as metrics: name, type, help, and the
%% samples with their labels as Prometheus prints them. A sample of a summary has its count, its sum
%% and its quantiles, of a histogram its buckets and its count. Where a sum is `undefined' there is
%% none.
-spec metrics() -> [erltrace_metrics:family()].
metrics() ->
    case ets:whereis(erltrace_metrics) of
        undefined -> [];
        _ -> erltrace_metrics:exposition(terms)
    end.

%% @doc The same as text, as `erltrace serve' has it: in Prometheus' format 0.0.4, or OpenMetrics
%% 1.0. For a page of your own, where the application `prometheus' does not run.
-spec metrics(text | openmetrics) -> binary().
metrics(Form) when Form =:= text; Form =:= openmetrics ->
    case ets:whereis(erltrace_metrics) of
        undefined -> <<>>;
        _ -> erltrace_metrics:exposition(Form)
    end.

%% ---- the live page --------------------------------------------------------------------------

%% @equiv web(#{})
-spec web() -> {ok, pid(), Url :: string()} | {error, reason()}.
web() ->
    web(#{}).

%% @doc Starts the live page for this node, or for `nodes': a server in a program of its own,
%% `erltrace web', on 127.0.0.1 and `port' 8042 (0: any free one). The URL has a token: whoever has
%% it may run scripts in the node, though no destructive ones. The server ends with {@link
%% web_stop/1}, or with the process that called this; then every script of the page ends. With
%% `kernel' scripts of the page may have probes of the kernel, which a helper of this node traces as
%% for {@link compile/2}: what its user may see, whoever has the token may see. If the
%% server ends by itself, `Pid' exits with `{shutdown, {web, ExitStatus}}'. The command is looked
%% for beside this library and in the path; `command' names another. `bind', `hosts', `tls_cert',
%% `tls_key', `cookie_file', `token_file', `log', `run_seconds', `scripts' and `pages' are the
%% command's options. Without `log', who ran what is logged by the logger, at level info. The cookie
%% is this node's.
-spec web(erltrace_web:opts()) -> {ok, pid(), Url :: string()} | {error, reason()}.
web(Opts) when is_map(Opts) ->
    erltrace_web:start(self(), Opts).

%% @doc Ends the server of {@link web/1}: when this returns it has ended.
-spec web_stop(pid()) -> ok.
web_stop(Web) ->
    erltrace_web:stop(Web).

%% ---- probes, options, errors ----------------------------------------------------------------

%% @doc All probes, except those of functions, which are created when a description names them: use
%% probes/1.
-spec probes() -> {ok, [probe_info()]} | {error, reason()}.
probes() ->
    probes("").

%% @doc The probes that a description names: `probes("erlang*:lists:seq*:function-entry")'.
-spec probes(text()) -> {ok, [probe_info()]} | {error, reason()}.
probes(Description) ->
    Desc = plain(Description, [Description]),
    case open() of
        {ok, H} ->
            try erltrace_handle:call(H, {probes, Desc, full, [kernel]}) of
                {ok, Probes} ->
                    {ok, [probe_info(P) || P <- Probes]};
                {error, {dtrace, <<"D_PDESC_ZERO">> = Tag, Line, Column, Text}} ->
                    Whole = iolist_to_binary(["failed to match ", Desc, ": ", Text]),
                    {error, {dtrace, Tag, Line, Column, Whole}};
                Error ->
                    Error
            after
                close(H)
            end;
        Error ->
            Error
    end.

probe_info(Probe) ->
    [Id, Provider, Module, Function, Name, Args | _] = tuple_to_list(Probe),
    #{id => Id, provider => Provider, module => Module, function => Function, name => Name,
      args => Args}.

%% @doc Every option that setopt/3 knows, and what it is for.
-spec options() -> [{Name :: binary(), Help :: binary()}].
options() ->
    erltrace_nif:names(options).

%% @doc An error as a sentence, with its position and tag.
-spec format_error({error, reason()} | reason()) -> iodata().
format_error({error, Reason}) ->
    format_error(Reason);
format_error({dtrace, Tag, Line, Column, Text}) ->
    [position(Line, Column), Text, " [", Tag, meaning(Tag), "]"];
format_error(no_prog) ->
    "no script has been compiled and started: compile one, then go";
format_error(already_running) ->
    "the script runs already: open another handle for another script";
format_error(idle) ->
    "the script could not be started: open another handle";
format_error(stopped) ->
    "the script has been stopped: a handle runs once, open another";
format_error(exited) ->
    "the script has ended by itself: a handle runs once, open another";
format_error(filled) ->
    "a buffer is full and bufpolicy is fill: set bufsize larger, or another bufpolicy";
format_error(badarg) ->
    "an argument is neither text nor a list of texts";
format_error(closed) ->
    "the handle is closed: it was closed, its owner has ended, or the application was stopped";
format_error(upgraded) ->
    "another version of erltrace has been loaded since the handle was opened: open another";
format_error(subscribed) ->
    "results of this handle are sent to a subscriber, and cannot be read otherwise";
format_error(not_subscribed) ->
    "there is no such subscription, or it has ended";
format_error({badopt, Option}) ->
    io_lib:format("~0P is not an option of a subscription, which are to, interval, window, output "
                  "and aggregations", [Option, 20]);
format_error({library, Reason}) ->
    io_lib:format("the library priv/erltrace.so cannot be loaded (~0P): the log says why; "
                  "make builds it", [Reason, 20]);
format_error(not_alive) ->
    "this node has no name: start it with -sname or -name";
format_error(no_command) ->
    "the command erltrace is neither beside the library nor in the path: make install";
format_error(timeout) ->
    "the command erltrace does not answer";
format_error({web, Text}) ->
    Text;
format_error(Other) ->
    io_lib:format("~0P", [Other, 30]).

%% @doc The same, with the line of the script and a caret under the position.
-spec format_error({error, reason()} | reason(), Source :: text()) -> iodata().
format_error({error, Reason}, Source) ->
    format_error(Reason, Source);
format_error({dtrace, _, Line, Column, _} = Reason, Source) when Line > 0, Column > 0 ->
    Lines = binary:split(text(Source, [Reason, Source]), <<"\n">>, [global]),
    case Line =< length(Lines) of
        true ->
            Text = lists:nth(Line, Lines),
            Before = binary:part(Text, 0, min(Column - 1, byte_size(Text))),
            [format_error(Reason), "\n  ", Text, "\n  ", << <<(blank(C))>> || <<C>> <= Before >>,
             "^"];
        false ->
            format_error(Reason)
    end;
format_error(Reason, _) ->
    format_error(Reason).

%% Tabs stay tabs, so that both lines line up.
blank($\t) -> $\t;
blank(_) -> $\s.

position(0, _) -> "";
position(Line, 0) -> io_lib:format("line ~b: ", [Line]);
position(Line, Column) -> io_lib:format("line ~b, column ~b: ", [Line, Column]).

meaning(Tag) ->
    try lists:keyfind(Tag, 1, erltrace_nif:names(tags)) of
        {_, Meaning} -> [": ", Meaning];
        false -> ""
    catch
        error:_ -> "" % the library is not loaded
    end.

%% ---- arguments -------------------------------------------------------------------------------

call(H, Request, Args) when is_pid(H) ->
    case erltrace_handle:call(H, Request) of
        {error, badarg} -> error(badarg, Args);
        Reply -> Reply
    end;
call(_, _, Args) ->
    error(badarg, Args).

%% Bytes stay; a string with larger characters becomes UTF-8.
text(Text, Args) ->
    try
        iolist_to_binary(Text)
    catch
        error:badarg ->
            try unicode:characters_to_binary(Text) of
                B when is_binary(B) -> B;
                _ -> error(badarg, Args)
            catch
                error:badarg -> error(badarg, Args)
            end
    end.

%% A text that C can take as a string.
plain(Text, Args) ->
    B = text(Text, Args),
    case binary:match(B, <<0>>) of
        nomatch -> B;
        _ -> error(badarg, Args)
    end.

texts(Texts, Args) ->
    try [plain(T, Args) || T <- Texts]
    catch
        error:{bad_generator, _} -> error(badarg, Args)
    end.
