// Text for a terminal. Models, commands, file names and other users write much of what is shown, and a terminal obeys
// sequences in it: they set the clipboard and the title, clear the screen, or hide what follows.

interface Output {
  isTTY?: boolean;
}

/** As it is for a file or a pipe; on a terminal only what can be seen. */
export const textFor = (output: Output, text: string): string => (output.isTTY ? terminalText(text) : text);

/** The same for what other programs wrote: their colours could be taken for the program's own. */
export const foreignTextFor = (output: Output, text: string): string =>
  output.isTTY ? terminalText(withoutColours(text)) : text;

/** Other colours are dropped, other control characters are shown as \uXXXX, which in JSON stands for the same text. */
export const terminalText = (text: string): string =>
  withColoursClosed(
    text.replace(/\r\n?/g, "\n").replace(harmful, (found, colour: string | undefined) => {
      if (colour === undefined) return `\\u${found.charCodeAt(0).toString(16).padStart(4, "0")}`;
      return ownColours.has(colour) ? found : "";
    }),
  );

/** Without the colours in any of its texts: what a model or command wrote must not look like the program's own headings. */
export function withoutColours<Value>(value: Value): Value {
  // A colour inside the beginning of another would leave one behind: what begins and is none becomes visible.
  if (typeof value === "string")
    return value.replace(/\u001b(\[[\d;:]*m)?/g, (_, colour) => (colour ? "" : "\\u001b")) as Value;
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(withoutColours) as Value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, withoutColours(each)])) as Value;
}

/** A colour that a text leaves open would colour what follows it, such as the prompt of the shell. */
function withColoursClosed(text: string): string {
  const codes = [...text.matchAll(/\u001b\[(\d+)m/g)].map(([, code = ""]) => code);
  const isOpen = (close: string, others: string[]) =>
    others.includes(codes.findLast((code) => code === close || others.includes(code)) ?? close);
  return `${text}${isOpen("22", ["1", "2"]) ? "\u001b[22m" : ""}${isOpen("39", ["31", "32"]) ? "\u001b[39m" : ""}`;
}

/** Of the characters for the direction of text, the overrides and isolates; the marks occur in plain Arabic and Hebrew. */
const harmful = /\u001b\[([\d;:]*)m|(?![\n\t])[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu;

/** Bold, dim, red and green, as this program uses them itself. */
const ownColours = new Set(["1", "2", "22", "31", "32", "39"]);
