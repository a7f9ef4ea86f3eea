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
%% A handle belongs to the process that opened it: when that ends, by any death, the probes are
%% off and nothing is left.
-module(erltrace).
-export([open/0, script/1, setopt/3, compile/2, compile/3, go/1, walk/1, aggregations/1, consume/1,
         output/1, status/1, stop/1, close/1, format_error/1]).
-export_type([handle/0, reason/0]).

-opaque handle() :: pid().
-type reason() :: no_prog | already_running | stopped | exited | filled | closed | badarg
                | {dtrace, Tag :: binary(), Line :: integer(), Column :: integer(),
                   Text :: binary()}.
-type key() :: integer() | string() | undefined.
-type value() :: integer() | float() | [{{integer(), integer()}, integer()}].

%% @doc A new handle, owned by the caller.
-spec open() -> {ok, handle()} | {error, reason()}.
open() ->
    erltrace_handle:start(self()).

%% @doc Open, compile and go in one step.
-spec script(iodata()) -> {ok, handle()} | {error, reason()}.
script(Source) ->
    case open() of
        {ok, H} ->
            case compile(H, Source) of
                ok ->
                    case go(H) of
                        ok -> {ok, H};
                        Error -> close(H), Error
                    end;
                Error ->
                    close(H),
                    Error
            end;
        Error ->
            Error
    end.

-spec setopt(handle(), iodata(), iodata()) -> ok | {error, reason()}.
setopt(H, Name, Value) ->
    erltrace_handle:call(H, {setopt, Name, Value}).

-spec compile(handle(), iodata()) -> ok | {error, reason()}.
compile(H, Source) ->
    compile(H, Source, []).

%% @doc Arguments are what `$1', `$2' ... stand for in the script.
-spec compile(handle(), iodata(), [iodata()]) -> ok | {error, reason()}.
compile(H, Source, Args) ->
    erltrace_handle:call(H, {compile, Source, Args}).

-spec go(handle()) -> ok | {error, reason()}.
go(H) ->
    erltrace_handle:call(H, go).

%% @doc What the aggregations gathered since the last walk.
-spec walk(handle()) -> ok | {ok, [{atom(), [key()], value()}]} | {error, reason()}.
walk(H) ->
    case erltrace_handle:call(H, {walk, true}) of
        {ok, []} -> ok;
        {ok, Aggs} -> {ok, [{Fn, [key(K) || K <- Keys], V} || {_, Fn, Keys, V} <- Aggs]};
        Error -> Error
    end.

%% @doc Everything the aggregations hold, by name.
-spec aggregations(handle()) ->
          {ok, [{Name :: binary(), atom(), [integer() | binary()], value()}]} | {error, reason()}.
aggregations(H) ->
    erltrace_handle:call(H, {walk, false}).

%% @doc Records since the last call, one by one.
-spec consume(handle()) -> ok | {ok, [tuple()]} | {error, reason()}.
consume(H) ->
    case erltrace_handle:call(H, {work, records}) of
        {ok, []} -> ok;
        {ok, Items} -> {ok, Items};
        {done, []} -> {error, ended(erltrace_handle:call(H, status))};
        {done, Items} -> {ok, Items};
        Error -> Error
    end.

ended({exited, _}) -> exited;
ended(filled) -> filled;
ended(_) -> stopped.

%% @doc What the script prints, as the command would print it.
-spec output(handle()) -> {ok | done, iodata()} | {error, reason()}.
output(H) ->
    case erltrace_handle:call(H, {work, text}) of
        {error, _} = Error -> Error;
        {Status, Items} -> {Status, [T || {text, T} <- Items]}
    end.

%% @doc How it stands: `fired' probes so far; `lost' returns for want of room; `skipped' processes
%% that another tracer has (before OTP 27); `left' functions with a pattern of another's, whose
%% calls may not all be seen (before OTP 27); `returns_by' the `stack' pointer, or by `names' where
%% the VM's layout is not known, `undefined' where nothing needs it; `cost', percent of the
%% schedulers' time that events take; `aborted', why the watchdog ended the script; then what was
%% gathered can be read once more, after that the calls for results give the same as an error.
-spec status(handle()) -> {ok, #{running := boolean(), fired := non_neg_integer(),
                                 lost := non_neg_integer(), skipped := non_neg_integer(),
                                 left := non_neg_integer(),
                                 cost := float(), aborted := binary() | undefined,
                                 returns_by := stack | names | undefined}} | {error, reason()}.
status(H) ->
    erltrace_handle:call(H, counts).

-spec stop(handle()) -> ok | {error, reason()}.
stop(H) ->
    erltrace_handle:call(H, stop).

-spec close(handle()) -> ok.
close(H) ->
    erltrace_handle:close(H).

-spec format_error({error, reason()} | reason()) -> iodata().
format_error({error, Reason}) -> format_error(Reason);
format_error({dtrace, Tag, 0, _, Text}) -> io_lib:format("[~s] ~s", [Tag, Text]);
format_error({dtrace, Tag, Line, Col, Text}) ->
    io_lib:format("[~s] line ~b, column ~b: ~s", [Tag, Line, Col, Text]);
format_error(no_prog) -> "nothing has been started";
format_error(already_running) -> "the script runs already";
format_error(stopped) -> "the script has been stopped";
format_error(exited) -> "the script has ended by itself";
format_error(filled) -> "a buffer of bufpolicy fill is full";
format_error(badarg) -> "an argument is neither text nor a list of texts";
format_error(closed) -> "the handle is closed".

key(K) when is_binary(K) -> binary_to_list(K);
key(K) -> K.
