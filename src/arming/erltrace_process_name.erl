%% SPDX-License-Identifier: Apache-2.0
%% @private
%% @doc What a process is called, in this order:
%%
%% 1. its registered name;
%% 2. its label (proc_lib:set_label/1, OTP 27 and later), unless payload=off hides it;
%% 3. the function that it began with: as proc_lib has it ('$initial_call', the module of the
%% callbacks rather
%%    than gen:init_it/6), else the function that it was spawned with;
%% 4. its pid. Of a process that was spawned with a fun the VM knows erlang:apply/2 only: that is no
%% name.
%%
%% This is the order for processes that are asked. For those that make events the library has the
%% same order, and what erltrace_names reports to it comes from here: see beam_proc_name() of
%% c_src/beam/proc/proc_names.c. proc_name_tests compares the two.
-module(erltrace_process_name).
-export([items/1, name/5, shown/2]).
-export([keys/1, label_and_call/1]).
-export([ask/2, text/1]).
-export([hide_labels/0, has_labels/0]).
-export_type([name/0]).

-type name() :: atom() | {label, term()} | mfa() | pid().

-define(INITIAL, {dictionary, '$initial_call'}).
-define(LABEL, {dictionary, '$process_label'}).
-define(DEPTH, 12). % of a label that is shown as text

%% ---- the order -------------------------------------------------------------------------------

%% @doc The items of process_info/2 that a name is made of, in the order in which name/5 has their
%% values. Before OTP 27 a process answers with its whole dictionary, or not at all: keys/1.
-spec items(HasLabels :: boolean()) -> [term()].
items(Labels) ->
    [registered_name, initial_call, ?INITIAL | [?LABEL || Labels]].

-spec name(
    pid(), Registered :: atom() | [], Spawned :: term(), Initial :: term(), Label :: term()
) -> name().
name(_, Name, _, _, _) when is_atom(Name) -> Name;
name(Pid, [], Spawned, Initial, Label) -> unregistered(Pid, Label, began(Initial, Spawned)).

unregistered(_, Label, _) when Label =/= undefined -> {label, Label};
unregistered(Pid, _, {erlang, apply, 2}) -> Pid;
unregistered(_, _, MFA) -> MFA.

began({M, F, A}, _) when is_atom(M), is_atom(F), is_integer(A), A >= 0 -> {M, F, A};
began({M, F, As}, _) when is_atom(M), is_atom(F), length(As) >= 0 -> {M, F, length(As)};
began(_, Spawned) -> Spawned.

%% @doc A process of erltrace hides its dictionary, and is shown as one of erltrace.
-spec shown(pid(), name()) -> name() | binary().
shown(Pid, {proc_lib, init_p, _} = Name) ->
    case is_own(Pid) of
        true -> <<"(erltrace)">>;
        false -> Name
    end;
shown(_, Name) ->
    Name.

%% ---- for the library -------------------------------------------------------------------------

%% @doc What process_info/2 is asked for, of a process that is not registered.
-spec keys(HasLabels :: boolean()) -> [term()].
keys(Labels) ->
    case erltrace_vm:has_sessions() of % OTP 27 and later
        true -> tl(items(Labels));
        false -> [initial_call, dictionary]
    end.

%% @doc What it answers, to keys/1.
-spec label_and_call([{term(), term()}]) -> {Label :: term(), mfa()}.
label_and_call([{_, Spawned}, {dictionary, Words}]) ->
    {undefined, began(proplists:get_value('$initial_call', Words), Spawned)};
label_and_call([{_, Spawned}, {_, Initial}]) ->
    {undefined, began(Initial, Spawned)};
label_and_call([{_, Spawned}, {_, Initial}, {_, Label}]) ->
    {Label, began(Initial, Spawned)}.

%% ---- one process -----------------------------------------------------------------------------

%% @doc Ask one process. If it is registered it need not run for that.
-spec ask(pid(), HasLabels :: boolean()) -> name().
ask(Pid, Labels) ->
    case erltrace_askers:info(Pid, [registered_name]) of
        [{_, Name}] when is_atom(Name) -> Name;
        [_] -> ask_more(Pid, erltrace_askers:info(Pid, keys(Labels)));
        _ -> Pid % it has ended
    end.

ask_more(Pid, Info) when is_list(Info) ->
    {Label, Call} = label_and_call(Info),
    unregistered(Pid, Label, Call);
ask_more(Pid, _) ->
    Pid. % it has ended, or does not answer

%% @doc The same as text.
-spec text(name() | binary()) -> binary().
text({label, Label}) -> printed(Label);
text({M, F, A}) ->
    unicode:characters_to_binary([printed(M), ":", printed(F), "/", integer_to_list(A)]);
text(Pid) when is_pid(Pid) -> list_to_binary(pid_to_list(Pid));
text(Text) when is_binary(Text) -> Text;
text(Name) -> printed(Name).

printed(Term) ->
    unicode:characters_to_binary(io_lib:format("~0tP", [Term, ?DEPTH])).

%% ---- labels ----------------------------------------------------------------------------------

%% @doc This process is to show no labels (payload=off).
-spec hide_labels() -> ok.
hide_labels() ->
    _ = put(no_labels, true),
    ok.

-spec has_labels() -> boolean().
has_labels() ->
    erltrace_vm:has_sessions() andalso get(no_labels) =/= true.

%% ---- processes of erltrace -------------------------------------------------------------------

%% Processes of erltrace are sensitive, but so may others be. Those of erltrace are linked with each
%% other, or monitor each other; this one, which asks, is one of them.
is_own(Pid) ->
    case get(own) of
        #{Pid := Is} -> Is;
        _ ->
            Own = own([self()], #{}),
            put(own, Own#{Pid => map_get(Pid, maps:merge(#{Pid => false}, Own))}),
            is_own(Pid)
    end.

own([P | Rest], Own) when is_map_key(P, Own) -> own(Rest, Own);
own([P | Rest], Own) ->
    case P =:= self() orelse is_like_own(P) of
        true -> own(related(P) ++ Rest, Own#{P => true});
        false -> own(Rest, Own#{P => false})
    end;
own([], Own) -> Own.

is_like_own(P) ->
    case process_info(P, [registered_name, initial_call]) of
        [{_, Name}, _] when is_atom(Name) -> lists:prefix("erltrace", atom_to_list(Name));
        [_, {_, {proc_lib, init_p, _}}] -> hides_dictionary(P);
        _ -> false
    end.

hides_dictionary(P) ->
    case process_info(P, lists:last(keys(false))) of
        {dictionary, []} -> true;
        {_, undefined} -> true;
        _ -> false
    end.

related(P) ->
    case process_info(P, [links, monitors, monitored_by]) of
        [{_, Links}, {_, Monitors}, {_, By}] ->
            [
                Q
             || Q <- Links ++ [Q || {process, Q} <- Monitors] ++ By, is_pid(Q), node(Q) =:= node()
            ];
        undefined ->
            []
    end.
