// SPDX-License-Identifier: Apache-2.0
// Which probes the editor offers, and in which order: what people look for first, then what the node
// has that fits, and last the thousand numbered probes that wait for dtrace:pn().

// The order of interest; others follow as the table of probes has them.
const FIRST = [
	"function-entry",
	"function-return",
	"function-exception",
	"message-send",
	"message-queued",
	"process-spawn",
	"process-exit",
	"process-scheduled",
	"process-unscheduled",
	"gc_minor-start",
	"gc_major-start",
];

const numbered = (probe) => /:user_trace-n\d+$/.test(probe);

// Names of probes by interest.
export function byInterest(names) {
	const place = (n) => (FIRST.includes(n) ? FIRST.indexOf(n) : FIRST.length);
	return [...new Set(names)].sort((a, b) => place(a) - place(b));
}

// What was typed, as it has to be: no node has a provider erlang, but for its number.
export const meant = (text) => text.replace(/^erlang:/, "erlang*:");

// A probe of the node as it is to be written: with the provider that was typed, if that is a pattern. A
// node's own is the number of its process: a script with it would be good for this one VM only.
function written(probe, text) {
	const [, typed] = /^([^:]*):/.exec(text) ?? [];
	const provider = /^[^:]*/.exec(probe)[0];
	if (typed && /[*?[]/.test(typed)) return typed + probe.slice(provider.length);
	if (/^erlang\d+$/.test(provider) && !/^erlang\d/.test(text)) return `erlang*${probe.slice(provider.length)}`;
	return probe;
}

// What to offer for `text`: `names` are those that a provider has, `found` what the node answered.
export function offer(text, names, answer) {
	const found = answer.map((p) => written(p, text));
	// The provider and perhaps the beginning of a name: of all modules and functions.
	const wide = /^(erlang[\d*]*):(?:$|::?$|::([\w-]*)$)/.exec(text);
	const general = wide
		? byInterest(names)
				.filter((n) => n.includes(wide[2] ?? ""))
				.map((n) => `${wide[1]}:::${n}`)
		: [];
	const rest = found.filter((p) => !numbered(p));
	return [...new Set([...general, ...rest, ...found.filter(numbered)])];
}
