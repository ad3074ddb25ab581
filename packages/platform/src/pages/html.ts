// HTML as values: interpolated values are escaped unless they are HTML already.

export interface Html {
  readonly markup: string;
}

type Piece = Html | Html[] | string | number | null | undefined | false;

export function html(strings: TemplateStringsArray, ...pieces: Piece[]): Html {
  const filled = strings.map((text, index) => text + (index < pieces.length ? markupOf(pieces[index]) : ""));
  return { markup: filled.join("") };
}

function markupOf(piece: Piece): string {
  if (piece === null || piece === undefined || piece === false) return "";
  if (Array.isArray(piece)) return piece.map(markupOf).join("");
  return typeof piece === "object" ? piece.markup : escaped(String(piece));
}

const escapes: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

const escaped = (text: string): string => text.replaceAll(/[&<>"']/g, (character) => escapes[character] ?? "");
