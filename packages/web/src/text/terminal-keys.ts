// Keys as the characters that a terminal sends for them.
export interface PressedKey {
  key: string;
  ctrlKey: boolean;
  altKey: boolean;
  metaKey: boolean;
  shiftKey: boolean;
}

const named: Record<string, string> = {
  Enter: "\n",
  Tab: "\t",
  Escape: "\x1b",
  Backspace: "\x7f",
  ArrowUp: "\x1b[A",
  ArrowDown: "\x1b[B",
  ArrowRight: "\x1b[C",
  ArrowLeft: "\x1b[D",
  Home: "\x1b[H",
  End: "\x1b[F",
  Delete: "\x1b[3~",
  PageUp: "\x1b[5~",
  PageDown: "\x1b[6~",
};

/** Null for keys that are left to the browser: characters come as text, Ctrl V pastes, and Shift Tab leads on. */
export function charactersOf({ key, ctrlKey, altKey, metaKey, shiftKey }: PressedKey): string | null {
  if (metaKey || (key === "Tab" && (shiftKey || ctrlKey || altKey))) return null;
  if (ctrlKey && !altKey) return shiftKey || key.toLowerCase() === "v" ? null : controlOf(key);
  const found = named[key];
  if (altKey) return ctrlKey ? null : `\x1b${found ?? (key.length === 1 ? key : "")}`;
  return found ?? null;
}

/** Ctrl A is 1, and so on up to Ctrl _. */
const controlOf = (key: string): string | null =>
  /^[a-z[\\\]^_]$/i.test(key) ? String.fromCharCode(key.toUpperCase().charCodeAt(0) & 31) : null;
