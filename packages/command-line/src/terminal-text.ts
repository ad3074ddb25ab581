// Text for a terminal. Models, commands, file names and other users write much of what is shown, and a terminal obeys
// sequences in it: they set the clipboard and the title, clear the screen, or hide what follows.

interface Output {
  isTTY?: boolean;
}

/** As it is for a file or a pipe; on a terminal only what can be seen. */
export const textFor = (output: Output, text: string): string => (output.isTTY ? terminalText(text) : text);

/** Other colours are dropped, other control characters are shown as \uXXXX, which in JSON stands for the same text. */
export const terminalText = (text: string): string =>
  text.replace(/\r\n?/g, "\n").replace(harmful, (found, colour: string | undefined) => {
    if (colour === undefined) return `\\u${found.charCodeAt(0).toString(16).padStart(4, "0")}`;
    return ownColours.has(colour) ? found : "";
  });

/** Of the characters for the direction of text, the overrides and isolates; the marks occur in plain Arabic and Hebrew. */
const harmful = /\u001b\[([\d;:]*)m|(?![\n\t])[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu;

/** Bold, dim, red and green, as this program uses them itself. */
const ownColours = new Set(["1", "2", "22", "31", "32", "39"]);
