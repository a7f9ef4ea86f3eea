// SPDX-License-Identifier: Apache-2.0
// The words of D that the editor knows, read from the tables the compiler is made from. Used when
// the page is built (build.js puts the result into the bundle) and by the tests.
import { readFileSync } from "node:fs";

const table = (name) => readFileSync(new URL(`../c_src/${name}`, import.meta.url), "utf8");

const KINDS = {
	D_BVAR: "variable",
	D_PVAR: "variable",
	D_BFUNC: "function",
	D_RFUNC: "function",
	D_PFUNC: "function",
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
	T: "term_t",
};

// What a prototype cannot say.
const SPECIAL = { printa: "void ([format, ]@aggregation, ...)" };

// A prototype of the table as text: "i:s[n" is "int (string[, integer])"; "n[n", of an aggregating
// function, which has no result, is "(integer[, integer])".
export function prototype(proto) {
	const [params, result] = proto.split(":").reverse();
	const [needed, optional = ""] = params.split("[");
	const name = (c) => LETTERS[c] ?? c;
	let text = [...needed].map(name).join(", ");
	for (const c of optional) text += `[${text ? ", " : ""}${name(c)}`;
	text = `(${text}${"]".repeat(optional.length)})`;
	return result === undefined ? text : `${name(result)} ${text}`;
}

export function readWords() {
	const words = [];
	const row = new RegExp(`^(${Object.keys(KINDS).join("|")})\\("(\\w+)",\\s*\\w+,\\s*"([^"]*)"`, "gm");
	for (const m of table("prog/builtins.def").matchAll(row))
		words.push({
			name: m[2],
			kind: KINDS[m[1]],
			detail: KINDS[m[1]] === "variable" ? m[3] : (SPECIAL[m[2]] ?? prototype(m[3])),
		});
	/* OPT_USER: no script sets these. */
	for (const m of table("options.def").matchAll(/^OPT\("(\w+)",.*"((?:[^"\\]|\\.)*)"\)/gm))
		words.push({ name: m[1], kind: "option", detail: m[2].replace(/\\(.)/g, "$1") });
	for (const m of table("erlang_probes.def").matchAll(/^(?:FN_)?PROBE\(\w+,\s*"([\w-]+)"/gm))
		words.push({ name: m[1], kind: "probe", detail: "" });
	return words;
}
