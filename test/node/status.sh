#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Every process that a command has in a node answers sys:get_status/1, the loader too, which only a
# node without an erltrace of its own has. (test/erl/process_tests.erl: what they say.)
. "$(dirname "$0")/../lib/nodelib.sh"
nodes_begin 300

start status
trace status -qn 'erlang*:lists:seq:function-entry { @ = count(); }'

# Ours are sensitive: what they were started with, they tell themselves.
is 'all of them answer' \
	'[erltrace_agent,erltrace_conn,erltrace_handle,erltrace_handle_sup,erltrace_limiter,erltrace_loader]' \
	"$(at status 'Ours = [P || P <- processes(), process_info(P, [initial_call, dictionary]) =:= [{initial_call, {proc_lib, init_p, 5}}, {dictionary, []}] orelse P =:= whereis(erltrace_loader)], lists:sort([begin {status, P, {module, _}, [D | _]} = sys:get_status(P), element(1, proplists:get_value(list_to_atom("$initial_call"), D)) end || P <- Ours]).')"
is 'the loader can be read' true \
	"$(at status '{status, _, {module, gen_statem}, Items} = sys:get_status(erltrace_loader), Text = lists:flatten(io_lib:format("~tp", [lists:last(Items)])), string:find(Text, "{serving,#{brought") =/= nomatch andalso length(Text) < 4000.')"
is 'rex does not keep the modules that came by it' small \
	"$(at status '(fun F(N) -> case lists:sum([Size || {_, Size, _} <- element(2, process_info(whereis(rex), binary))]) of Bytes when Bytes < 100000 -> small; Bytes when N =:= 0 -> Bytes; _ -> timer:sleep(20), F(N - 1) end end)(500).')"
is 'it goes on after being suspended' ok \
	"$(at status 'ok = sys:suspend(erltrace_loader), sys:resume(erltrace_loader).')"
at status 'lists:seq(1, 3).' >/dev/null
untrace
is 'and tracing with it' 0 "$status"
finish
