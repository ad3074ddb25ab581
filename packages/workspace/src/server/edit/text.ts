// A text file as lines that remember their own endings, so that what a patch does not touch stays as it is.

export interface Line {
  text: string;
  /** `\n`, `\r\n`, or nothing on a last line that was not finished. */
  ending: string;
}

export interface Text {
  byteOrderMark: string;
  lines: Line[];
  /** What most lines end with: new lines do the same. */
  ending: "\n" | "\r\n";
}

/** Null when the bytes are not UTF-8. */
export function readText(bytes: Buffer): Text | null {
  const content = decode(bytes);
  if (content === null) return null;
  const byteOrderMark = content.startsWith("\ufeff") ? "\ufeff" : "";
  const pieces = content.slice(byteOrderMark.length).split("\n");
  const unfinished = pieces.pop() ?? "";
  const lines = pieces.map(finishedLine);
  if (unfinished !== "") lines.push({ text: unfinished, ending: "" });
  return { byteOrderMark, lines, ending: dominantEnding(lines) };
}

function finishedLine(piece: string): Line {
  return piece.endsWith("\r") ? { text: piece.slice(0, -1), ending: "\r\n" } : { text: piece, ending: "\n" };
}

/** A last line without an ending gets one. */
export function renderText({ byteOrderMark, lines, ending }: Text): Buffer {
  const finished = lines.map((line) => line.text + (line.ending === "" ? ending : line.ending));
  return Buffer.from(byteOrderMark + finished.join(""));
}

/** Null when the bytes are not UTF-8. A byte order mark stays. */
export function decode(bytes: Buffer): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) return null;
    throw error;
  }
}

function dominantEnding(lines: Line[]): Text["ending"] {
  const crlf = lines.filter((line) => line.ending === "\r\n").length;
  const lf = lines.filter((line) => line.ending === "\n").length;
  return crlf > lf ? "\r\n" : "\n";
}
