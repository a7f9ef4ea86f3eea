// SPDX-License-Identifier: Apache-2.0
// Builds the page: dist/index.html, dist/app.js, dist/app.css. Nothing of it is loaded from elsewhere.
import { copyFileSync, mkdirSync, readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { readWords } from "./words.js";

const here = (name) => new URL(name, import.meta.url).pathname;
const LIMIT = 200 * 1024;

// import words from "erltrace:words": the editor's words, as they are when the page is built.
const words = {
	name: "words",
	setup(b) {
		b.onResolve({ filter: /^erltrace:words$/ }, () => ({
			path: "words",
			namespace: "words",
		}));
		b.onLoad({ filter: /.*/, namespace: "words" }, () => ({
			contents: JSON.stringify(readWords()),
			loader: "json",
		}));
	},
};

mkdirSync(here("dist"), { recursive: true });
await build({
	entryPoints: { app: here("src/main.js") },
	outdir: here("dist"),
	bundle: true,
	minify: true,
	format: "iife",
	target: "es2022",
	legalComments: "eof",
	plugins: [words],
	logLevel: "warning",
});
await build({
	entryPoints: { app: here("src/app.css") },
	outdir: here("dist"),
	minify: true,
	logLevel: "warning",
});
copyFileSync(here("src/index.html"), here("dist/index.html"));

let total = 0;
for (const name of ["index.html", "app.js", "app.css"])
	total += gzipSync(readFileSync(here(`dist/${name}`))).length;
console.log(`page: ${(total / 1024).toFixed(1)} KB gzipped`);
if (total > LIMIT) {
	console.error(`page: more than ${LIMIT / 1024} KB`);
	process.exit(1);
}
