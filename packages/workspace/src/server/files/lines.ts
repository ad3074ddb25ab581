// Splits a byte stream into lines in bounded memory, however long a line is.

/** `head` is the start of the line, as much as was asked to be kept; `bytes` is the length of all of it. */
export interface RawLine {
  head: Buffer;
  bytes: number;
}

export function splitLines(keepBytes: number, onLine: (line: RawLine) => void) {
  let kept: Buffer[] = [];
  let keptBytes = 0;
  let bytes = 0;
  const keep = (piece: Buffer) => {
    bytes += piece.length;
    if (keptBytes >= keepBytes) return;
    const part = piece.subarray(0, keepBytes - keptBytes);
    kept.push(part);
    keptBytes += part.length;
  };
  const finish = () => {
    const line = { head: kept.length === 1 && kept[0] ? kept[0] : Buffer.concat(kept), bytes };
    kept = [];
    keptBytes = 0;
    bytes = 0;
    onLine(line);
  };
  return {
    write(piece: Buffer) {
      let from = 0;
      for (let at = piece.indexOf(newline); at !== -1; at = piece.indexOf(newline, from)) {
        keep(piece.subarray(from, at));
        finish();
        from = at + 1;
      }
      if (from < piece.length) keep(piece.subarray(from));
    },
    end() {
      if (bytes > 0) finish();
    },
  };
}

/** How much of a line must be kept to show `characters` of it: UTF-8 needs at most three bytes for each. */
export const bytesToKeep = (characters: number) => 4 * characters;

/** The line as text, without its line ending; cut with a marker when longer than `characters`. */
export function showLine(line: RawLine, characters: number): string {
  const text = line.head.toString("utf8");
  const whole = line.head.length === line.bytes && text.endsWith("\r") ? text.slice(0, -1) : text;
  if (line.head.length === line.bytes && whole.length <= characters) return whole;
  return `${cutText(whole, characters)}… [line cut, ${line.bytes} bytes in all]`;
}

/** The line as `showLine` shows it, or the part around `column` where that would not be shown. */
export function lineWindow(line: string, column: number, characters: number): string {
  const head = Buffer.from(line);
  if (line.length <= characters || column < characters) return showLine({ head, bytes: head.length }, characters);
  const from = safeStart(line, column - Math.floor(characters / 2));
  const part = cutText(line.slice(from), characters);
  const end = from + part.length < line.length ? "…" : "";
  return `[from character ${from + 1}] …${part}${end} [line cut, ${head.length} bytes in all]`;
}

/** Not between the halves of a surrogate pair. */
function safeStart(text: string, index: number): number {
  const unit = text.charCodeAt(index);
  return unit >= 0xdc00 && unit < 0xe000 ? index + 1 : index;
}

function cutText(text: string, characters: number): string {
  const last = text.charCodeAt(characters - 1);
  const splitsPair = last >= 0xd800 && last < 0xdc00;
  return text.slice(0, splitsPair ? characters - 1 : characters);
}

const newline = 0x0a;
