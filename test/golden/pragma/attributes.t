# attributes: of names that the script declares, before or behind; of a provider's parts
< t.d
| #pragma D attributes Evolving/Evolving/Common later
| int early, later;
| #pragma D attributes Private/Private/Unknown early
| #pragma D attributes Stable/Evolving/ISA provider mine provider
| #pragma D attributes Stable/Evolving/ISA provider mine args
| #pragma D binding "1.0" early
| #pragma D binding "1.6.2" later
| BEGIN { early = 1; later = 2; printf("%d %d\n", early, later); exit(0); }
$ erltrace -qs t.d
> 1 2
>
# -xamin refuses what is less stable
$ erltrace -xamin=Evolving/Evolving/Common -e -xerrtags -s t.d
!~ \[D_ATTR_MIN\] line 8: .*early
? 1
$ erltrace -xamin=Private/Private/Unknown -qs t.d
> 1 2
>
