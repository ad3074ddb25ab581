// A bell, and a notification where the terminal shows them. The text is never the model's.

type Variables = Record<string, string | undefined>;

export function notification(text: string, variables: Variables): string {
  const sequence = sequenceOf(text, variables);
  if (sequence === "") return "\u0007";
  return `\u0007${variables.TMUX === undefined ? sequence : `\u001bPtmux;${sequence.replaceAll("\u001b", "\u001b\u001b")}\u001b\\`}`;
}

function sequenceOf(text: string, { TERM = "", TERM_PROGRAM = "" }: Variables): string {
  if (/kitty/.test(TERM)) return `\u001b]99;;${text}\u001b\\`;
  return /^(?:WezTerm|ghostty|iTerm\.app)$/.test(TERM_PROGRAM) ? `\u001b]9;${text}\u0007` : "";
}
