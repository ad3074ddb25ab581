// Commands in variables such as EDITOR, which a shell runs: used only where every file that they can name is safe.

export interface CommandContext {
  isSafe(path: string): boolean;
  home: string | undefined;
}

/** False for what only the shell could tell: other variables, patterns, substitutions, several commands. */
export function isSafeCommand(command: string, { isSafe, home = "" }: CommandContext): boolean {
  const expanded = command.replace(/(?<![^\s'"=:|])(?:~|\$HOME|\$\{HOME\})(?=\/)/g, () => home);
  if (/[;&<>()$`{}\\*?[\]\n]|(?<![^\s'"=:|])~/.test(expanded)) return false;
  // The shell joins what quotes divide, and one that the command starts divides it again.
  return expanded
    .replace(/['"]/g, "")
    .split(/[\s=|:,]+/)
    .map((word) => word.replace(/^-[A-Za-z](?=[./])/, ""))
    .filter((word) => word.includes("/"))
    .every(isSafe);
}
