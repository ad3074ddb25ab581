// Joins an argument vector into one line that a shell splits the same way.
export const shellJoin = (argv: string[]): string => argv.map(quote).join(" ");

function quote(word: string): string {
  if (/^[A-Za-z0-9_@%+=:,./-]+$/.test(word)) return word;
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
