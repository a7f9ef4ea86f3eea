// SPDX-License-Identifier: Apache-2.0
// Which scripts are meant by what was typed in the menu, the best first.

// 0: its name; 1: its name begins so; 2: its name holds it; 3: its title does; 4: it is not meant.
function rank({ name, title = "" }, wanted) {
	const has = name.toLowerCase();
	if (has === wanted) return 0;
	if (has.startsWith(wanted)) return 1;
	if (has.includes(wanted)) return 2;
	return title.toLowerCase().includes(wanted) ? 3 : 4;
}

// Those of a list; equally good ones are as they were.
export function findScripts(list, text) {
	const wanted = text.trim().toLowerCase();
	return list.filter((s) => rank(s, wanted) < 4).sort((a, b) => rank(a, wanted) - rank(b, wanted));
}
