// The text of a file as part of a prompt, in Markdown.

/** The fence is longer than any in the text: what is in the file stays in the file. */
export function quoteFile(name: string, text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${name.replaceAll(/\s+/g, " ")}:\n${fence}\n${text.replace(/\n$/, "")}\n${fence}`;
}
