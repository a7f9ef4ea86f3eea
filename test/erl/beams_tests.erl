%% SPDX-License-Identifier: Apache-2.0
%%
%% The command brings modules compiled here into nodes of newer releases. Those do not load a module
%% that has instructions which only older compilers make: none of ours has one.
-module(beams_tests).

-include_lib("eunit/include/eunit.hrl").

%% What OTP 25 still makes or loads, and OTP 29 does not ('please re-compile this module').
-define(GONE, [
    allocate_heap_zero, allocate_zero, bs_add, bs_append, bs_bits_to_bytes, bs_bits_to_bytes2,
    bs_context_to_binary, bs_final2, bs_init2, bs_init_bits, bs_private_append, bs_put_binary,
    bs_put_float, bs_put_integer, bs_put_string, bs_put_utf16, bs_put_utf32, bs_put_utf8,
    bs_restore2, bs_save2, bs_start_match2, bs_test_unit, bs_utf16_size, bs_utf8_size,
    fcheckerror, fclearerror, init, make_fun2, recv_mark, recv_set
]).

newer_releases_load_them_test_() ->
    Beams = filelib:wildcard(filename:join(filename:dirname(code:which(erltrace)), "*.beam")),
    [?_assert(length(Beams) > 40)
     | [{filename:basename(Beam), ?_assertEqual([], gone(Beam))} || Beam <- Beams]].

%% The pattern that erltrace_deploy once had, which the compiler of OTP 25 makes such code of.
it_can_fail_test() ->
    case list_to_integer(erlang:system_info(otp_release)) of
        25 ->
            {ok, hidden, Code} = compile:forms([
                form("-module(hidden)."),
                form("-export([is_hidden/1])."),
                form("is_hidden(<<$., _/binary>>) -> true; is_hidden(File) -> filename:extension(File).")
            ]),
            ?assertEqual([{is_hidden, 1, bs_test_unit}], gone(Code));
        _ ->
            ok
    end.

form(Text) ->
    {ok, Tokens, _} = erl_scan:string(Text),
    {ok, Form} = erl_parse:parse_form(Tokens),
    Form.

gone(Beam) ->
    {beam_file, _, _, _, _, Functions} = beam_disasm:file(Beam),
    lists:usort([
        {Name, Arity, Operation}
     || {function, Name, Arity, _, Instructions} <- Functions,
        Instruction <- Instructions,
        Operation <- [operation(Instruction)],
        lists:member(Operation, ?GONE)
    ]).

operation(Instruction) when is_atom(Instruction) -> Instruction;
operation(Instruction) when element(1, Instruction) =:= test -> element(2, Instruction);
operation(Instruction) -> element(1, Instruction).
