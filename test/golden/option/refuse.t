# no such option; a near name is told
$ erltrace -q -xnosuchoption -n 'BEGIN { exit(0); }'
!~ ^erltrace: failed to set -x nosuchoption: there is no option 'nosuchoption'
? 1
$ erltrace -q -xbufsiz=1m -n 'BEGIN { exit(0); }'
!~ there is no option 'bufsiz': did you mean 'bufsize'\?
? 1
# no value where one is needed
$ for o in bufsize nspec switchrate libdir bufpolicy; do erltrace -q -x $o -n 'BEGIN { exit(0); }' 2>&1; echo $?; done | sed 's/needs a value.*/needs a value/'
> erltrace: failed to set -x bufsize: option bufsize needs a value
> 1
> erltrace: failed to set -x nspec: option nspec needs a value
> 1
> erltrace: failed to set -x switchrate: option switchrate needs a value
> 1
> erltrace: failed to set -x libdir: option libdir needs a value
> 1
> erltrace: failed to set -x bufpolicy: option bufpolicy needs a value
> 1
# values that are none, and beyond the limits
$ for o in bufsize=x bufsize=0 bufsize=1kk bufsize=-1 bufsize= bufsize=99999999999999999999 strsize=0 strsize=1m nspec=-1 nspec=1.5 nspec=100000 jit=maybe quiet=2 switchrate=1parsec switchrate=1ss bufpolicy=best bufresize=never evaltime=never stdc=x printsize=1g calls=slow calls= stackindent=1000 aggsortpos=x cpu=-1 maxframes=0; do erltrace -q -x "$o" -n 'BEGIN { exit(0); }' >/dev/null 2>err && echo "ran: $o"; grep -q "^erltrace: failed to set -x ${o%%=*}: option ${o%%=*}" err || cat err; done
# the message says what would do
$ erltrace -q -xbufpolicy=best -n 'BEGIN { exit(0); }'
! erltrace: failed to set -x bufpolicy: option bufpolicy: 'best' is not valid: it takes switch, ring or fill
? 1
$ erltrace -q -xstrsize=0 -n 'BEGIN { exit(0); }'
! erltrace: failed to set -x strsize: option strsize: 0 is not between 1 and 64k
? 1
# with its tag
$ erltrace -q -xerrtags -xnosuch -n 'BEGIN { exit(0); }'
!~ ^erltrace: failed to set -x nosuch: \[ET_OPTION\] 
? 1
# in a script: with its line
< bad.d
| /* one */
| #pragma D option nosuch=1
| BEGIN { exit(0); }
$ erltrace -q -xerrtags -s bad.d
!~ ^erltrace: failed to compile script bad.d: \[D_PRAGMA_OPTSET\] line 2: .*nosuch
? 1
