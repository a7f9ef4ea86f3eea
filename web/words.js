// SPDX-License-Identifier: Apache-2.0
// The words of D that the editor knows, read from the tables the compiler is made from. Used when
// the page is built (build.js puts the result into the bundle) and by the tests.
import { readFileSync } from "node:fs";

const table = (name) => readFileSync(new URL(`../c_src/${name}`, import.meta.url), "utf8");

const KINDS = {
	D_BVAR: "variable",
	D_AVAR: "variable",
	D_BFUNC: "function",
	D_AFUNC: "function",
	D_BACT: "action",
	D_BAGG: "aggregation",
};

const LETTERS = {
	v: "void",
	i: "int",
	l: "int64_t",
	u: "uint64_t",
	s: "string",
	p: "address",
	"@": "@aggregation",
	f: "format",
	x: "value",
	n: "integer",
	c: "constant",
	"*": "...",
	P: "void *",
	S: "stack",
	Y: "symbol",
};

// "i:s[n" of the table as text: "int (string, [integer])".
export function prototype(proto) {
	const [result, params] = proto.split(":");
	if (params === undefined) return proto;
	let optional = false;
	const list = [];
	for (const c of params) {
		if (c === "[") optional = true;
		else list.push(optional && c !== "*" ? `[${LETTERS[c] ?? c}]` : (LETTERS[c] ?? c));
	}
	return `${LETTERS[result] ?? result} (${list.join(", ")})`;
}

export function readWords() {
	const words = [];
	for (const m of table("d/builtins.def").matchAll(
		/^(D_[AB]\w+)\("(\w+)",\s*\w+,\s*"([^"]*)"/gm,
	))
		words.push({ name: m[2], kind: KINDS[m[1]], detail: prototype(m[3]) });
	for (const m of table("options.def").matchAll(/^OPT\("(\w+)",.*"((?:[^"\\]|\\.)*)"\)/gm))
		words.push({ name: m[1], kind: "option", detail: m[2].replace(/\\(.)/g, "$1") });
	for (const m of table("beam/probes.def").matchAll(/^PROBE\(\w+,\s*"([\w-]+)"/gm))
		words.push({ name: m[1], kind: "probe", detail: "" });
	return words;
}
