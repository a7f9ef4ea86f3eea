%% SPDX-License-Identifier: Apache-2.0
%% Probes that a node cannot give: an error where a script names nothing else, else a warning.
-module(absent_tests).
-include_lib("eunit/include/eunit.hrl").

warnings(Script, Options) ->
    {ok, H} = erltrace:open(),
    [ok = erltrace:setopt(H, O, V) || {O, V} <- Options],
    ok = erltrace:compile(H, Script),
    ok = erltrace:go(H),
    {ok, Items} = erltrace:consume(H),
    Again = erltrace:consume(H),
    ok = erltrace:close(H),
    ?assertEqual(ok, Again), % said once
    [W || {warning, W} <- Items].

alone_is_an_error_test() ->
    {error, {dtrace, <<"D_PDESC_INVAL">>, _, _, Text}} =
        erltrace:script("erlang*:::copy-struct { @ = count(); }"),
    ?assertNotEqual(nomatch, string:find(Text, "copy_struct_x")).

beside_others_is_a_warning_test() ->
    [W] = warnings("erlang*:::process-spawn, erlang*:::copy-struct { @ = count(); }", []),
    ?assertNotEqual(nomatch, string:find(W, "copy-struct never fires")),
    [_] = warnings("erlang*:lists:seq:function-entry, erlang*:::copy-struct { @ = count(); }", []),
    [_, _] = warnings("erlang*:::user_trace-n1 {} erlang*:::copy-struct, erlang*:::copy-object {}",
                      []).

zdefs_is_a_warning_test() ->
    [_] = warnings("erlang*:::copy-struct { @ = count(); }", [{"zdefs", "1"}]).

%% No VM has them: they have happened zero times, so the script is right.
gone_is_a_warning_test() ->
    [W] = warnings("erlang*:::driver-event { @ = count(); }", []),
    ?assertNotEqual(nomatch, string:find(W, "gone from OTP")).

by_a_pattern_is_nothing_test() ->
    {ok, H} = erltrace:script("erlang*:::copy-* { @ = count(); }"),
    ?assertEqual(ok, erltrace:consume(H)),
    ok = erltrace:close(H).
