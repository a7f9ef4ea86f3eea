%% SPDX-License-Identifier: Apache-2.0
%% The Erlang of README.md and of the pages of doc/, run as it stands there.
-module(pages_tests).
-include_lib("eunit/include/eunit.hrl").

pages_test_() ->
    Pages = ["README.md" | filelib:wildcard("doc/*.md")] -- [P || P <- ["doc/kernel.md"], not kernel()],
    Blocks = [{Page, B} || Page <- Pages, B <- blocks(Page)],
    [?_assert(length(Blocks) >= 5) |
     [{lists:concat([Page, ": ", binary_to_list(hd(binary:split(B, <<"\n">>)))]),
       fun() -> run(B) end} || {Page, B} <- Blocks]].

%% May this node trace the kernel?
kernel() ->
    case erltrace:script("syscall::getpid:entry { }") of
        {ok, H} ->
            erltrace:close(H) =:= ok;
        Error ->
            io:format(user, "skipped: doc/kernel.md: ~ts~n", [erltrace:format_error(Error)]),
            false
    end.

blocks(Page) ->
    {ok, Text} = file:read_file(Page),
    erlang_blocks(binary:split(Text, <<"\n">>, [global])).

erlang_blocks([]) -> [];
erlang_blocks([<<"```erlang">> | Lines]) ->
    {Block, [_ | Rest]} = lists:splitwith(fun(L) -> L =/= <<"```">> end, Lines),
    [iolist_to_binary(lists:join("\n", Block)) | erlang_blocks(Rest)];
erlang_blocks([_ | Lines]) -> erlang_blocks(Lines).

run(Block) ->
    {ok, Tokens, _} = erl_scan:string(binary_to_list(Block)),
    {ok, Exprs} = erl_parse:parse_exprs(Tokens),
    {value, _, _} = erl_eval:exprs(Exprs, []),
    ok.
