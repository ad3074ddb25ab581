// What the terminal itself is asked for: a bell, a notification whose text is never the model's, and the clipboard.

type Variables = Record<string, string | undefined>;

export function notification(text: string, variables: Variables): string {
  const sequence = sequenceOf(text, variables);
  return sequence === "" ? "\u0007" : `\u0007${throughTmux(sequence, variables)}`;
}

/** tmux passes on what is wrapped like this. */
const throughTmux = (sequence: string, { TMUX }: Variables): string =>
  TMUX === undefined ? sequence : `\u001bPtmux;${sequence.replaceAll("\u001b", "\u001b\u001b")}\u001b\\`;

/** Terminals refuse longer ones. */
const maxClipboardBytes = 100_000;

/** A text for the clipboard of the terminal, also over ssh; null where it is too long. The text is encoded: nothing in it is obeyed. */
export function clipboard(text: string, variables: Variables): string | null {
  const encoded = Buffer.from(text).toString("base64");
  return encoded.length > maxClipboardBytes ? null : throughTmux(`\u001b]52;c;${encoded}\u0007`, variables);
}

function sequenceOf(text: string, { TERM = "", TERM_PROGRAM = "" }: Variables): string {
  if (/kitty/.test(TERM)) return `\u001b]99;;${text}\u001b\\`;
  return /^(?:WezTerm|ghostty|iTerm\.app)$/.test(TERM_PROGRAM) ? `\u001b]9;${text}\u0007` : "";
}
