// SPDX-License-Identifier: Apache-2.0
// Figures of the live page and its server, a row each; run by bench/page_bench.sh, which starts a node
// and the server. Rows are added to the file that BENCH_ROWS names, if it does.
import { execFileSync } from "node:child_process";
import { appendFileSync, readFileSync, readdirSync } from "node:fs";
import { gzipSync } from "node:zlib";
import WebSocket from "ws";
import { launch, open, ready } from "./drive.js";

const [url, token] = process.env.PAGE_URL.trim().split("#token=");
const here = (name) => new URL(name, import.meta.url).pathname;
const rows = [];

function row(name, value, unit, goal) {
	const fine = value <= goal;
	rows.push({ name, value, unit, baseline: 0, ratio: 0, goal: `<=${goal}`, ok: fine });
	console.log(
		`${name.padEnd(52)} ${value.toFixed(2).padStart(10)} ${unit.padEnd(6)} ${"".padStart(18)} <= ${goal.toFixed(2).padStart(5)}  ${fine ? "ok" : "MISSED"}`,
	);
}

const bundle = ["index.html", "app.js", "app.css"].reduce(
	(n, f) => n + gzipSync(readFileSync(here(`../../dist/${f}`))).length,
	0,
);
row("page: all of it, gzipped", bundle / 1024, "KB", 200);

// ---- the server ---------------------------------------------------------------------------------

// Nanoseconds on a processor of a process (all threads) and, if asked, of its children.
function cpu(pid, children) {
	let ns = 0;
	try {
		for (const t of readdirSync(`/proc/${pid}/task`)) {
			ns += Number(readFileSync(`/proc/${pid}/task/${t}/schedstat`, "latin1").split(" ")[0]);
			if (!children) continue;
			const list = readFileSync(`/proc/${pid}/task/${t}/children`, "latin1").trim();
			for (const c of list ? list.split(" ") : []) ns += cpu(c, true);
		}
	} catch {
		return ns; // it has ended
	}
	return ns;
}

// Percent of a core over some seconds: [server, with its children].
async function percent(pid, seconds) {
	const t0 = process.hrtime.bigint();
	const before = [cpu(pid, false), cpu(pid, true)];
	await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
	const ns = Number(process.hrtime.bigint() - t0);
	return [cpu(pid, false), cpu(pid, true)].map((n, i) => (100 * (n - before[i])) / ns);
}

const server = Number(process.env.SERVER);
row("server, nobody looks", (await percent(server, 5))[0], "% core", 0.1);

const login = await fetch(`${url}login`, { method: "POST", body: token });
const cookie = login.headers.get("set-cookie").split(";")[0];
const script =
	"erlang*:demo_*::function-entry { self->b[copyinstr(arg1)] = vtimestamp; } " +
	"erlang*:demo_*::function-return { @t[copyinstr(arg1)] = lquantize((vtimestamp - self->b[copyinstr(arg1)]) / 1000, 0, 63, 2); }";
const session = (id) =>
	new Promise((resolve, reject) => {
		const ws = new WebSocket(`${url.replace(/^http/, "ws")}ws`, {
			headers: { Cookie: cookie, Origin: url.slice(0, -1) },
		});
		ws.ticks = 0;
		const late = setTimeout(() => reject(new Error(`no ticks: ${ws.said}`)), 60000);
		ws.on("error", reject);
		ws.on("open", () =>
			ws.send(JSON.stringify({ type: "run", id, nodes: [], script, args: [], hz: 10 })),
		);
		ws.on("message", (m) => {
			if (!m.includes('"type":"tick"')) ws.said = String(m).slice(0, 300);
			else if (++ws.ticks === 10) {
				clearTimeout(late);
				resolve(ws);
			}
		});
	});
const sessions = [];
for (const id of [1, 2, 3, 4]) sessions.push(await session(id));
const [alone, all] = await percent(server, 10);
const ticks = sessions.reduce((n, s) => n + s.ticks, 0);
if (ticks < 200) throw new Error(`only ${ticks} ticks came`);
row("server, four sessions at 10 Hz", alone, "% core", 5);
row("the same with the four commands that trace", all, "% core", 5);
for (const s of sessions) s.terminate();

// ---- the page -----------------------------------------------------------------------------------

const { browser } = await launch();
let paint = Infinity;
for (let i = 0; i < 5; i++) {
	const page = await open(browser, `${url}#token=${token}`);
	await ready(page);
	const ms = await page.evaluate(
		() => performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? Infinity,
	);
	paint = Math.min(paint, ms);
	await page.context().close();
}
await browser.close();
row("page: first paint", paint, "ms", 1000);

const frames = execFileSync("node", [here("../bench.js"), "30"], { encoding: "utf8" });
for (const m of frames.matchAll(/keys, (\w+):.*p50 ([\d.]+).*p99 ([\d.]+)/g)) {
	row(`page: script of a frame, 256x300x32, ${m[1]}, median`, Number(m[2]), "ms", 4);
	row(`page: script of a frame, 256x300x32, ${m[1]}, p99`, Number(m[3]), "ms", 4);
}
const hour = execFileSync("node", [here("../hour.js")], { encoding: "utf8" });
const [, peak, after] = /renderer (\d+) MB, after collection (\d+) MB/.exec(hour);
row("page: memory of the tab after an hour, at most", Number(peak), "MB", 200);
row("page: the same after a collection", Number(after), "MB", 200);

const file = process.env.BENCH_ROWS;
if (file) {
	const lines = rows.map((r) => `${JSON.stringify({ part: "page", ...r })}\n`);
	appendFileSync(file, lines.join(""));
}
process.exit(0);
