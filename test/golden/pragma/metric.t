# what an aggregation is called as a metric: erltrace serve reads it in the shape
< t.d
| #pragma D metric @lat name=store_latency help="How long, in all." unit=ns labels=op,table
| #pragma D metric @ help="Bare."
| BEGIN { @lat["get", 1] = quantize(7); @ = count(); @other = count(); exit(0); }
$ erltrace --json --live=50 -qs t.d | head -1
> {"type":"shape","node":"","aggregations":[{"aggregation":"lat","function":"quantize","params":[],"keys":2,"metric":{"labels":["op","table"],"name":"store_latency","help":"How long, in all.","unit":"ns"}},{"aggregation":"_","function":"count","params":[],"keys":0,"metric":{"labels":[],"help":"Bare."}},{"aggregation":"other","function":"count","params":[],"keys":0}]}

# it changes nothing else
$ erltrace -qs t.d | grep -c .
~ ^[0-9]+$

# an aggregation that the script does not have
< t1.d
| #pragma D metric @nosuch name=x
| BEGIN { @a = count(); exit(0); }
$ erltrace -e -xerrtags -s t1.d
!~ \[D_PRAGMA_UNUSED\] line 1: #pragma D metric names @nosuch, which the script does not have
? 1

# as many labels as keys
< t2.d
| BEGIN { @a[1, 2] = count(); exit(0); }
| #pragma D metric @a labels=one
$ erltrace -e -xerrtags -s t2.d
!~ \[D_PRAGMA_MALFORM\] line 2: #pragma D metric: @a has 2 keys, not 1
? 1

# labels that others set
< t3.d
| #pragma D metric @a labels=node
| BEGIN { @a[1] = count(); exit(0); }
$ erltrace -e -xerrtags -s t3.d
!~ \[D_PRAGMA_MALFORM\] line 1: #pragma D metric: a label that others set: node
? 1
$ sed 's/node/x,x/' t3.d >t4.d; erltrace -e -xerrtags -s t4.d
!~ \[D_PRAGMA_MALFORM\] line 1: #pragma D metric: the same label twice: x
? 1

# what is not a member, a name or a pair
$ sed 's/labels=node/colour=red/' t3.d >t5.d; erltrace -e -xerrtags -s t5.d
!~ \[D_PRAGMA_MALFORM\] line 1: #pragma D metric: there are name=, help=, unit= and labels=, not colour
? 1
$ sed 's/labels=node/name=a-b/' t3.d >t6.d; erltrace -e -xerrtags -s t6.d
!~ \[D_PRAGMA_MALFORM\] line 1: #pragma D metric: only letters, digits and _ make a name, not a-b
? 1
$ sed 's/labels=node/name=a name=b/' t3.d >t7.d; erltrace -e -xerrtags -s t7.d
!~ \[D_PRAGMA_MALFORM\] line 1: #pragma D metric: twice: name
? 1
$ sed 's/labels=node/help="a/' t3.d >t8.d; erltrace -e -xerrtags -s t8.d
!~ \[D_PRAGMA_MALFORM\] line 1: #pragma D metric: a quote is missing after help
? 1
$ sed 's/ labels=node//' t3.d >t9.d; erltrace -e -xerrtags -s t9.d
!~ \[D_PRAGMA_MALFORM\] line 1: #pragma D metric: expected #pragma D metric @name
? 1
$ sed 's/@a labels=node/a name=x/' t3.d >t10.d; erltrace -e -xerrtags -s t10.d
!~ \[D_PRAGMA_MALFORM\] line 1: #pragma D metric: expected #pragma D metric @name
? 1

# count() has no unit; one pragma for an aggregation
$ sed 's/labels=node/unit=ns/' t3.d >t11.d; erltrace -e -xerrtags -s t11.d
!~ \[D_PRAGMA_MALFORM\] line 1: #pragma D metric: count\(\) has no unit
? 1
< t12.d
| #pragma D metric @a name=x
| #pragma D metric @a name=y
| BEGIN { @a[1] = count(); exit(0); }
$ erltrace -e -xerrtags -s t12.d
!~ \[D_PRAGMA_MALFORM\] line 2: #pragma D metric: a second one for @a, after line 1
? 1
