// SPDX-License-Identifier: Apache-2.0
// D for the editor: a tokenizer by line, in the form CodeMirror's StreamLanguage takes.

export const KEYWORDS = new Set(
	`auto break case char const continue counter default do double else enum extern
float for goto if import inline int long offsetof probe provider register restrict return self short
signed sizeof static string stringof struct switch this translator typedef union unsigned userland void
volatile while xlate`.split(/\s+/),
);

const PROBES =
	/^(?:BEGIN|END|ERROR)\b|^(?:tick|profile)-\d+\w*|^[\w$*?[\]!.\-]*:[\w$*?[\]!.\-+/<>'@]*:(?:[^\s,/{;]|\/\d)*/;

// words: of words.js. Token names are CodeMirror's highlighting tags.
export function tokenizer(words) {
	const kinds = new Map(
		words.filter((w) => w.kind !== "option" && w.kind !== "probe").map((w) => [w.name, w.kind]),
	);
	const NAMES = {
		variable: "variableName.standard",
		function: "variableName.function",
		action: "variableName.function",
		aggregation: "variableName.function",
	};

	function token(stream, state) {
		if (state.comment) {
			state.comment = !stream.match(/^.*?\*\//);
			if (state.comment) stream.skipToEnd();
			return "comment";
		}
		if (stream.eatSpace()) return null;
		if (stream.match("/*")) {
			state.comment = true;
			return token(stream, state);
		}
		if (stream.match("//")) {
			stream.skipToEnd();
			return "comment";
		}
		if (stream.sol() && stream.match(/^#.*/)) return "meta";
		if (stream.match(/^\s*#pragma.*/)) return "meta";
		if (state.depth === 0 && !state.predicate && stream.match(PROBES))
			return "labelName";
		if (stream.match(/^"(?:[^"\\]|\\.)*"?/)) return "string";
		if (stream.match(/^'(?:[^'\\]|\\.)+'/)) return "character";
		if (stream.match(/^(?:0[xX][\da-fA-F]+|\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)[uUlL]*/))
			return "number";
		if (stream.match(/^@\w*/)) return "typeName";
		if (stream.match(/^\$\$?\w+/)) return "variableName.special";
		const word = stream.match(/^[A-Za-z_`][\w`]*/);
		if (word) {
			const name = word[0];
			if (KEYWORDS.has(name)) return "keyword";
			if (/^\w+_t$/.test(name)) return "typeName";
			return NAMES[kinds.get(name)] ?? "variableName";
		}
		const c = stream.next();
		if (c === "{") {
			state.depth++;
			state.predicate = false;
		} else if (c === "}") state.depth = Math.max(0, state.depth - 1);
		else if (c === "/" && state.depth === 0) state.predicate = !state.predicate;
		return "{}()[]".includes(c)
			? "bracket"
			: ";,".includes(c)
				? "punctuation"
				: "operator";
	}

	return {
		name: "d",
		startState: () => ({ comment: false, depth: 0, predicate: false }),
		copyState: (s) => ({ ...s }),
		token,
		indent: (state, after, cx) =>
			Math.max(0, state.depth - (/^\s*}/.test(after) ? 1 : 0)) * cx.unit,
		languageData: {
			commentTokens: { line: "//", block: { open: "/*", close: "*/" } },
			closeBrackets: { brackets: ["(", "[", "{", '"'] },
		},
	};
}

// Whether a probe description can stand at `pos`: outside of clauses, predicates and comments. Returns
// the text of it so far, or null.
export function probeTextAt(text, pos) {
	let depth = 0;
	let predicate = false;
	for (let i = 0; i < pos; i++) {
		const two = text.slice(i, i + 2);
		if (two === "/*") {
			const end = text.indexOf("*/", i + 2);
			if (end < 0 || end + 2 > pos) return null;
			i = end + 1;
		} else if (two === "//") {
			const end = text.indexOf("\n", i);
			if (end < 0 || end >= pos) return null;
			i = end;
		} else if (text[i] === "#" && /(^|\n)[ \t]*$/.test(text.slice(0, i))) {
			const end = text.indexOf("\n", i);
			if (end < 0 || end >= pos) return null;
			i = end;
		} else if (text[i] === '"') {
			const end = /^(?:[^"\\\n]|\\.)*/.exec(text.slice(i + 1))[0].length + i + 1;
			if (end >= pos) return null;
			i = end;
		} else if (text[i] === "{") {
			depth++;
			predicate = false;
		} else if (text[i] === "}") depth = Math.max(0, depth - 1);
		// A slash within a probe's name (lists:seq/2) begins no predicate.
		else if (
			text[i] === "/" &&
			depth === 0 &&
			!/[\w/]\/$/.test(text.slice(Math.max(0, i - 1), i + 1))
		)
			predicate = !predicate;
		else if (text[i] === "/" && depth === 0 && predicate) predicate = false;
	}
	if (depth || predicate) return null;
	return /[^\s,;{}]*$/.exec(text.slice(0, pos))[0];
}

// What the head of a script of the library says about its arguments: names, as the command line has them,
// and what they mean.
export function argumentsOf(text) {
	const head = text.slice(0, 4000);
	const names = /^[ \t*]*erltrace .*?-\w*s \S+\.d\b[ \t]*(.*?)[ \t]*$/m.exec(head)?.[1] ?? "";
	const about = /^[ \t*]*Arguments: ([^]*?)(?=\n[ \t*]*(?:[A-Z]\w*:|\*\/|\n))/m.exec(head)?.[1] ?? "";
	return { names, about: about.replace(/\s*\n[ \t*]*/g, " ") };
}

// "a; b (all; expensive); c" -> its parts; a semicolon in parentheses parts nothing.
function partsOf(about) {
	const parts = [""];
	let depth = 0;
	for (const c of about) {
		depth += c === "(" ? 1 : c === ")" ? -1 : 0;
		if (c === ";" && depth === 0) parts.push("");
		else parts[parts.length - 1] += c;
	}
	// The last one goes to the end of its sentence; what follows is about all of them.
	parts.push(/^[^]*?(?=\.(?:\s|$)|$)/.exec(parts.pop())[0]);
	return parts.map((p) => p.trim());
}

// The script's parameters, by its head: [{name, needed, about, otherwise (what holds if it is not given),
// gap (what is given in its place if a later one is)}]. Only those that the script uses.
export function parametersOf(text) {
	const { names, about } = argumentsOf(text);
	const code = text.replace(/\/\*[^]*?\*\/|\/\/.*/g, " ");
	const parts = partsOf(about);
	const all = [...names.matchAll(/\[([^\]]+)\]|(\S+)/g)].map((m, i, { length }) => {
		// Where two share a text ("requests are calls of this function") the first ones do.
		const part = parts[Math.max(0, i - Math.max(0, length - parts.length))] ?? "";
		const [, value = ""] = /.*\(([^()]*)\)/s.exec(part) ?? [];
		const otherwise = m[1] === undefined ? "" : value.replace(/^until \^C.*/s, "until stopped").replace(/[;:].*/s, "");
		const number = new RegExp(`(?:^|[^$])\\$${i + 1}\\b`).test(code);
		const gap = /^\d+$/.test(otherwise) ? otherwise : number ? "0" : "";
		const name = (m[1] ?? m[2]).replace(/=.*/s, "").replaceAll("_", " "); // over=MICROSECONDS
		return { name, needed: m[1] === undefined, about: part, otherwise, gap };
	});
	const last = all.findLastIndex((_, i) => new RegExp(`\\$${i + 1}\\b`).test(code));
	return all.slice(0, last + 1);
}

// Arguments with one of them changed, as text; "": it is not given.
export function withArgument(parameters, args, index, value) {
	const list = parameters.map((_, i) => (i === index ? value : args[i]) ?? "");
	list.push(...args.slice(list.length));
	while (list.length && list.at(-1) === "") list.pop();
	const quote = (s) => (s === "" || /[\s"']/.test(s) ? (s.includes('"') ? `'${s}'` : `"${s}"`) : s);
	return list.map((s, i) => quote(s === "" && i < parameters.length ? parameters[i].gap : s)).join(" ");
}

export const NO_KERNEL = "needs kernel probes, which this server does not permit (erltrace web --kernel permits them)";

// Whether the head says that the script needs probes of the kernel.
export const needsKernel = (text) => /^[ \t*]*Needs: root\b/m.test(text.slice(0, 4000));
