// SPDX-License-Identifier: Apache-2.0
// Files of --folded, --speedscope and --pprof, read by programs that are not ours, for
// test/node/stack_files.sh: node readers.js speedscope FILE (the app, in chromium), node readers.js pprof FILE
// (pprof-format). Prints what they understood: a line for each stack, outermost first, with its value.
import { readFileSync, writeFileSync } from "node:fs";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { chromium } from "playwright-core";
import { Profile } from "pprof-format";

// speedscope reads a file of any format it knows, and saves it in its own.
async function bySpeedscope(file) {
	const app = fileURLToPath(new URL("../../node_modules/speedscope/dist/release/index.html", import.meta.url));
	const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox"] });
	try {
		const page = await browser.newPage();
		const told = [];
		page.on("dialog", (d) => {
			told.push(d.message());
			d.dismiss();
		});
		// As its own command does it.
		const bytes = readFileSync(file).toString("base64");
		const script = `${file}.js`;
		writeFileSync(script, `speedscope.loadFileFromBase64(${JSON.stringify(basename(file))}, "${bytes}")`);
		await page.goto(`file://${app}#localProfilePath=${script}`);
		await page.getByText("Left Heavy").waitFor();
		const saved = page.waitForEvent("download");
		await page.keyboard.press("Control+s");
		const download = await saved;
		return { told, ...JSON.parse(readFileSync(await download.path(), "utf8")) };
	} finally {
		await browser.close();
	}
}

// Stacks of a sampled or an evented profile.
function* stacksOf(profile) {
	if (profile.type === "sampled") {
		for (const [i, stack] of profile.samples.entries()) yield [stack, profile.weights[i]];
		return;
	}
	const open = [];
	let at = profile.startValue;
	for (const e of profile.events) {
		if (e.at > at && open.length) yield [[...open], e.at - at];
		at = e.at;
		if (e.type === "O") open.push(e.frame);
		else open.pop();
	}
}

async function speedscope(file) {
	const { shared, profiles, told } = await bySpeedscope(file);
	for (const text of told) console.log(`told: ${text}`);
	for (const profile of profiles) {
		console.log(`profile ${profile.name}, ${profile.unit}`);
		const sums = new Map();
		for (const [stack, n] of stacksOf(profile)) {
			const text = stack
				.map((i) => shared.frames[i])
				.map((f) => (f.file ? `${f.name} (${f.file}${f.line ? `:${f.line}` : ""})` : f.name))
				.join(";");
			sums.set(text, (sums.get(text) ?? 0) + n);
		}
		for (const text of [...sums.keys()].sort()) console.log(`${text} ${sums.get(text)}`);
	}
}

function pprof(file) {
	const p = Profile.decode(gunzipSync(readFileSync(file)));
	const text = (n) => p.stringTable.strings[Number(n)];
	const types = p.sampleType.map((t) => `${text(t.type)}/${text(t.unit)}`);
	const functions = new Map(p.function.map((f) => [Number(f.id), f]));
	const mappings = new Map(p.mapping.map((m) => [Number(m.id), m]));
	const locations = new Map(p.location.map((l) => [Number(l.id), l]));
	console.log(`types ${types.join(" ")}`);
	if (p.periodType) console.log(`period ${p.period} ${text(p.periodType.type)}/${text(p.periodType.unit)}`);
	console.log(`time ${Number(p.timeNanos) > 1e18} ${Number(p.durationNanos) > 0}`);
	const frame = (id) => {
		const l = locations.get(Number(id));
		const f = functions.get(Number(l.line[0].functionId));
		const name = text(f.name) + (Number(f.filename) ? ` (${text(f.filename)}:${l.line[0].line})` : "");
		const of = Number(l.mappingId) ? ` of ${text(mappings.get(Number(l.mappingId)).filename)}` : "";
		return name + of + (Number(l.address) ? ` at 0x${l.address.toString(16)}` : "");
	};
	const lines = p.sample.map((s) => `${[...s.locationId].reverse().map(frame).join(";")} ${s.value.join(" ")}`);
	for (const line of lines.sort()) console.log(line);
}

const [how, file] = process.argv.slice(2);
await (how === "pprof" ? pprof(file) : speedscope(file));
