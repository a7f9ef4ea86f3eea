// SPDX-License-Identifier: Apache-2.0
// A server for developing the page: it speaks as `erltrace web` does, with made-up data. What comes
// follows the script's text: each aggregation gets values of its function; printf, ustack, an undeclared
// name ("nosuch") and a few words in comments (bench, hour, drops, script, refuse) do what they say.
//	npm run dev [PORT]
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { randomBytes } from "node:crypto";
import { WebSocketServer } from "ws";
import { pack } from "./pack.js";

const TOKEN = "dev";
const NODES = ["demo@here", "shop@here"];
const FUNCTIONS = [
	"lists:map/2",
	"lists:seq/2",
	"lists:foldl/3",
	"demo_store:price/1",
	"demo_order:run/1",
	"ets:lookup/2",
	"gen_server:call/3",
	"demo_store:reserve/2",
	"maps:get/2",
	"proc_lib:init_p/5",
];
const TYPES = { "index.html": "text/html", "app.js": "text/javascript", "app.css": "text/css" };

export function serve(port = 0) {
	const http = createServer((req, res) => {
		if (req.method === "POST" && req.url === "/login") {
			let body = "";
			req.on("data", (d) => {
				body += d;
			});
			req.on("end", () =>
				res
					.writeHead(body === TOKEN ? 204 : 401, {
						"Set-Cookie":
							"erltrace=dev; SameSite=Strict; HttpOnly",
					})
					.end(),
			);
			return;
		}
		const name = req.url === "/" ? "index.html" : req.url.slice(1);
		if (!TYPES[name]) return void res.writeHead(404).end();
		const nonce = randomBytes(16).toString("base64");
		let text = readFileSync(new URL(`../dist/${name}`, import.meta.url), "utf8");
		if (name === "index.html")
			text = text.replace(
				'name="csp-nonce" content=""',
				`name="csp-nonce" content="${nonce}"`,
			);
		res.writeHead(200, {
			"Content-Type": `${TYPES[name]}; charset=utf-8`,
			"Content-Security-Policy":
				`default-src 'none'; script-src 'self'; style-src 'self' 'nonce-${nonce}'; connect-src 'self'; ` +
				"img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
		}).end(text);
	});
	new WebSocketServer({ server: http, path: "/ws" }).on("connection", session);
	return new Promise((resolve) =>
		http.listen(port, "127.0.0.1", () =>
			resolve({
				port: http.address().port,
				close: () => {
					http.closeAllConnections();
					http.close();
				},
			}),
		),
	);
}

function session(ws) {
	const runs = new Map();
	const send = (o) => ws.readyState === ws.OPEN && ws.send(JSON.stringify(o));
	const end = (id, reason, code = 0, message = "") => {
		clearInterval(runs.get(id));
		if (runs.delete(id)) send({ type: "end", id, code, reason, message });
	};
	send({ type: "hello", version: "dev", limits: { script: 65536, runs: 8, seconds: 3600 } });
	ws.on("close", () => {
		for (const t of runs.values()) clearInterval(t);
	});
	ws.on("message", (data) => {
		const m = JSON.parse(data);
		if (m.type === "nodes")
			send({
				type: "nodes",
				nodes: NODES.map((name, i) => ({
					name,
					ospid: 4100 + i,
					otp: "25",
					ok: true,
					error: "",
				})),
			});
		else if (m.type === "ping") send({ type: "pong" });
		else if (m.type === "scripts") send({ type: "scripts", scripts: SCRIPTS });
		else if (m.type === "probes") {
			const all = FUNCTIONS.flatMap((f) =>
				["entry", "return"].map((w) =>
					`erlang4100:${f}:function-${w}`.replace(
						/:(\w+):(\S+):function/,
						":$1:$2:function",
					),
				),
			);
			send({
				type: "probes",
				text: m.text,
				probes: [
					...all,
					"erlang4100:::process-spawn",
					"erlang4100:::message-send",
				],
				more: false,
			});
		} else if (m.type === "taken") ws.taken = m.ticks;
		else if (m.type === "stop") end(m.id, "stopped");
		else if (m.type === "run") {
			send({ type: "started", id: m.id });
			const line = (l) => {
				const o = { type: "line", id: m.id, line: l };
				if (!m.packed || l.type !== "tick") send(o);
				else if (ws.readyState === ws.OPEN) ws.send(pack(o));
			};
			const bad = /\bnosuch\w*/.exec(m.script);
			if (bad) {
				const before = m.script.slice(0, bad.index).split("\n");
				runs.set(m.id, 0);
				line({
					type: "error",
					tag: "D_IDENT_UNDEF",
					file: "",
					line: before.length,
					column: before.at(-1).length + 1,
					message: `'${bad[0]}' is not declared or assigned before: declare it, as in int x; or self int x; or assign it in a clause further up`,
					doing: "failed to compile script",
				});
				return end(m.id, "exited", 1, "the script does not compile");
			}
			const nodes = m.nodes.length
				? m.nodes
				: NODES.slice(0, /two nodes/.test(m.script) ? 2 : 1);
			const hour = /hour (\d+)/.exec(m.script);
			if (hour) {
				runs.set(m.id, 0);
				return void flood(ws, m.id, Number(hour[1])).then(() => end(m.id, "exited"));
			}
			for (const node of nodes) line(callsOf(node, m));
			const makers = nodes.map((node) => new Maker(node, m.script, m.hz));
			for (const k of makers)
				line({ type: "shape", node: k.node, aggregations: k.shape() });
			runs.set(
				m.id,
				setInterval(() => {
					for (const k of makers) for (const l of k.next()) line(l);
				}, 1000 / m.hz),
			);
		}
	});
}

function callsOf(node, { script, calls }) {
	const asked = calls === "fast";
	const refused = asked && /refuse/.test(script);
	const traced = asked && !refused ? [{ why: "global-function-entry", functions: 1, example: "lists:seq/2" }] : [];
	return {
		type: "calls",
		node,
		way: asked && !refused ? "fast" : "traced",
		functions: 12,
		traced,
		why: refused ? "this VM is not known" : "",
	};
}

// An hour of ticks, as fast as the page says that it took them ("taken"): 32 keys with so many buckets, and a count, each.
async function flood(ws, id, width) {
	const began = Date.now();
	for (let n = 0; n < 36000 && ws.readyState === ws.OPEN; n++) {
		const aggregations = [];
		for (let k = 0; k < 32; k++) {
			const keys = [`k${k}`];
			const buckets = Array.from({ length: width }, (_, b) => {
				const lo = 2 * ((b + k * 5 + n) % 256);
				return { lo, hi: lo + 2, count: 1 + ((b * n) % 50) };
			});
			aggregations.push(
				{ aggregation: "t", function: "lquantize", keys, buckets, normal: 1 },
				{ aggregation: "n", function: "count", keys, value: n % 100, normal: 1 },
			);
		}
		const line = { type: "tick", node: "a@h", time: began + n * 100, aggregations, fired: n, cost: 0.1 };
		ws.send(pack({ type: "line", id, line }));
		while (n - (ws.taken ?? 0) > 50 && ws.readyState === ws.OPEN)
			await new Promise((resolve) => setTimeout(resolve, 2));
	}
}

const normal = () => (Math.random() + Math.random() + Math.random() + Math.random() - 2) / 0.58;

// Made-up data of one node.
export class Maker {
	constructor(node, script, hz) {
		Object.assign(this, { node, script, hz, n: 0, fired: 0 });
		this.aggs = [];
		for (const m of script.matchAll(
			/@(\w*)\s*(?:\[([^;]*?)\])?\s*=\s*(\w+)\s*\(([^;]*)\);/g,
		)) {
			if (this.aggs.some((a) => a.aggregation === (m[1] || "_"))) continue;
			const params =
				m[3] === "lquantize" || m[3] === "llquantize"
					? m[4].split(",").slice(1).map(Number)
					: [];
			this.aggs.push({
				aggregation: m[1] || "_",
				function: m[3],
				params,
				keys: m[2] ? 1 : 0,
				stack: /ustack/.test(m[2] ?? ""),
			});
		}
	}

	shape() {
		return this.aggs.map(({ stack: _, ...a }) => a);
	}

	*next() {
		this.n++;
		const t = this.n / this.hz;
		const aggregations = this.aggs.flatMap((a) => [...this.items(a, t)]);
		this.fired += 400 + Math.floor(Math.random() * 300);
		yield {
			type: "tick",
			node: this.node,
			time: Date.now(),
			aggregations,
			fired: this.fired,
			cost: 0.4 + Math.random() * 0.2,
		};
		if (/printf/.test(this.script) && this.n % Math.max(1, this.hz / 2) === 0) {
			const text = /script/.test(this.script)
				? "<script>alert(1)</script>\n"
				: `spawned <0.${100 + this.n}.0> by demo_order:run/1\n`;
			yield { type: "printf", walltimestamp: Date.now() * 1e6, values: [], text };
		}
		if (/drops/.test(this.script) && this.n === 20)
			yield {
				type: "drop",
				kind: "PRINCIPAL",
				cpu: 0,
				drops: 12,
				total: 12,
				message: "12 drops on CPU 0",
			};
		if (/drops/.test(this.script) && this.n === 25)
			yield {
				type: "error",
				fault: "divide-by-zero",
				line: 3,
				file: "",
				message: "error in line 3 for probe ID 12 (erlang:lists:seq/2:function-entry): divide-by-zero",
			};
	}

	*items(a, t) {
		const bench = /bench (\d+)x(\d+)( dense)?/.exec(this.script);
		const keys = bench
			? Array.from(
					{ length: Number(bench[2]) },
					(_, i) => `module_${i}:function/${i % 4}`,
				)
			: FUNCTIONS;
		if (bench) {
			for (const [i, key] of keys.entries()) {
				const buckets = [];
				for (let b = 0; b < Number(bench[1]); b++) {
					const near = Math.exp(
						-(
							((b - (20 + i * 6 + 20 * Math.sin(t / 3))) /
								12) **
							2
						),
					);
					const count = Math.floor(
						(bench[3] ? 1 : 0) + near * 60 * Math.random(),
					);
					if (count)
						buckets.push({ lo: b * 2, hi: b * 2 + 2, count });
				}
				yield {
					aggregation: a.aggregation,
					function: a.function,
					keys: [key],
					buckets,
					normal: 1,
				};
			}
			return;
		}
		const list = a.keys ? keys : [null];
		for (const [i, key] of list.entries()) {
			if (key && Math.random() < i * 0.06) continue;
			const item = {
				aggregation: a.aggregation,
				function: a.function,
				keys:
					key === null
						? []
						: [
								/script/.test(this.script) &&
								i === 0
									? "<script>alert(1)</script>"
									: key,
							],
			};
			if (a.stack) item.keys = [stack(i)];
			if (a.function.endsWith("quantize")) item.buckets = this.buckets(a, i, t);
			else
				item.value =
					a.function === "count" || a.function === "sum"
						? Math.floor(
								(30 - 2.5 * i) *
									(1.4 +
										Math.sin(
											t / 4 + i,
										)) *
									(a.function === "sum"
										? 900
										: 1),
							) + 1
						: Math.round(
								200 +
									150 * Math.sin(t / 5 + i) +
									40 * normal(),
							);
			yield { ...item, normal: 1 };
		}
	}

	buckets(a, i, t) {
		const counts = new Map();
		const many = Math.floor((40 + 30 * Math.sin(t / 7)) / (1 + i * 0.4));
		for (let k = 0; k < many; k++) {
			const slow = Math.random() < 0.04 ? 5 : 1;
			let ns =
				2 ** (10.5 + i * 0.45 + Math.sin(t / 9 + i) + 0.7 * normal()) *
				slow;
			if (t % 30 > 20 && i === 1) ns *= 3;
			let lo, hi;
			if (a.function === "quantize") {
				lo = 2 ** Math.floor(Math.log2(ns));
				hi = lo * 2;
			} else {
				const v = Math.floor(ns / 300);
				const [base, limit, step = 1] =
					a.function === "lquantize" ? a.params : [0, 1e9, 10];
				lo =
					v < base
						? null
						: v >= limit
							? limit
							: base +
								Math.floor((v - base) / step) *
									step;
				hi =
					v < base
						? base
						: v >= limit
							? null
							: Math.min(limit, lo + step);
			}
			const at = `${lo} ${hi}`;
			const b = counts.get(at);
			if (b) b.count++;
			else counts.set(at, { lo, hi, count: 1 });
		}
		return [...counts.values()].sort((x, y) => (x.lo ?? -1e99) - (y.lo ?? -1e99));
	}
}

function stack(i) {
	const base = [
		"proc_lib:init_p/5+0x2c",
		i % 3 ? "gen_server:loop/7+0x8" : "demo_order:loop/1+0x20",
	];
	const tops = [
		["lists:map/2"],
		["demo_store:handle_call/3", "demo_store:price/1"],
		["demo_store:handle_call/3", "demo_store:interest/2", "lists:foldl/3"],
		["demo_order:run/1", "demo_order:total/2", "lists:sum/1"],
		["ets:lookup/2"],
		["demo_store:handle_call/3", "ets:insert/2"],
		["demo_order:run/1", "gen_server:call/3", "gen:do_call/4"],
		["logger:log/3"],
		["demo_order:run/1", "maps:get/2"],
		["io:format/2", "io_lib:format/2"],
	];
	return [...base, ...tops[i]].reverse();
}

const SCRIPTS = [
	"births|processes born and died, a line a second",
	"busy|the busiest processes, every second",
	"calls|how often functions are called",
	"heat|a heat map of calls",
	"latency|from a message to its receiver at work",
	"profile|where the time goes, by function",
	"queues|message queues",
	"gc|garbage collections",
	"spawns|who spawns what",
].map((s) => {
	const [name, title] = s.split("|");
	return {
		name,
		title,
		text: `/* ${name}.d: ${title} */\nerlang*:::function-entry { @[copyinstr(arg1)] = count(); }\n`,
	};
});

if (process.argv[1] === new URL(import.meta.url).pathname) {
	const { port } = await serve(Number(process.argv[2]) || 8043);
	console.log(`http://127.0.0.1:${port}/#token=${TOKEN}`);
}
