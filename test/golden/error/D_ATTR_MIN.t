# less stable than -xamin asks for
< t.d
| int x;
| #pragma D attributes Private/Private/Common x
| BEGIN { x = 1; }
$ erltrace -e -xamin=Evolving/Evolving/Common -xerrtags -s t.d
!~ \[D_ATTR_MIN\] line 3: 
? 1
# attributes that are none
$ erltrace -e -xamin=Rocksolid -xerrtags -n 'BEGIN { x = pid; }'
!~ \[D_ATTR_MIN\]
? 1
