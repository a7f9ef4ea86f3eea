%% SPDX-License-Identifier: Apache-2.0
%% Stacks that are known, with their lines: run(Shape, At) runs At in here/1, from calls of a certain
%% kind. expected(Shape) says what is on the stack then, below here/1. The lines are those of this file:
%% new code goes to its end.
-module(stack_shapes).
-file("stack_shapes.erl", 6).
-export([shapes/0, run/2, here/1, expected/1]).
-export([remote/1, work/2, lines_at/1, is_as_expected/2]).
-compile([{inline, [inlined/1]}, nowarn_deprecated_catch]).
-include("stack_shapes.hrl").

%% Runs At in a stack of this shape.
run(Shape, At) ->
    R = shape(Shape, At),
    {ok, R}.

%% No tail call: here/1 stays on the stack while At runs.
here(At) ->
    R = At(),
    {here, R}.

shape(plain, At) ->
    R = here(At),
    {R};
shape(recursion, At) ->
    R = down(3, At),
    {R};
shape(mutual, At) ->
    R = even(3, At),
    {R};
shape(tail_call, At) ->
    R = first(At),
    {R};
shape(tail_chain, At) ->
    R = {loop(5, At)},
    {R};
shape(remote, At) ->
    R = ?MODULE:remote(At),
    {R};
shape(applied, At) ->
    R = apply(?MODULE, remote, [At]),
    {R};
shape('fun', At) ->
    F = fun(X) ->
                R = here(At),
                {X, R}
        end,
    R = F(1),
    {R};
shape(fun_of_env, At) ->
    G = maker(At, one, two),
    R = G(),
    {R};
shape(comprehension, At) ->
    R = [here(At) || _ <- one()],
    {R};
shape(nested_comprehension, At) ->
    R = [[begin
              S = here(At),
              {S, Y}
          end || Y <- lists:seq(X, X)] || X <- one()],
    {R};
shape(map, At) ->
    R = lists:map(fun(_) ->
                          S = here(At),
                          {S}
                  end, [1]),
    {R};
shape('try', At) ->
    R = try
            here(At)
        catch _:_ -> none
        end,
    {R};
shape('catch', At) ->
    R = (catch here(At)),
    {R};
shape(handler, At) ->
    R = try
            raise(At)
        catch
            throw:raised ->
                S = here(At),
                {S}
        end,
    {R};
shape('after', At) ->
    R = try
            ok
        after
            here(At)
        end,
    {R};
shape(after_raised, At) ->
    R = try
            try raise(At)
            after
                here(At)
            end
        catch throw:raised -> none
        end,
    {R};
shape(received, At) ->
    self() ! {?MODULE, go},
    R = receive
            {?MODULE, go} ->
                S = here(At),
                {S}
        end,
    {R};
shape(guarded, At) when is_function(At) ->
    R = if
            is_atom(At) -> none;
            true ->
                S = here(At),
                {S}
        end,
    {R};
shape(inlined, At) ->
    R = inlined(At),
    {R};
shape(header, At) ->
    R = in_header(At),
    {R};
shape(other_file, At) ->
    R = templated(At),
    {R};
shape(two_files, At) ->
    R = generated(At),
    {R};
shape(variables, At) ->
    R = variables(At, [1, 2.0, "three", <<"four">>, {5}, #{6 => 6}, make_ref(), self()]),
    {R};
shape(binary, At) ->
    R = binary(<<1, 2, 3>>, At),
    {R};
shape(many_arguments, At) ->
    R = many(1, 2, 3, 4, 5, 6, 7, 8, 9, At),
    {R}.

down(0, At) ->
    R = here(At),
    [R];
down(N, At) ->
    R = down(N - 1, At),
    [R].

even(0, At) -> [here(At)];
even(N, At) ->
    [odd(N - 1, At)].

odd(0, At) -> [here(At)];
odd(N, At) ->
    [even(N - 1, At)].

%% second/1 takes the place of first/1.
first(At) ->
    second(At).

second(At) ->
    R = here(At),
    [R].

loop(0, At) -> [here(At)];
loop(N, At) -> loop(N - 1, At).

remote(At) ->
    R = here(At),
    [R].

maker(At, A, B) ->
    fun() ->
            R = here(At),
            {A, B, R}
    end.

raise(_) ->
    throw(raised).

inlined(At) ->
    R = here(At),
    [R].

variables(At, [A, B, C, D, E, F, G, H] = All) ->
    R = here(At),
    {A, B, C, D, E, F, G, H, All, R}.

binary(<<A, Rest/binary>>, At) ->
    R = binary(Rest, At),
    [A | R];
binary(<<>>, At) ->
    [here(At)].

many(A, B, C, D, E, F, G, H, I, At) ->
    R = here(At),
    [A, B, C, D, E, F, G, H, I, R].

%% ---- files of other names, as templates and other languages have them -------------------------

-file("lib/shapes/template.ex", 7).
templated(At) ->
    R = here(At),
    [R].

-file("lib/shapes/generated.ex", 3).
generated(At) ->
    R = templated(At),
    [R].

-file("stack_shapes.erl", 210).
%% ---- what is on the stack ----------------------------------------------------------------------

shapes() -> [Shape || {Shape, _} <- all()].

%% [{Function, Arity, File, Line}], the newest first: what calls here/1, up to run/2. `..' stands for
%% functions of other modules, one or more. The compiler makes up names for funs and comprehensions,
%% and not every release the same: of these it is the beginning, '-shape/2-'. Files are the last part
%% of their paths.
expected(Shape) ->
    {Shape, Frames} = lists:keyfind(Shape, 1, all()),
    [case F of
         '..' -> '..';
         {Name, Arity, Line} -> {Name, Arity, "stack_shapes.erl", Line};
         {_, _, _, _} -> F
     end || F <- Frames].

all() ->
    [{plain, [{shape, 2, 23}, {run, 2, 14}]},
     {recursion, [{down, 2, 142}, {down, 2, 145}, {down, 2, 145}, {down, 2, 145}, {shape, 2, 26},
                  {run, 2, 14}]},
     {mutual, [{odd, 2, 152}, {even, 2, 150}, {odd, 2, 154}, {even, 2, 150}, {shape, 2, 29},
               {run, 2, 14}]},
     {tail_call, [{second, 1, 161}, {shape, 2, 32}, {run, 2, 14}]},
     {tail_chain, [{loop, 2, 164}, {shape, 2, 35}, {run, 2, 14}]},
     {remote, [{remote, 1, 168}, {shape, 2, 38}, {run, 2, 14}]},
     {applied, [{remote, 1, 168}, {shape, 2, 41}, {run, 2, 14}]},
     {'fun', [{shape, 2, 45}, {run, 2, 14}]}, % the compiler inlines it
     {fun_of_env, [{'-maker/3-', 3, 173}, {shape, 2, 52}, {run, 2, 14}]},
     {comprehension, [{'-shape/2-', 2, 55}, {shape, 2, 55}, {run, 2, 14}]},
     {nested_comprehension, [{'-shape/2-', 2, 59}, {'-shape/2-', 2, 61}, {shape, 2, 61},
                             {run, 2, 14}]},
     {map, [{'-shape/2-', 2, 65}, '..', {shape, 2, 64}, {run, 2, 14}]},
     {'try', [{shape, 2, 71}, {run, 2, 14}]},
     {'catch', [{shape, 2, 76}, {run, 2, 14}]},
     {handler, [{shape, 2, 83}, {run, 2, 14}]},
     {'after', [{shape, 2, 91}, {run, 2, 14}]},
     {after_raised, [{shape, 2, 98}, {run, 2, 14}]},
     {received, [{shape, 2, 107}, {run, 2, 14}]},
     {guarded, [{shape, 2, 115}, {run, 2, 14}]},
     {inlined, [{shape, 2, 181}, {run, 2, 14}]},
     {header, [{in_header, 1, "stack_shapes.hrl", 4}, {shape, 2, 123}, {run, 2, 14}]},
     {other_file, [{templated, 1, "template.ex", 9}, {shape, 2, 126}, {run, 2, 14}]},
     {two_files, [{templated, 1, "template.ex", 9},
                  {generated, 1, "generated.ex", 5}, {shape, 2, 129}, {run, 2, 14}]},
     {variables, [{variables, 2, 185}, {shape, 2, 132}, {run, 2, 14}]},
     {binary, [{binary, 2, 192}, {binary, 2, 189}, {binary, 2, 189}, {binary, 2, 189},
               {shape, 2, 135}, {run, 2, 14}]},
     {many_arguments, [{many, 10, 195}, {shape, 2, 138}, {run, 2, 14}]}].

%% ---- innermost: what the process does in here/1 ------------------------------------------------

%% Until somebody says stop: for who looks at the process from outside, or samples it.
work(Kind, Parent) ->
    Parent ! {self(), ready},
    work(Kind).

work(wait) ->
    receive stop -> stopped end;
work(Kind) ->
    some(Kind),
    receive stop -> stopped after 0 -> work(Kind) end.

some(erlang) -> spin(10000);
some(bif) -> erlang:md5(binary:copy(<<1>>, 100000));
some(trap) -> binary_to_term(term_to_binary(lists:seq(1, 10000), [{compressed, 1}]));
some(gc) -> garbage(200, []);
some(nif) -> zlib:compress(binary:copy(<<2>>, 100000));
some(dirty) -> [prim_file:get_cwd() || _ <- lists:seq(1, 10)].

spin(0) -> ok;
spin(N) -> spin(N - 1).

garbage(0, Acc) -> length(Acc);
garbage(N, _) -> garbage(N - 1, lists:seq(1, 100)).

%% The frames of a process as the VM itself has them: erlang:system_flag(backtrace_depth) bounds them.
lines_at(Pid) ->
    {current_stacktrace, Frames} = process_info(Pid, current_stacktrace),
    [{M, F, A, proplists:get_value(file, L, ""), proplists:get_value(line, L, 0)} ||
        {M, F, A, L} <- Frames].

%% Do these frames, [{M, F, A, File, Line}] as the VM or a tracer has them, begin as expected? Where
%% the VM shows a recursion once, so do we.
is_as_expected(Shape, Frames) ->
    same(once(expected(Shape)), once(Frames)).

same([], _) -> true;
same(['..' | Es], [{M, _, _, _, _} | Fs]) when M =/= ?MODULE ->
    same(Es, lists:dropwhile(fun({Mod, _, _, _, _}) -> Mod =/= ?MODULE end, Fs));
same([{Name, Arity, File, Line} | Es], [{?MODULE, F, Arity, FullFile, Line} | Fs]) ->
    is_name(atom_to_list(Name), atom_to_list(F)) andalso
        File =:= filename:basename(FullFile) andalso same(Es, Fs);
same(_, _) -> false.

is_name([$- | _] = Begins, F) -> lists:prefix(Begins, F);
is_name(Name, F) -> Name =:= F.

once([F, F | Fs]) -> once([F | Fs]);
once([F | Fs]) -> [F | once(Fs)];
once([]) -> [].

one() -> lists:seq(1, 1).
