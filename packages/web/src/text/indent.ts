// Text below a heading of a message, each line three columns in.
export const indent = (text: string): string =>
  text
    .trim()
    .split("\n")
    .map((line) => `   ${line}`)
    .join("\n");
