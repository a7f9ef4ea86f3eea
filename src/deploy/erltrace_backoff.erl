%% SPDX-License-Identifier: Apache-2.0
%% @private
%% @doc A child of the top supervisor waits before it starts once more soon after the last time.
%% What ends over and over, or is killed, is so restarted less often than the top supervisor's
%% intensity bears: that supervisor never gives up, which would end the application, and the node of
%% a release. The pause doubles up to a few seconds, for which the top supervisor waits too.
-module(erltrace_backoff).
-export([wait/3]).

-define(FIRST_PAUSE, 1000). % ms
-define(LONGEST_PAUSE, 8000).
-define(HEALTHY, 60000).    % ms: after one that ran for so long, pauses begin anew

%% @doc Called by the top supervisor when it starts this child. Lost says what does not work without
%% it, for the log; Failed is called with the same.
-spec wait(Name :: atom(), Lost :: string(), Failed :: fun((binary()) -> ok)) -> ok.
wait(Name, Lost, Failed) ->
    case erltrace_metrics:setting({started, Name}, never) of
        never ->
            started(Name, ?FIRST_PAUSE);
        {At, Pause0} ->
            Pause = case now_ms() - At > ?HEALTHY of
                        true -> ?FIRST_PAUSE;
                        false -> Pause0
                    end,
            Text = unicode:characters_to_binary(
                     io_lib:format("~ts: ~ts has ended. It starts again in ~b s",
                                   [Lost, Name, Pause div 1000])),
            logger:error("erltrace: ~ts", [Text]),
            Failed(Text),
            receive after Pause -> ok end,
            started(Name, min(?LONGEST_PAUSE, 2 * Pause)),
            logger:notice("erltrace: ~ts runs again", [Name])
    end.

started(Name, Pause) ->
    erltrace_metrics:set({started, Name}, {now_ms(), Pause}).

now_ms() ->
    erlang:monotonic_time(millisecond).
