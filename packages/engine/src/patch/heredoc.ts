// Finds the text of a shell heredoc. Only a heredoc that ends where the script ends counts.

const opening = /^(?<command>.*?)<<[ \t]*(?:'(?<single>\w+)'|"(?<double>\w+)"|(?<bare>\w+))$/;

/** `command <<'TAG'`, the body, `TAG` and nothing more; null for every other script. */
export function readHeredoc(script: string): { command: string; body: string } | null {
  const lines = script.trim().split("\n").map(withoutReturn);
  const { command = "", single, double, bare } = opening.exec((lines[0] ?? "").trimEnd())?.groups ?? {};
  const tag = single ?? double ?? bare;
  if (tag === undefined || lines.indexOf(tag, 1) !== lines.length - 1) return null;
  return { command: command.trim(), body: lines.slice(1, -1).join("\n") };
}

const withoutReturn = (line: string) => (line.endsWith("\r") ? line.slice(0, -1) : line);
