// Takes quoted and fenced text out of a prompt, so that the words around it can be read without tripping over it.

export interface Masked {
  /** The prompt with every quotation replaced by a token. */
  text: string;
  /** The prompt's own characters of a masked piece, quotes included. */
  restore(piece: string): string;
  /** What is meant by a masked piece: the inside of a single quotation, otherwise its own characters. */
  meaning(piece: string): string;
}

interface Quotation {
  raw: string;
  inside: string;
}

/** A token that stands for a fenced block; it is attached to the line in front of it. */
export const fenceToken = /\uE000\d+\uE001/;
/** A token that stands for any quotation. */
export const anyToken = /[\uE000\uE002]\d+\uE001/;

export function maskQuotations(prompt: string): Masked {
  const quotations: Quotation[] = [];
  const keep = (opening: string, quotation: Quotation) => `${opening}${quotations.push(quotation) - 1}\uE001`;
  const text = prompt
    // Characters that look like our tokens are quotations of themselves.
    .replace(/[\uE000-\uE002]+/g, (raw) => keep("\uE002", { raw, inside: raw }))
    .replace(
      fence,
      (raw, lead: string, indent: string, _marks: string, body: string) =>
        lead + keep("\uE000", { raw, inside: withoutIndent(body, indent) }),
    )
    .replace(inline, (raw, ...groups: (string | undefined)[]) =>
      keep("\uE002", { raw, inside: insideOf(raw, groups) }),
    );
  const restore = (piece: string): string =>
    piece.replace(tokens, (token, index: string) => {
      const quotation = quotations[Number(index)];
      // A quotation may hold the token of one found before it.
      return quotation === undefined || quotation.raw === token ? token : restore(quotation.raw);
    });
  const meaning = (piece: string) => {
    const trimmed = piece.trim();
    const only = onlyToken.exec(trimmed);
    const quotation = only ? quotations[Number(only[1])] : undefined;
    return quotation ? restore(quotation.inside) : restore(trimmed);
  };
  return { text, restore, meaning };
}

const fence = /(^|\n)([ \t]*)(`{3,}|~{3,})[^\n`]*\n((?:[\s\S]*?\n)??)[ \t]*\3[ \t]*(?=\n|$)/g;
const inline = /``([^\n]+?)``|`([^`\n]+)`|(?<!\w)"((?:[^"\\]|\\[\s\S])*)"|“([^”]*)”|(?<![\w'])'([^'\n]+)'(?!\w)/g;
const tokens = /[\uE000\uE002](\d+)\uE001/g;
const onlyToken = /^[\uE000\uE002](\d+)\uE001$/;

function insideOf(raw: string, groups: (string | undefined)[]): string {
  const inside = groups.slice(0, 5).find((group) => group !== undefined) ?? "";
  return raw.startsWith('"') ? inside.replace(/\\(["\\])/g, "$1") : inside;
}

/** A fence in a list is indented with its list; its text is not. */
function withoutIndent(body: string, indent: string): string {
  const lines = body.replace(/\n$/, "").split("\n");
  return lines.map((line) => (line.startsWith(indent) ? line.slice(indent.length) : line)).join("\n");
}
