// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { Connection } from "../src/connection.js";

// A socket that does as it is told, and the connection that has it.
function connected(why = async () => "lost") {
	const sockets = [];
	const told = [];
	class Socket {
		constructor() {
			this.sent = [];
			sockets.push(this);
		}
		send(text) {
			this.sent.push(JSON.parse(text).type);
		}
		close() {
			this.ended = true;
		}
	}
	const c = new Connection(
		"ws://x/ws",
		{
			up: () => told.push("up"),
			down: (how) => told.push(how),
			message: (m) => told.push(m),
		},
		Socket,
		why,
	);
	c.start();
	clearInterval(c.looking); // the tests look
	const over = () => {
		clearInterval(c.looking);
		clearTimeout(c.timer);
	};
	return { c, sockets, told, over };
}
// Lets what was promised come true.
const settle = async () => {
	for (let i = 0; i < 5; i++) await Promise.resolve();
};
const looks = (c, n) => {
	for (let i = 0; i < n; i++) c.look();
};

test("a link that has died without a word is given up, and tried again", async () => {
	const { c, sockets, told, over } = connected();
	const [s] = sockets;
	s.onopen();
	looks(c, 2);
	assert.deepEqual(s.sent, ["ping"]);
	s.onmessage({ data: "pong" });
	looks(c, 5);
	assert.deepEqual(told, ["up", "pong"], "that was an answer");
	looks(c, 1);
	await settle();
	assert.deepEqual(told, ["up", "pong", "lost"]);
	assert.ok(s.ended);
	assert.equal(s.onmessage, null, "what comes late is not of this connection");
	c.again();
	assert.equal(sockets.length, 2);
	over();
});

test("one over which something comes is left alone", () => {
	const { c, sockets, told, over } = connected();
	const [s] = sockets;
	s.onopen();
	for (let i = 0; i < 20; i++) {
		s.onmessage({ data: i });
		looks(c, 1);
	}
	assert.deepEqual(s.sent, []);
	assert.equal(told.length, 21);
	assert.equal(sockets.length, 1);
	over();
});

test("one that does not come about: why, and at once when there is hope", async () => {
	const answers = ["refused", "many"];
	const { c, sockets, told, over } = connected(async () => answers.shift());
	sockets[0].onclose();
	await settle();
	assert.deepEqual(told, ["refused"]);
	c.again();
	assert.equal(sockets.length, 2);
	c.again();
	assert.equal(sockets.length, 2, "it is being tried");
	sockets[1].onclose();
	await settle();
	assert.deepEqual(told, ["refused", "many"]);
	over();
});
