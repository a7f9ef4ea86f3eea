%% SPDX-License-Identifier: Apache-2.0
%% The Erlang of README.md, run as it stands there.
-module(readme_tests).
-include_lib("eunit/include/eunit.hrl").

readme_test_() ->
    {ok, Text} = file:read_file("README.md"),
    Blocks = blocks(binary:split(Text, <<"\n">>, [global])),
    [?_assert(length(Blocks) >= 4) |
     [{binary_to_list(hd(binary:split(B, <<"\n">>))), fun() -> run(B) end} || B <- Blocks]].

blocks([]) -> [];
blocks([<<"```erlang">> | Lines]) ->
    {Block, [_ | Rest]} = lists:splitwith(fun(L) -> L =/= <<"```">> end, Lines),
    [iolist_to_binary(lists:join("\n", Block)) | blocks(Rest)];
blocks([_ | Lines]) -> blocks(Lines).

run(Block) ->
    {ok, Tokens, _} = erl_scan:string(binary_to_list(Block)),
    {ok, Exprs} = erl_parse:parse_exprs(Tokens),
    {value, _, _} = erl_eval:exprs(Exprs, []),
    ok.
