%% SPDX-License-Identifier: Apache-2.0
%% @private
%% @doc Strings of JSON, as c_src/json_write.c writes them: OTP has no writer before 27.
-module(erltrace_json).
-export([string/1]).

-spec string(unicode:chardata()) -> unicode:charlist().
string(Text) ->
    [$", [escaped(C) || C <- unicode:characters_to_list(Text)], $"].

escaped(C) when C =:= $"; C =:= $\\ -> [$\\, C];
escaped($\n) -> "\\n";
escaped($\t) -> "\\t";
escaped(C) when C < 32; C =:= 127 -> io_lib:format("\\u~4.16.0b", [C]);
escaped(C) -> C.
