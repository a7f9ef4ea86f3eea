%% SPDX-License-Identifier: Apache-2.0
%% The charts of doc/img, from the rows of a run: SVG that is to be read on light and on dark.
-module(bench_chart).
-export([bars/1, growth/1]).

-define(WIDTH, 880).

%% ---- ns an event, bars ------------------------------------------------------------------------

-define(LEFT, 250). % where bars begin, and how long they are at most
-define(LONG, 540).
-define(STEP, 20).
-define(FROM, 1.0). % decades: 10 ns to 100 us
-define(TO, 5.0).

-spec bars([map()]) -> iodata().
bars(Rows) ->
    Compare = [R || #{<<"part">> := <<"compare">>, <<"ns">> := _} = R <- Rows],
    Groups = [{T, [R || #{<<"title">> := T1} = R <- Compare, T1 =:= T]}
              || T <- lists:uniq([T || #{<<"title">> := T} <- Compare])],
    {Parts, End} = lists:mapfoldl(fun group/2, 62, Groups),
    svg(?WIDTH, End + 6,
        [text(16, 24, "t", "", "Nanoseconds of processor time that an event costs"),
         text(16, 42, "s", "", "shorter is better; each line is ten times the one to its left"),
         [grid(D, 58, End - 8) || D <- lists:seq(round(?FROM), round(?TO))], Parts]).

group({Title, Rows}, Y) ->
    Bars = [bar(R, Y + 22 + I * ?STEP) || {I, R} <- lists:enumerate(0, Rows)],
    {[text(16, Y + 12, "g", "", Title), Bars], Y + 22 + length(Rows) * ?STEP + 16}.

bar(#{<<"what">> := What, <<"way">> := Way, <<"ns">> := Ns}, Y) ->
    X = at(Ns),
    [text(?LEFT - 8, Y + 13, "l", " text-anchor=\"end\"", What),
     io_lib:format("<rect class=\"~s\" x=\"~b\" y=\"~b\" width=\"~.1f\" height=\"14\" rx=\"2\"/>\n",
                   [class(Way), ?LEFT, Y + 2, max(1.0, X - ?LEFT)]),
     text(X + 6, Y + 13, "v", "", nanoseconds(Ns))].

class(Way) when Way =:= <<"erltrace">>; Way =:= <<"fast">>; Way =:= <<"counters">>; Way =:= <<"interp">>;
                Way =:= <<"kernel">> -> "ours";
class(<<"null">>) -> "floor";
class(_) -> "other".

at(Ns) -> ?LEFT + ?LONG * (math:log10(max(10.0, min(1.0e5, Ns * 1.0))) - ?FROM) / (?TO - ?FROM).

grid(Decade, Y0, Y1) ->
    X = at(math:pow(10, Decade)),
    [line(X, Y0, X, Y1), text(X, Y0 - 4, "a", " text-anchor=\"middle\"",
                              nanoseconds(math:pow(10, Decade)))].

nanoseconds(Ns) when Ns >= 10000 -> [number(Ns / 1000), " us"];
nanoseconds(Ns) -> [number(Ns), " ns"].

number(N) when N >= 10 -> integer_to_list(round(N));
number(N) -> float_to_list(N * 1.0, [{decimals, 1}]).

%% ---- how it grows, lines ----------------------------------------------------------------------

-define(PANEL_W, 290).
-define(PANEL_H, 200).

-spec growth([map()]) -> iodata().
growth(Rows) ->
    Growth = [R || #{<<"part">> := <<"growth">>} = R <- Rows],
    Things = lists:uniq([{W, T} || #{<<"with">> := W, <<"title">> := T} <- Growth]),
    Panels = [panel(T, [R || #{<<"with">> := W1} = R <- Growth, W1 =:= W],
                    I rem 3 * ?PANEL_W, 56 + I div 3 * ?PANEL_H)
              || {I, {W, T}} <- lists:enumerate(0, Things)],
    Lines = (length(Things) + 2) div 3,
    svg(?WIDTH, 56 + Lines * ?PANEL_H,
        [text(16, 24, "t", "", "Nanoseconds an event costs, with more and more of a thing"),
         text(16, 42, "s", "", "blue: erltrace; dashed: where all the functions are called; grey: "
              "a tracer that does nothing"), Panels]).

panel(Title, Rows, X, Y) ->
    Points = fun(Key) -> [{N, V} || #{<<"n">> := N, Key := V} <- Rows] end,
    Lines = [{"ours", Points(<<"ns">>)}, {"ours dash", Points(<<"spread_ns">>)},
             {"floor", Points(<<"floor">>)}, {"floor dash", Points(<<"spread_floor">>)}],
    Ns = [N || #{<<"n">> := N} <- Rows],
    Top = max(1000.0, lists:max([V * 1.0 || {_, Ps} <- Lines, {_, V} <- Ps])),
    Place = {X + 48, Y + 24, ?PANEL_W - 70, ?PANEL_H - 62, hd(Ns), lists:last(Ns),
             math:ceil(math:log10(Top))},
    Decades = lists:seq(1, round(math:ceil(math:log10(Top)))),
    [text(X + 16, Y + 12, "g", "", Title),
     [begin
          {_, Py} = point({hd(Ns), math:pow(10, D)}, Place),
          [line(X + 48, Py, X + ?PANEL_W - 22, Py),
           text(X + 44, Py + 4, "a", " text-anchor=\"end\"", nanoseconds(math:pow(10, D)))]
      end || D <- Decades],
     [begin
          {Px, _} = point({N, 10.0}, Place),
          text(Px, Y + ?PANEL_H - 24, "a", " text-anchor=\"middle\"", count(N))
      end || N <- Ns],
     [curve(Class, [point(P, Place) || P <- Ps]) || {Class, Ps} <- Lines, Ps =/= []]].

point({N, V}, {X, Y, W, H, From, To, Top}) ->
    {X + W * (math:log10(N) - math:log10(From)) / max(0.001, math:log10(To) - math:log10(From)),
     Y + H - H * (math:log10(max(10.0, V * 1.0)) - 1) / (Top - 1)}.

curve(Class, Points) ->
    [io_lib:format("<polyline class=\"line ~s\" points=\"~s\"/>\n",
                   [Class, lists:join(" ", [io_lib:format("~.1f,~.1f", [X, Y]) || {X, Y} <- Points])]),
     [io_lib:format("<circle class=\"~s\" cx=\"~.1f\" cy=\"~.1f\" r=\"2.5\"/>\n", [Class, X, Y])
      || {X, Y} <- Points]].

count(N) when N >= 1000000 -> [integer_to_list(N div 1000000), "M"];
count(N) when N >= 1000 -> [integer_to_list(N div 1000), "k"];
count(N) -> integer_to_list(N).

%% ---- SVG --------------------------------------------------------------------------------------

svg(Width, Height, Body) ->
    [io_lib:format("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 ~b ~b\" width=\"~b\" "
                   "height=\"~b\" role=\"img\">\n", [Width, Height, Width, Height]),
     "<style>\n"
     "text { font: 12px system-ui, sans-serif; fill: #59636e; }\n"
     ".t { font-size: 16px; font-weight: 600; } .g { font-size: 13px; font-weight: 600; }\n"
     ".t, .g, .v { fill: #1f2328; } .a { font-size: 10px; }\n"
     ".ours { fill: #2f6fde; } .floor { fill: #9aa4af; } .other { fill: #d08c3c; }\n"
     ".grid { stroke: #818b98; stroke-opacity: .3; }\n"
     ".line { fill: none; stroke-width: 2; } .line.ours { stroke: #2f6fde; }\n"
     ".line.floor { stroke: #9aa4af; } .line.dash { stroke-dasharray: 5 4; }\n"
     "@media (prefers-color-scheme: dark) {\n"
     "text { fill: #9198a1; } .t, .g, .v { fill: #e6edf3; }\n"
     ".ours { fill: #5b9bff; } .line.ours { fill: none; stroke: #5b9bff; }\n}\n"
     "</style>\n", Body, "</svg>\n"].

text(X, Y, Class, More, Text) ->
    io_lib:format("<text class=\"~s\" x=\"~.1f\" y=\"~.1f\"~s>~ts</text>\n",
                  [Class, X * 1.0, Y * 1.0, More, escape(Text)]).

line(X0, Y0, X1, Y1) ->
    io_lib:format("<line class=\"grid\" x1=\"~.1f\" y1=\"~.1f\" x2=\"~.1f\" y2=\"~.1f\"/>\n",
                  [N * 1.0 || N <- [X0, Y0, X1, Y1]]).

escape(Text) ->
    [case C of $< -> "&lt;"; $> -> "&gt;"; $& -> "&amp;"; _ -> C end
     || C <- unicode:characters_to_list(Text)].
