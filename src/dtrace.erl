%% SPDX-License-Identifier: Apache-2.0
%% @doc Probes that Erlang code fires itself.
%%
%% `p/0..8' fire `erlang*:::user_trace-i4s4', `pn/1..9' one of `user_trace-n0' to `n950'. They take
%% up to four integers, then up to four iolists. In a script `arg0' is the process, `arg1' its tag,
%% `arg2' to `arg5' are the integers, `arg6' to `arg9' the texts. They return `true' if the probe is
%% enabled, `false' if it is not, and `badarg' for an argument that is neither integer nor iolist.
%% While the probe is not enabled they cost a few nanoseconds. They also work where the library
%% cannot be loaded.
-module(dtrace).
-export([available/0, s/1]).
-export([p/0, p/1, p/2, p/3, p/4, p/5, p/6, p/7, p/8]).
-export([pn/1, pn/2, pn/3, pn/4, pn/5, pn/6, pn/7, pn/8, pn/9]).
-export([put_tag/1, get_tag/0, get_tag_data/0, spread_tag/1, restore_tag/1]).
-export_type([arg/0, result/0]).

-type arg() :: integer() | iolist() | binary().
-type result() :: true | false | error | badarg.
-define(TAG, '$dtrace_tag').

%% @doc Can probes be fired in this node?
-spec available() -> boolean().
available() ->
    case code:ensure_loaded(erltrace_nif) of
        {module, _} -> true;
        _ -> false
    end.

%% @doc Fire `user_trace-s1' with one text.
-spec s(iolist() | binary()) -> result().
s(Text) ->
    case enabled() of
        true -> erltrace_nif:user_trace([Text]);
        false -> false
    end.

-spec p() -> result().
p() -> enabled() andalso fire([]).

-spec p(arg()) -> result().
p(A) -> enabled() andalso fire([A]).

-spec p(arg(), arg()) -> result().
p(A, B) -> enabled() andalso fire([A, B]).

-spec p(arg(), arg(), arg()) -> result().
p(A, B, C) -> enabled() andalso fire([A, B, C]).

-spec p(arg(), arg(), arg(), arg()) -> result().
p(A, B, C, D) -> enabled() andalso fire([A, B, C, D]).

-spec p(arg(), arg(), arg(), arg(), arg()) -> result().
p(A, B, C, D, E) -> enabled() andalso fire([A, B, C, D, E]).

-spec p(arg(), arg(), arg(), arg(), arg(), arg()) -> result().
p(A, B, C, D, E, F) -> enabled() andalso fire([A, B, C, D, E, F]).

-spec p(arg(), arg(), arg(), arg(), arg(), arg(), arg()) -> result().
p(A, B, C, D, E, F, G) -> enabled() andalso fire([A, B, C, D, E, F, G]).

-spec p(arg(), arg(), arg(), arg(), arg(), arg(), arg(), arg()) -> result().
p(A, B, C, D, E, F, G, H) -> enabled() andalso fire([A, B, C, D, E, F, G, H]).

-spec pn(0..950) -> result().
pn(N) -> enabled() andalso fire(N, []).

-spec pn(0..950, arg()) -> result().
pn(N, A) -> enabled() andalso fire(N, [A]).

-spec pn(0..950, arg(), arg()) -> result().
pn(N, A, B) -> enabled() andalso fire(N, [A, B]).

-spec pn(0..950, arg(), arg(), arg()) -> result().
pn(N, A, B, C) -> enabled() andalso fire(N, [A, B, C]).

-spec pn(0..950, arg(), arg(), arg(), arg()) -> result().
pn(N, A, B, C, D) -> enabled() andalso fire(N, [A, B, C, D]).

-spec pn(0..950, arg(), arg(), arg(), arg(), arg()) -> result().
pn(N, A, B, C, D, E) -> enabled() andalso fire(N, [A, B, C, D, E]).

-spec pn(0..950, arg(), arg(), arg(), arg(), arg(), arg()) -> result().
pn(N, A, B, C, D, E, F) -> enabled() andalso fire(N, [A, B, C, D, E, F]).

-spec pn(0..950, arg(), arg(), arg(), arg(), arg(), arg(), arg()) -> result().
pn(N, A, B, C, D, E, F, G) -> enabled() andalso fire(N, [A, B, C, D, E, F, G]).

-spec pn(0..950, arg(), arg(), arg(), arg(), arg(), arg(), arg(), arg()) -> result().
pn(N, A, B, C, D, E, F, G, H) -> enabled() andalso fire(N, [A, B, C, D, E, F, G, H]).

enabled() ->
    try erltrace_nif:user_enabled()
    catch error:_ -> false % the library is not loaded
    end.

fire(Args) ->
    case arguments(Args) of
        badarg -> badarg;
        Eight -> erltrace_nif:user_trace([get_tag() | Eight])
    end.

fire(Label, Args) ->
    case arguments(Args) of
        badarg -> badarg;
        Eight -> erltrace_nif:user_trace([Label, get_tag() | Eight])
    end.

%% Four integers, then four texts; `undef' for those that are missing.
arguments(Args) ->
    {Ints, Texts} = lists:splitwith(fun is_integer/1, Args),
    case length(Ints) =< 4 andalso length(Texts) =< 4 of
        true -> fill(Ints, 4) ++ fill(Texts, 4);
        false -> badarg
    end.

fill(_, 0) -> [];
fill([], N) -> [undef | fill([], N - 1)];
fill([A | As], N) -> [A | fill(As, N - 1)].

%% ---- tags ------------------------------------------------------------------------------------

%% @doc Gives the calling process a tag; returns the previous one.
-spec put_tag(undefined | iodata()) -> binary() | undefined.
put_tag(undefined) ->
    erase(?TAG);
put_tag(Data) ->
    put(?TAG, unicode:characters_to_binary(Data)).

%% @doc The calling process's tag.
-spec get_tag() -> binary() | undefined.
get_tag() ->
    get(?TAG).

%% @doc The tag of the calling process, or the one that came with the last message (spread_tag/1).
-spec get_tag_data() -> binary() | undefined.
get_tag_data() ->
    case get_tag() of
        undefined ->
            case seq_trace:get_token(label) of
                {label, {?TAG, Tag}} -> Tag;
                _ -> undefined
            end;
        Tag ->
            Tag
    end.

%% @doc With `true', the tag travels with the messages that the process sends, and the receiver
%% reads it by get_tag_data/0; with `false' it no longer does. Returns what restore_tag/1 takes. The
%% tag is the label of a sequential trace token, so a process that uses seq_trace itself is left
%% alone.
-spec spread_tag(boolean()) -> true | {non_neg_integer(), term()}.
spread_tag(true) ->
    case {get_tag(), seq_trace:get_token()} of
        {undefined, _} -> true;
        {Tag, []} -> seq_trace:set_token(label, {?TAG, Tag}), {0, []};
        {Tag, Token} ->
            case seq_trace:get_token(label) of
                {label, {?TAG, _}} -> seq_trace:set_token(label, {?TAG, Tag}), {0, Token};
                _ -> true
            end
    end;
spread_tag(false) ->
    case seq_trace:get_token(label) of
        {label, {?TAG, _}} ->
            Token = seq_trace:get_token(),
            seq_trace:set_token([]),
            {0, Token};
        _ ->
            true
    end.

%% @doc Restores the state before spread_tag/1.
-spec restore_tag(true | {non_neg_integer(), term()}) -> true.
restore_tag(true) ->
    true;
restore_tag({_, Token}) ->
    seq_trace:set_token(Token),
    true.
