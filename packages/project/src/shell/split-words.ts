// Splits plain text into words the way a shell does, without expanding anything.

/** Null when a quote is not closed. */
export function splitWords(text: string): string[] | null {
  const words: string[] = [];
  let word: string | null = null;
  for (let at = 0; at < text.length; ) {
    const piece = pieceAt(text, at);
    if (!piece) return null;
    at += piece.length;
    if (piece.kind === "text") word = (word ?? "") + piece.text;
    if (piece.kind === "gap" && word !== null) {
      words.push(word);
      word = null;
    }
  }
  return word === null ? words : [...words, word];
}

type Piece = { kind: "gap"; length: number } | { kind: "text"; text: string; length: number };

function pieceAt(text: string, at: number): Piece | null {
  const rest = text.slice(at, at + 1);
  if (/\s/.test(rest)) return { kind: "gap", length: 1 };
  if (rest === "\\") return at + 1 < text.length ? { kind: "text", text: text.slice(at + 1, at + 2), length: 2 } : null;
  if (rest !== "'" && rest !== '"') return { kind: "text", text: rest, length: 1 };
  const end = closing(text, at + 1, rest);
  if (end === -1) return null;
  const inside = text.slice(at + 1, end);
  return { kind: "text", text: rest === '"' ? inside.replace(/\\(["\\$`])/g, "$1") : inside, length: end - at + 1 };
}

function closing(text: string, from: number, quotation: string): number {
  for (let at = from; at < text.length; at++) {
    if (text[at] === quotation) return at;
    if (text[at] === "\\" && quotation === '"') at++;
  }
  return -1;
}
