%% SPDX-License-Identifier: Apache-2.0
%% Suggestions for descriptions that match nothing.
-module(suggest_tests).

-include_lib("eunit/include/eunit.hrl").

error_of(Description) ->
    {error, {dtrace, <<"D_PDESC_ZERO">>, _, _, Text}} =
        erltrace:script([Description, " { @ = count(); }"]),
    [_, Rest] = string:split(Text, " does not match any probes: "),
    binary_to_list(Rest).

suggest_test_() ->
    [{Description, ?_assertEqual(Hint, error_of(Description))} || {Description, Hint} <- [
        {"erlang:::process-spawn",
         "the provider is erlang and a node's process id: write erlang*"},
        {"erlang*:::send", "did you mean 'message-send'?"},
        {"erlang*:lists:seq:entry", "did you mean 'function-entry'?"},
        {"erlang*:lits:seq:function-entry",
         "module lits is not loaded: did you mean 'lists'?"},
        {"erlang*:gen_sevrer:call:function-return",
         "module gen_sevrer is not loaded: did you mean 'gen_server'?"},
        {"erlang*:lits:seq:function-exception",
         "module lits is not loaded: did you mean 'lists'?"},
        {"erlang*:lists:revrse:function-exception",
         "module lists has no such function: did you mean 'reverse/1' or 'reverse/2'?"},
        {"erlang*:lists:revrse:function-entry",
         "module lists has no such function: did you mean 'reverse/1' or 'reverse/2'?"},
        {"erlang*:lists:sumlist/2:function-entry",
         "module lists has no such function: did you mean 'sublist/2' or 'sublist/3'?"},
        {"erlang*:lists:append/7:function-entry",
         "module lists has no such function: did you mean 'append/1' or 'append/2'?"},
        {"erlang*:lists:nothing_like_it:function-entry",
         "-l lists all probes, -Z goes on without; module lists is loaded, and has no such "
         "function"},
        {"erlang*:nothing_like_it::function-entry",
         "-l lists all probes, -Z goes on without; module nothing_like_it is not loaded: load "
         "it first, or with -Z (option zdefs) its functions are traced as soon as it is"}]].

elixir_module_without_prefix_test_() ->
    {timeout, 60, fun elixir_module_without_prefix/0}. % the compiler is loaded first

elixir_module_without_prefix() ->
    M = 'Elixir.Near.Cart',
    {ok, M, Code} = compile:forms([{attribute, 1, module, M}]),
    {module, M} = code:load_binary(M, "near", Code),
    Text = error_of("erlang*:Near.Cart:add:function-entry"),
    true = code:delete(M),
    code:purge(M),
    ?assertEqual("module Near.Cart is not loaded: did you mean 'Elixir.Near.Cart'?", Text).

list_test() ->
    {error, {dtrace, _, _, _, Text}} = erltrace:probes("lits::function-entry"),
    ?assertEqual(<<"failed to match lits::function-entry: no probe matches the description: module "
                   "lits is not loaded: did you mean 'lists'?">>, Text).

%% Names in quotes, with colons in them; names of any length.
odd_test() ->
    none = erltrace_suggest:hint("erlang*:::'a:b'"),
    {also, _} = erltrace_suggest:hint("erlang*:'no:such'::function-entry"),
    {also, _} = erltrace_suggest:hint(["erlang*:", lists:duplicate(5000, $x), "::function-entry"]),
    {also, _} = erltrace_suggest:hint("erlang*:lists:'':function-entry"),
    {also, _} = erltrace_suggest:hint("erlang*:lists:/:function-entry"),
    none = erltrace_suggest:hint("42").
