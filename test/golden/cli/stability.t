# -v: how stable the probes of a script are, and what its clauses use
$ erltrace -qvn 'BEGIN { trace(curthread != 0); exit(0); }' 2>/dev/null | head -13
>
> Stability attributes for description BEGIN :
>
> 	Minimum Probe Description Attributes
> 		Identifier Names: Stable
> 		Data Semantics:   Stable
> 		Dependency Class: Common
>
> 	Minimum Statement Attributes
> 		Identifier Names: Stable
> 		Data Semantics:   Private
> 		Dependency Class: Common
>
# the least of all
< t.d
| inline int mine = 3;
| #pragma D attributes Unstable/Evolving/ISA mine
| BEGIN { trace(mine); exit(0); }
| tick-1s { trace(1); }
$ erltrace -qvs t.d 2>/dev/null | sed -n 2,12p
> Stability attributes for script t.d:
>
> 	Minimum Probe Description Attributes
> 		Identifier Names: Evolving
> 		Data Semantics:   Evolving
> 		Dependency Class: Common
>
> 	Minimum Statement Attributes
> 		Identifier Names: Unstable
> 		Data Semantics:   Evolving
> 		Dependency Class: ISA

# with -e, each of its descriptions
$ erltrace -e -v -n 'BEGIN, tick-1s { trace(1); }' 2>/dev/null | sed -n '14,/^Program/p'
> dtrace:::BEGIN
>
> 	Probe Description Attributes
> 		Identifier Names: Stable
> 		Data Semantics:   Stable
> 		Dependency Class: Common
>
> 	Argument Attributes
> 		Identifier Names: Stable
> 		Data Semantics:   Stable
> 		Dependency Class: Common
>
> 	Argument Types
> 		None
>
> profile:::tick-1s
>
> 	Probe Description Attributes
> 		Identifier Names: Evolving
> 		Data Semantics:   Evolving
> 		Dependency Class: Common
>
> 	Argument Attributes
> 		Identifier Names: Evolving
> 		Data Semantics:   Evolving
> 		Dependency Class: Common
>
> 	Argument Types
> 		None
>
> Program of description BEGIN, tick-1s :
