// SPDX-License-Identifier: Apache-2.0
// The line to the server: log in with the token of the address, then a web socket. Lost connections
// are tried again; runs do not come back by themselves, their end is told.

const FIRST = 500;
const LONGEST = 8000;

// "#token=...&script=..." -> {token, script}
export function readFragment(hash) {
	const p = new URLSearchParams(hash.replace(/^#/, ""));
	const out = { token: p.get("token"), script: null };
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

export function scriptFragment(script) {
	const bin = String.fromCharCode(...new TextEncoder().encode(script));
	return `#script=${btoa(bin).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "")}`;
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
			? "The server does not know this token. Take the link it printed when it started."
			: `The server refused the login (${r.status}).`;
	} catch {
		return "The server does not answer.";
	}
}

export class Connection {
	// handler: {message(object), up(), down(why)}
	constructor(url, handler, Socket = WebSocket) {
		Object.assign(this, { url, handler, Socket });
		this.wait = FIRST;
		this.open = false;
		this.asked = new Map(); // "probes text" -> {promise, resolve}
	}

	start() {
		const s = (this.socket = new this.Socket(this.url));
		s.binaryType = "arraybuffer";
		s.onopen = () => {
			this.open = true;
			this.wait = FIRST;
			this.handler.up();
		};
		s.onmessage = (e) => this.handler.message(e.data);
		s.onclose = (e) => {
			const was = this.open;
			this.open = false;
			this.asked.clear();
			this.handler.down(was ? "lost" : "refused", e.reason);
			this.timer = setTimeout(() => this.start(), this.wait);
			this.wait = Math.min(LONGEST, this.wait * 2);
		};
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
