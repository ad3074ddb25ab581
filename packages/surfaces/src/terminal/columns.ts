// Text cut to the columns of a terminal, so that no line of the live region wraps.

/** One line of at most `columns`; what is cut off is replaced by an ellipsis. */
export function fit(text: string, columns: number): string {
  const line = text.replace(/\t/g, "    ").replace(/[\n\r]/g, " ");
  if (isAscii.test(line)) return line.length <= columns ? line : `${line.slice(0, Math.max(0, columns - 1))}…`;
  if (widthOf(line) <= columns) return line;
  let width = 0;
  let cut = "";
  for (const character of line) {
    width += characterWidth(character);
    if (width > columns - 1) break;
    cut += character;
  }
  return `${cut}…`;
}

export function widthOf(text: string): number {
  if (isAscii.test(text)) return text.length;
  let width = 0;
  for (const character of text) width += characterWidth(character);
  return width;
}

const isAscii = /^[\x20-\x7e]*$/;
const wide =
  /[\u1100-\u115f\u2e80-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|[\u{1f000}-\u{1ffff}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u;
const mark = /\p{M}|[\u200b-\u200f]/u;

/** Rather too wide than too narrow: a line that wraps would leave remains. */
function characterWidth(character: string): number {
  if (mark.test(character)) return 0;
  return wide.test(character) ? 2 : 1;
}
