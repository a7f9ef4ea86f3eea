// SPDX-License-Identifier: Apache-2.0
// The line to the server: log in with the token of the address, then a web socket. Lost connections
// are tried again; what becomes of a run is the page's to decide (app.js).

const FIRST = 500;
const LONGEST = 8000;
// A cable that is cut closes nothing: every so many ms one looks whether something came. Nothing twice:
// it asks; nothing five times: the connection is given up. Looks are counted, not milliseconds: they
// do not go on while the page itself is held up, or the computer sleeps.
const LOOK = 2000;
const ASK = 2;
const GIVE_UP = 5;
const POLICY = 1008; // how the server closes a connection whose queue is full

// "#token=...&script=...&args=..." -> {token, script, args}
export function readFragment(hash) {
	const p = new URLSearchParams(hash.replace(/^#/, ""));
	const out = { token: p.get("token"), script: null, args: p.get("args") ?? "" };
	const coded = p.get("script");
	if (coded) {
		try {
			const bin = atob(coded.replaceAll("-", "+").replaceAll("_", "/"));
			out.script = new TextDecoder().decode(
				Uint8Array.from(bin, (c) => c.charCodeAt(0)),
			);
		} catch {
			out.script = null;
		}
	}
	return out;
}

export function scriptFragment(script, args = "") {
	const bin = Array.from(new TextEncoder().encode(script), (b) => String.fromCharCode(b)).join("");
	const coded = btoa(bin).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
	return `#script=${coded}${args && `&args=${encodeURIComponent(args)}`}`;
}

// Answer of /login: true, or a text that says why not.
export async function login(token) {
	try {
		const r = await fetch("/login", {
			method: "POST",
			body: token,
			headers: { "Content-Type": "text/plain" },
		});
		if (r.ok) return true;
		return r.status === 401 || r.status === 403
			? "The server does not know this token. Use the link that it printed when it started."
			: `The server refused the login (${r.status}).`;
	} catch {
		return "The server does not answer.";
	}
}

// Why no web socket came about: a browser does not say. "lost": the server does not answer.
async function whyNot() {
	try {
		const { status } = await fetch("/login", {
			cache: "no-store",
			signal: AbortSignal.timeout(5000),
		});
		return status === 429 ? "many" : [401, 403].includes(status) ? "refused" : "lost";
	} catch {
		return "lost";
	}
}

export class Connection {
	// handler: {message(object), up(), down(why)}; why: "lost", "refused", "many" are connected, or it was too
	// "slow" for what came
	constructor(url, handler, Socket = WebSocket, why = whyNot) {
		Object.assign(this, { url, handler, Socket, why });
		this.wait = FIRST;
		this.open = false;
		this.asked = new Map(); // "probes text" -> {promise, resolve}
	}

	start() {
		const s = (this.socket = new this.Socket(this.url));
		s.binaryType = "arraybuffer";
		this.timer = null;
		this.silent = 0; // looks in a row that found nothing new
		this.heard = false;
		this.looking = setInterval(() => this.look(), LOOK);
		s.onopen = () => {
			this.open = true;
			this.wait = FIRST;
			this.handler.up();
		};
		s.onmessage = (e) => {
			this.heard = true;
			this.handler.message(e.data);
		};
		s.onclose = (e) => this.closed(e?.code === POLICY ? "slow" : "lost");
	}

	async closed(how = "lost") {
		const was = this.open;
		clearInterval(this.looking);
		this.open = false;
		this.asked.clear();
		this.handler.down(was ? how : await this.why());
		this.timer = setTimeout(() => this.start(), this.wait);
		this.wait = Math.min(LONGEST, this.wait * 2);
	}

	look() {
		this.silent = this.heard ? 0 : this.silent + 1;
		this.heard = false;
		if (this.silent === ASK) this.send({ type: "ping" });
		if (this.silent < GIVE_UP) return;
		const s = this.socket;
		// Its own end may take a minute: whoever else would have to agree is not there.
		s.onopen = s.onmessage = s.onclose = null;
		s.close();
		this.closed();
	}

	// There is reason to believe that it will go now: do not wait for the next try.
	again() {
		if (!this.timer) return;
		clearTimeout(this.timer);
		this.wait = FIRST;
		this.start();
	}

	send(object) {
		if (!this.open) return false;
		this.socket.send(JSON.stringify(object));
		return true;
	}

	// Asks for probes; the same question twice is asked once.
	probes(node, text) {
		const name = `${node} ${text}`;
		const have = this.asked.get(name);
		if (have) return have.promise;
		if (!this.send({ type: "probes", node, text }))
			return Promise.resolve({ probes: [], more: false });
		const ask = { text };
		ask.promise = new Promise((resolve) => {
			ask.resolve = resolve;
			setTimeout(() => resolve({ probes: [], more: false }), 3000);
		});
		this.asked.set(name, ask);
		if (this.asked.size > 200) this.asked.delete(this.asked.keys().next().value);
		return ask.promise;
	}

	answered(m) {
		for (const ask of this.asked.values()) if (ask.text === m.text) ask.resolve(m);
	}
}
