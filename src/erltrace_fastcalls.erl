%% SPDX-License-Identifier: Apache-2.0
%% @private
%% @doc Function probes by hooks inside the VM.
-module(erltrace_fastcalls).
-export([available/0]).

%% @doc Can this VM be hooked?
-spec available() -> ok | {refused, Why :: binary()}.
available() ->
    {refused, <<"not built in">>}.
