// SPDX-License-Identifier: Apache-2.0
// The editor: CodeMirror with D, completion from the node's probes and the language's words, and errors
// at their place.
import {
	autocompletion,
	closeBrackets,
	closeBracketsKeymap,
	completionKeymap,
	startCompletion,
} from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab, isolateHistory } from "@codemirror/commands";
import {
	HighlightStyle,
	StreamLanguage,
	bracketMatching,
	indentUnit,
	syntaxHighlighting,
} from "@codemirror/language";
import { EditorState, StateEffect, StateField } from "@codemirror/state";
import {
	Decoration,
	EditorView,
	WidgetType,
	drawSelection,
	highlightActiveLine,
	highlightActiveLineGutter,
	keymap,
	lineNumbers,
} from "@codemirror/view";
import { tags as t } from "@lezer/highlight";
import words from "erltrace:words";
import { KEYWORDS, probeTextAt, tokenizer } from "./d_language.js";
import { byInterest, meant, offer } from "./probes.js";

// Colours are the page's variables: the theme changes without the editor.
const colours = HighlightStyle.define([
	{ tag: t.comment, color: "var(--d-comment)", fontStyle: "italic" },
	{ tag: t.meta, color: "var(--d-meta)" },
	{ tag: t.labelName, color: "var(--d-probe)", fontWeight: "600" },
	{ tag: [t.string, t.character], color: "var(--d-string)" },
	{ tag: t.number, color: "var(--d-number)" },
	{ tag: t.keyword, color: "var(--d-keyword)" },
	{ tag: t.typeName, color: "var(--d-agg)" },
	{ tag: t.function(t.variableName), color: "var(--d-function)" },
	{ tag: t.standard(t.variableName), color: "var(--d-builtin)" },
	{ tag: t.special(t.variableName), color: "var(--d-meta)" },
	{ tag: [t.operator, t.punctuation, t.bracket], color: "var(--ink-2)" },
]);

const theme = EditorView.theme({
	"&": {
		height: "100%",
		fontSize: "13px",
		backgroundColor: "var(--paper)",
		color: "var(--ink)",
	},
	"&.cm-focused": { outline: "none" },
	".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.5" },
	".cm-content": { caretColor: "var(--accent)", padding: "8px 0" },
	".cm-gutters": { backgroundColor: "var(--paper)", color: "var(--ink-3)", border: "none" },
	".cm-lineNumbers .cm-gutterElement": { minWidth: "28px" },
	".cm-activeLine": { backgroundColor: "var(--hover)" },
	".cm-activeLineGutter": { backgroundColor: "var(--hover)", color: "var(--ink-2)" },
	".cm-cursor": { borderLeftColor: "var(--accent)", borderLeftWidth: "2px" },
	"&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground":
		{ backgroundColor: "var(--select) !important" },
	"&.cm-focused .cm-matchingBracket": { backgroundColor: "var(--select)", outline: "none" },
	".cm-tooltip": {
		backgroundColor: "var(--raise)",
		color: "var(--ink)",
		border: "1px solid var(--line)",
		borderRadius: "6px",
	},
	".cm-tooltip.cm-tooltip-autocomplete > ul": {
		fontFamily: "var(--mono)",
		fontSize: "12px",
		maxHeight: "16em",
	},
	".cm-tooltip-autocomplete ul li[aria-selected]": {
		backgroundColor: "var(--accent)",
		color: "var(--on-accent)",
	},
	".cm-completionDetail": { color: "var(--ink-3)", fontStyle: "normal" },
	".cm-tooltip-autocomplete li[aria-selected] .cm-completionDetail": { color: "inherit" },
	".at-fault": { textDecoration: "underline wavy var(--bad)", textUnderlineOffset: "3px" },
	".at-fault.warning": { textDecorationColor: "var(--warn)" },
});

// What is at fault, and messages under the lines they are about.
class Message extends WidgetType {
	constructor(text, severity) {
		super();
		Object.assign(this, { text, severity });
	}
	eq(other) {
		return other.text === this.text && other.severity === this.severity;
	}
	toDOM() {
		const div = document.createElement("div");
		div.className = `problem-line ${this.severity}`;
		div.setAttribute("role", "alert");
		div.textContent = this.text;
		return div;
	}
}

const setMessages = StateEffect.define();
const messages = StateField.define({
	create: () => Decoration.none,
	update(shown, tr) {
		for (const e of tr.effects) {
			if (!e.is(setMessages)) continue;
			return Decoration.set(
				e.value.flatMap(({ from, to, message, severity }) => [
					...(from < to
						? [
								Decoration.mark({
									class: `at-fault ${severity}`,
								}).range(from, to),
							]
						: []),
					Decoration.widget({
						widget: new Message(message, severity),
						block: true,
						side: 1,
					}).range(tr.state.doc.lineAt(from).to),
				]),
				true,
			);
		}
		return shown.map(tr.changes);
	},
	provide: (f) => EditorView.decorations.from(f),
});

const fixed = [
	...[...KEYWORDS].map((label) => ({ label, type: "keyword" })),
	...words
		.filter((w) => w.kind !== "option" && w.kind !== "probe")
		.map((w) => ({
			label: w.name,
			detail: w.detail,
			type: w.kind === "variable" ? "variable" : "function",
			apply:
				w.kind === "variable"
					? w.name
					: (view, _c, from, to) => {
							const text = `${w.name}()`;
							view.dispatch({
								changes: { from, to, insert: text },
								selection: {
									anchor:
										from +
										text.length -
										1,
								},
							});
						},
		})),
];
// What a clause may begin with, before a colon is typed.
const probeNames = byInterest(words.filter((w) => w.kind === "probe").map((w) => w.name));
const beginnings = [
	...["BEGIN", "END", "ERROR", "tick-1s", "profile-97"],
	...probeNames.map((name) => `erlang*:::${name}`),
].map((label, i) => ({ label, type: "constant", boost: -i }));
const options = words
	.filter((w) => w.kind === "option")
	.map((w) => ({ label: w.name, info: w.detail, type: "property" }));

// findProbes(text) -> Promise of {probes, more}
export function createEditor(parent, { doc, nonce, findProbes, onChange, onRun }) {
	async function complete(cx) {
		const line = cx.state.doc.lineAt(cx.pos);
		const before = line.text.slice(0, cx.pos - line.from);
		const pragma = /^\s*#pragma\s+D\s+option\s+(\w*)$/.exec(before);
		if (pragma) return { from: cx.pos - pragma[1].length, options, validFor: /^\w*$/ };
		const probe = probeTextAt(cx.state.doc.toString(), cx.pos);
		if (probe !== null && (probe.includes(":") || cx.explicit)) {
			const got = await findProbes(meant(probe));
			if (cx.aborted) return null;
			return {
				from: cx.pos - probe.length,
				filter: false,
				options: offer(meant(probe), probeNames, got.probes)
					.map((label) => ({ label, type: "constant" }))
					.concat(
						got.more
							? [
									{
										label: probe,
										detail: "… more: type on",
										type: "text",
									},
								]
							: [],
					),
			};
		}
		if (probe && /^[\w-]*$/.test(probe))
			return {
				from: cx.pos - probe.length,
				options: beginnings,
				validFor: /^[\w-]*$/,
			};
		const word = cx.matchBefore(/[\w-]+/);
		if (!word && !cx.explicit) return null;
		if (
			word &&
			/[.>]$/.test(before.slice(0, before.length - word.text.length)) &&
			!/(self|this)->$/.test(before)
		)
			return null;
		// Names the script itself uses.
		const own = new Set(
			[
				...cx.state.doc
					.toString()
					.matchAll(/(?:self->|this->|@)([A-Za-z_]\w*)/g),
			].map((m) => m[1]),
		);
		const from = word ? word.from : cx.pos;
		return {
			from,
			options: [
				...fixed,
				...[...own].map((label) => ({ label, type: "variable", boost: 1 })),
			],
			validFor: /^[\w-]*$/,
		};
	}

	const view = new EditorView({
		parent,
		state: EditorState.create({
			doc,
			extensions: [
				nonce ? EditorView.cspNonce.of(nonce) : [],
				lineNumbers(),
				highlightActiveLineGutter(),
				highlightActiveLine(),
				drawSelection(),
				history(),
				bracketMatching(),
				closeBrackets(),
				indentUnit.of("\t"),
				EditorState.tabSize.of(4),
				EditorView.lineWrapping,
				messages,
				autocompletion({
					override: [complete],
					icons: false,
					activateOnTypingDelay: 150,
				}),
				StreamLanguage.define(tokenizer(words)),
				syntaxHighlighting(colours),
				theme,
				keymap.of([
					{
						key: "Mod-Enter",
						run: () => {
							onRun();
							return true;
						},
					},
					{ key: "Alt-Escape", run: startCompletion },
					...closeBracketsKeymap,
					...completionKeymap,
					...historyKeymap,
					indentWithTab,
					...defaultKeymap,
				]),
				EditorView.contentAttributes.of({
					"aria-label": "D script; Ctrl-m: Tab leaves the editor",
					spellcheck: "false",
					autocapitalize: "off",
				}),
				EditorView.updateListener.of((u) => {
					if (u.docChanged) onChange(u.state.doc.toString());
				}),
			],
		}),
	});

	return {
		view,
		text: () => view.state.doc.toString(),
		set(text) {
			view.dispatch({
				changes: { from: 0, to: view.state.doc.length, insert: text },
				selection: { anchor: 0 },
				annotations: isolateHistory.of("full"), // one undo brings back what was there
			});
			this.show([]);
		},
		focus: () => view.focus(),
		// errors: [{line, column, message, severity}]; lines from 1, 0: of no place.
		show(errors) {
			const list = errors
				.filter((e) => e.line > 0)
				.map((e) => {
					const { from, to } = errorRange(
						view.state.doc,
						e.line,
						e.column,
					);
					return {
						from,
						to,
						severity: e.severity ?? "error",
						message: e.message,
					};
				})
				.sort((a, b) => a.from - b.from);
			view.dispatch({
				effects: [
					setMessages.of(list),
					...(list.length
						? [
								EditorView.scrollIntoView(
									list[0].from,
									{ y: "center" },
								),
							]
						: []),
				],
			});
		},
		goTo(line, column) {
			const { from } = errorRange(view.state.doc, line, column);
			view.dispatch({
				selection: { anchor: from },
				effects: EditorView.scrollIntoView(from, { y: "center" }),
			});
			view.focus();
		},
	};
}

// From line and column (from 1; columns are bytes in the compiler, near enough here) to a range: the
// word or probe description there, or to the end of the line.
export function errorRange(doc, line, column) {
	const l = doc.line(Math.min(Math.max(1, line), doc.lines));
	if (!(column > 0)) {
		const lead = /^\s*/.exec(l.text)[0].length;
		return { from: l.from + (lead < l.length ? lead : 0), to: l.to };
	}
	const from = Math.min(l.from + column - 1, l.to);
	const word = /^(?:[\w*?$-]*:[^\s{,;]*:[^\s{,;]*|[\w$@]+|\S)/.exec(l.text.slice(from - l.from));
	const to = word ? from + word[0].length : l.to;
	return to > from ? { from, to } : { from: Math.max(l.from, from - 1), to: l.to };
}
