// Replaces quoted and fenced text in a prompt with tokens, so that it is not parsed as instructions.

export interface Masked {
  /** The prompt with every quotation replaced by a token. */
  text: string;
  /** The original characters of a masked piece, with quotes. */
  restore(piece: string): string;
  /** The value of a masked piece: the inside of a single quotation, otherwise its original characters. */
  meaning(piece: string): string;
}

interface Quotation {
  raw: string;
  inside: string;
}

/** The token of a fenced block, which belongs to the line before it. */
export const fenceToken = /\uE000\d+\uE001/;
/** The token of any quotation. */
export const anyToken = /[\uE000\uE002]\d+\uE001/;

export function maskQuotations(prompt: string): Masked {
  const quotations: Quotation[] = [];
  const keep = (opening: string, quotation: Quotation) => `${opening}${quotations.push(quotation) - 1}\uE001`;
  const maskInline = (raw: string, ...groups: (string | undefined)[]): string =>
    isUnclosed(raw, groups)
      ? raw.replace(withoutDoubleQuotes, maskInline)
      : keep("\uE002", { raw, inside: insideOf(raw, groups) });
  const text = prompt
    // Characters that look like tokens are masked too.
    .replace(/[\uE000-\uE002]+/g, (raw) => keep("\uE002", { raw, inside: raw }))
    .replace(
      fence,
      (raw, lead: string, indent: string, _marks: string, body: string) =>
        lead + keep("\uE000", { raw, inside: withoutIndent(body, indent) }),
    )
    .replace(inline, maskInline);
  const restore = (piece: string): string =>
    piece.replace(tokens, (token, index: string) => {
      const quotation = quotations[Number(index)];
      // A quotation may contain the token of an earlier one.
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

const fence = /(^|\n)([ \t]*)(`{3,}(?!`)|~{3,}(?!~))[^\n`]*\n((?:[\s\S]*?\n)??)[ \t]*\3[ \t]*(?=\n|$)/g;
// An unclosed double quote is matched to the end of the text: every later one, which is escaped, would be read to there too.
const inline =
  /``([^\n]+?)``|`([^`\n]+)`|(?<!\w)"((?:[^"\\]|\\[\s\S])*)(?:"|\\?$)|“([^“”]*)”|(?<![\w'])'([^'\n]+)'(?!\w)/g;
const withoutDoubleQuotes = /``([^\n]+?)``|`([^`\n]+)`|(?!)()|“([^“”]*)”|(?<![\w'])'([^'\n]+)'(?!\w)/g;
const tokens = /[\uE000\uE002](\d+)\uE001/g;
const onlyToken = /^[\uE000\uE002](\d+)\uE001$/;

const isUnclosed = (raw: string, [, , inside]: (string | undefined)[]): boolean =>
  inside !== undefined && !(raw.length === inside.length + 2 && raw.endsWith('"'));

function insideOf(raw: string, groups: (string | undefined)[]): string {
  const inside = groups.slice(0, 5).find((group) => group !== undefined) ?? "";
  return raw.startsWith('"') ? inside.replace(/\\(["\\])/g, "$1") : inside;
}

/** A fence in a list is indented like the list; its text is not. */
function withoutIndent(body: string, indent: string): string {
  const lines = body.replace(/\n$/, "").split("\n");
  return lines.map((line) => (line.startsWith(indent) ? line.slice(indent.length) : line)).join("\n");
}
