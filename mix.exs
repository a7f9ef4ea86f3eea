# SPDX-License-Identifier: Apache-2.0
# erltrace as a dependency of mix projects. The library is built by make, the modules by mix.
defmodule Mix.Tasks.Compile.ErltraceNif do
  use Mix.Task.Compiler

  def run(_args) do
    jobs = "-j#{System.schedulers_online()}"

    case System.cmd("make", ["-s", jobs, "nif"], into: IO.stream(), stderr_to_stdout: true) do
      {_, 0} ->
        Mix.Project.build_structure()
        {:ok, []}

      {_, status} ->
        Mix.raise("erltrace: make nif failed, exit code #{status}")
    end
  end
end

defmodule Erltrace.MixProject do
  use Mix.Project

  def project do
    [
      app: :erltrace,
      version: version(),
      language: :erlang,
      compilers: [:erltrace_nif] ++ Mix.compilers(),
      erlc_options: [:debug_info, {:i, ~c"."}],
      deps: []
    ]
  end

  def application do
    [mod: {:erltrace_app, []}, registered: [:erltrace_sup]]
  end

  # include/erltrace.h has it.
  defp version do
    header = File.read!(Path.join(__DIR__, "include/erltrace.h"))
    [_, version] = Regex.run(~r/define ERLTRACE_VERSION "(.*)"/, header)
    version
  end
end
