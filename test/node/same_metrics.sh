#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# One script, at the same time in erltrace serve and in a release: the two expositions are the same,
# line by line, in both formats. The last line is "N passed, N failed".

# shellcheck source=test/lib/nodelib.sh
. "$(dirname "$0")/../lib/nodelib.sh"
# shellcheck source=test/lib/servelib.sh
. "$root/test/lib/servelib.sh"
serve_begin 200
leaf='erlang*:demo_exact:leaf/1:function-entry'
mkdir scripts
cat >scripts/same.d <<EOC
#pragma D option strsize=8k
#pragma D metric @took name=same_took help="How long it took." unit=ns labels=op
#pragma D metric @rate unit=percent
#pragma D metric @up name=erltrace_scrapes
#pragma D metric @ratio name=erltrace_script_armed_ratio
BEGIN
{
	@text["a\\\\b\"c\\nd", "\\377", -1, (uint64_t)-1] = count();
	this->s = "xxxxxxxx";
	this->s = strjoin(this->s, this->s); this->s = strjoin(this->s, this->s); this->s = strjoin(this->s, this->s);
	this->s = strjoin(this->s, this->s); this->s = strjoin(this->s, this->s); this->s = strjoin(this->s, this->s);
	this->s = strjoin(this->s, this->s); this->s = strjoin(this->s, this->s); this->s = strjoin(this->s, this->s);
	@long[strjoin(this->s, "y")] = count();
	@long[strjoin(this->s, "z")] = count();
	@unsigned = sum((uint64_t)-1);
	@most = max((uint64_t)-1);
	@took["get"] = lquantize(1500, 0, 3000, 1000);
	@took["put"] = lquantize(-7, 0, 3000, 1000);
	@ll = llquantize(150, 10, 0, 3, 10);
	@p = percentile(17, 50, 99.9);
	@mean = avg(-1234567890123456789);
	@a = avg(1); @a_sum = max(5);
	@rate = max(12); @up = count(); @ratio = max(1); @sd = stddev(1);
}
$leaf { @calls[probefunc] = count(); @sum = sum(-1); @q = quantize(5); @stacks[ustack(2)] = count(); }
$leaf { @many[n++] = count(); }
EOC
sed -i '1i int n;' scripts/same.d
start same
at same 'code:ensure_loaded(demo_exact).' >/dev/null
serve -N same --max-labels 10 scripts
shows 'the server has it' '^erltrace_script_up\{script="same",target="same"\} 1$'
settings="[{scripts, [\"$tmp/scripts\"]}, {budget, 100}, {budget_all, 100}, {metrics, [{max_labels, 10}]}]"
at same "code:add_path(\"$(realpath "$ebin")\"), application:load(erltrace)." >/dev/null
at same "[application:set_env(erltrace, K, V) || {K, V} <- $settings]." >/dev/null
is 'the application starts' ok "$(at same 'application:start(erltrace).')"
exposed() { at same "file:write_file(\"$tmp/release\", erltrace:metrics($1))." >/dev/null; }
has_release() { # name, extended regular expression; a minute at most
	local i
	for ((i = 0; i < 600; i++)); do exposed text; grep -qE -- "$2" release && break; sleep 0.1; done
	ok "$1" grep -qE -- "$2" release
}
has_release 'the release has it' '^erltrace_script_up\{node="same@[^"]*",script="same"\} 1$'
has_release 'and its BEGIN' '^erltrace_same_most\{'
shows 'so has the server' '^erltrace_same_most\{'
at same 'demo_exact:calls(500).' >/dev/null
has_release 'the release has counted' '^erltrace_same_calls_total\{.*\} 500$'
shows 'so has the server' '^erltrace_same_calls_total\{.*\} 500$'

# Those of the script; of more keys than there may be series, the first that come have their own.
of_script() { grep -E '^(# [A-Z]+ )?(erltrace_same_|same_)' | grep -v '^erltrace_same_many' | LC_ALL=C sort; }
for form in text openmetrics; do
	exposed $form
	accept=text/plain
	[ $form = text ] || accept='application/openmetrics-text; version=1.0.0'
	curl -s --max-time 10 -H "Accept: $accept" "$url" >o
	of_script <o >server.lines
	of_script <release >release.lines
	ok "$form: it has lines" [ "$(wc -l <server.lines)" -gt 60 ]
	ok "$form: the same in both" diff server.lines release.lines
done
is 'an end' '# EOF' "$(tail -n 1 release)"
exposed text
curl -s --max-time 10 "$url" >o
many() { awk '/^erltrace_same_many_total/ { n++; sum += $NF } END { print n, sum }' "$1"; }
is 'keys beyond the limit: in the server' '11 500' "$(many o)"
is 'and in the release' '11 500' "$(many release)"
has 'a long key is cut' '^erltrace_same_long_total\{node="[^"]*",key0="x{4096}\.\.\."\} 2$'
hasnt 'names of the server are taken in both' '^erltrace_scrapes_total\{'
ok 'also in the release' [ "$(grep -c '^erltrace_scrapes' release)" = 0 ]
is 'and those of the release' 0 "$(grep -c '^erltrace_script_armed_ratio' o)"
at same 'application:stop(erltrace).' >/dev/null
is 'the application is stopped: nothing' '<<>>' "$(at same 'erltrace:metrics(text).')"
finish
