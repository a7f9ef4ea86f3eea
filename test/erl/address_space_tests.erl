%% SPDX-License-Identifier: Apache-2.0
%% Handles in a node take no more addresses than their buffers need.
-module(address_space_tests).
-include_lib("eunit/include/eunit.hrl").

%% Each once had four gigabytes, for memory that only the kernel's engine shares.
no_window_for_the_kernel_test() ->
    {ok, First} = erltrace:open(),
    Before = virtual_kb(),
    Handles = [begin {ok, H} = erltrace:open(), H end || _ <- lists:seq(1, 5)],
    Kb = virtual_kb() - Before,
    [ok = erltrace:close(H) || H <- [First | Handles]],
    ?assert(Kb < 4 * 1024 * 1024).

virtual_kb() ->
    {ok, Status} = file:read_file("/proc/self/status"),
    {match, [Kb]} = re:run(Status, "VmSize:\\s*([0-9]+)", [{capture, [1], list}]),
    list_to_integer(Kb).
