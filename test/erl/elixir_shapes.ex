# SPDX-License-Identifier: Apache-2.0
# Stacks of Elixir code that are known, with their lines: as stack_shapes.erl has them. expected/1 says
# what is on the stack below here/1. Functions that Elixir's own library calls are `:..`.
defmodule ElixirShapes do
  defmodule Struct do
    defstruct [:at]
  end

  defprotocol Proto do
    def go(x)
  end

  defimpl Proto, for: Struct do
    def go(x) do
      r = ElixirShapes.here(x.at)
      {r}
    end
  end

  # Runs at in a stack of this shape.
  def run(shape, at) do
    r = shape(shape, at)
    {:ok, r}
  end

  # No tail call: here/1 stays on the stack while at runs.
  def here(at) do
    r = at.()
    {:here, r}
  end

  defp shape(:plain, at) do
    r = here(at)
    {r}
  end

  defp shape(:recursion, at) do
    r = down(2, at)
    {r}
  end

  defp shape(:tail_call, at) do
    r = first(at)
    {r}
  end

  defp shape(:pipe, at) do
    r = at |> here() |> List.wrap()
    {r}
  end

  defp shape(:map, at) do
    r =
      Enum.map([1], fn _ ->
        s = here(at)
        {s}
      end)

    {r}
  end

  defp shape(:rescue, at) do
    r =
      try do
        raise_it(at)
      rescue
        ArgumentError ->
          s = here(at)
          {s}
      end

    {r}
  end

  defp shape(:receive, at) do
    send(self(), {:shape, :go})

    r =
      receive do
        {:shape, :go} ->
          s = here(at)
          {s}
      end

    {r}
  end

  defp shape(:with, at) do
    r =
      with {:ok, f} <- wrapped(at),
           {:here, s} <- here(f) do
        s
      end

    {r}
  end

  defp shape(:protocol, at) do
    r = Proto.go(%Struct{at: at})
    {r}
  end

  defp shape(:default, at) do
    r = defaults(at)
    {r}
  end

  defp shape(:question?, at) do
    r = question?(at)
    {r}
  end

  defp down(0, at), do: [here(at)]

  defp down(n, at) do
    r = down(n - 1, at)
    [r]
  end

  defp first(at), do: second(at)

  defp second(at) do
    r = here(at)
    [r]
  end

  defp raise_it(at) do
    if is_function(at), do: raise(ArgumentError)
  end

  defp wrapped(at), do: {:ok, at}

  def defaults(at, more \\ 1) do
    r = here(at)
    {r, more}
  end

  def question?(at) do
    r = here(at)
    [r]
  end

  def shapes, do: Enum.map(all(), fn {shape, _} -> shape end)

  # [{Module, Function, Arity, Line}], the newest first; of what the compiler names it is the beginning.
  def expected(shape) do
    {^shape, frames} = List.keyfind(all(), shape, 0)
    Enum.map(frames, &frame/1)
  end

  defp frame({f, a, line}), do: {__MODULE__, f, a, line}
  defp frame(other), do: other

  defp all do
    [
      plain: [{:shape, 2, 33}, {:run, 2, 22}],
      recursion: [{:down, 2, 113}, {:down, 2, 116}, {:down, 2, 116}, {:shape, 2, 38}, {:run, 2, 22}],
      tail_call: [{:second, 1, 123}, {:shape, 2, 43}, {:run, 2, 22}],
      pipe: [{:shape, 2, 48}, {:run, 2, 22}],
      map: [{:"-shape/2-", 2, 55}, :.., {:shape, 2, 54}, {:run, 2, 22}],
      rescue: [{:shape, 2, 68}, {:run, 2, 22}],
      receive: [{:shape, 2, 81}, {:run, 2, 22}],
      with: [{:shape, 2, 91}, {:run, 2, 22}],
      protocol: [{ElixirShapes.Proto.ElixirShapes.Struct, :go, 1, 15}, {:shape, 2, 99}, {:run, 2, 22}],
      default: [{:defaults, 2, 134}, {:shape, 2, 104}, {:run, 2, 22}],
      question?: [{:question?, 1, 139}, {:shape, 2, 109}, {:run, 2, 22}]
    ]
  end
end
