// Bytes from a terminal as keys, texts and pastes.

export interface Key {
  kind: "key";
  /** A character in lower case, or a name: enter, tab, escape, up … */
  name: string;
  ctrl: boolean;
  alt: boolean;
  shift: boolean;
}

export type Input = Key | { kind: "text"; text: string } | { kind: "paste"; text: string };

export interface KeyReader {
  push(text: string): void;
  /** No more came: an escape character at the end was the key. */
  flush(): void;
  /** Whether an unfinished sequence is waiting for more. */
  isWaiting(): boolean;
}

const pasteStart = "\u001b[200~";
const pasteEnd = "\u001b[201~";

export function openKeyReader(take: (input: Input) => void): KeyReader {
  let rest = "";
  const read = (isLast: boolean) => {
    while (rest !== "") {
      const step = next(rest, isLast);
      if (!step) return;
      rest = rest.slice(step.length);
      if (step.input) take(step.input);
    }
  };
  return {
    push(text) {
      rest += text;
      if (isBurst(rest)) {
        take({ kind: "paste", text: lines(rest) });
        rest = "";
      }
      read(false);
    },
    flush: () => read(true),
    isWaiting: () => rest.startsWith("\u001b") && !rest.startsWith(pasteStart),
  };
}

/** Terminals without bracketed paste send a paste like typing, but faster than anyone types. */
const isBurst = (text: string): boolean => text.length >= 16 && !text.includes("\u001b") && /[\r\n][^\r\n]/.test(text);

const lines = (text: string): string => text.replace(/\r\n?/g, "\n");

interface Step {
  input: Input | null;
  length: number;
}

/** Null where more characters are needed. */
function next(text: string, isLast: boolean): Step | null {
  if (text.startsWith(pasteStart)) return paste(text);
  if (text.startsWith("\u001b")) return escapeSequence(text, isLast);
  const control = controlKey(text[0] ?? "");
  if (control) return { input: control, length: 1 };
  const plain = /^[^\p{Cc}]+/u.exec(text)?.[0] ?? "";
  return plain === "" ? { input: null, length: 1 } : { input: { kind: "text", text: plain }, length: plain.length };
}

function paste(text: string): Step | null {
  const end = text.indexOf(pasteEnd);
  if (end < 0) return null;
  return { input: { kind: "paste", text: lines(text.slice(pasteStart.length, end)) }, length: end + pasteEnd.length };
}

const key = (name: string, modifiers: Partial<Omit<Key, "kind" | "name">> = {}): Key => ({
  kind: "key",
  name,
  ctrl: false,
  alt: false,
  shift: false,
  ...modifiers,
});

function controlKey(character: string): Key | null {
  const code = character.charCodeAt(0);
  if (character === "\r") return key("enter");
  if (character === "\t") return key("tab");
  if (code === 127 || code === 8) return key("backspace");
  if (code === 0) return key(" ", { ctrl: true });
  if (code < 27) return key(String.fromCharCode(code + 96), { ctrl: true });
  return code < 32 ? key(String.fromCharCode(code + 64).toLowerCase(), { ctrl: true }) : null;
}

function escapeSequence(text: string, isLast: boolean): Step | null {
  const second = text[1];
  if (second === undefined) return isLast ? { input: key("escape"), length: 1 } : null;
  if (second === "[") return controlSequence(text, isLast);
  if (second === "O" && text.length > 2) return { input: named(finals[text[2] ?? ""], 1), length: 3 };
  if (second === "O" && !isLast) return null;
  if (/[\]P_^X]/.test(second)) return answer(text, isLast);
  if (second === "\u001b") return { input: key("escape"), length: 1 };
  const control = controlKey(second);
  if (control) return { input: { ...control, alt: true }, length: 2 };
  const [character = second] = text.slice(1);
  return { input: key(character.toLowerCase(), { alt: true }), length: 1 + character.length };
}

/** What the terminal reports about itself is ignored. */
function answer(text: string, isLast: boolean): Step | null {
  const end = /\u0007|\u001b\\/.exec(text);
  if (end) return { input: null, length: end.index + end[0].length };
  return isLast ? { input: null, length: text.length } : null;
}

const finals: Record<string, string> = {
  A: "up",
  B: "down",
  C: "right",
  D: "left",
  H: "home",
  F: "end",
  M: "enter",
  Z: "tab",
};
const numbers: Record<string, string> = {
  ...{ "1": "home", "2": "insert", "3": "delete", "4": "end", "5": "pageup", "6": "pagedown", "7": "home", "8": "end" },
};

function controlSequence(text: string, isLast: boolean): Step | null {
  const found = /^\u001b\[([<-?]?)([\d;:]*)([ -/]*)([@-~])/.exec(text);
  if (!found) return unfinished(text, isLast);
  const [whole, mark, parameters = "", , final = ""] = found;
  const [first = "", second = "", third = ""] = parameters.split(";").map((value) => value.split(":")[0] ?? "");
  const length = whole.length;
  if (mark) return { input: null, length };
  if (final === "u") return { input: coded(Number(first), Number(second || 1)), length };
  if (final === "~" && first === "27") return { input: coded(Number(third), Number(second || 1)), length };
  if (final === "~") return { input: named(numbers[first], Number(second || 1)), length };
  return { input: named(finals[final], final === "Z" ? 2 : Number(second || 1)), length };
}

/** More may come; a character that cannot belong to it ends it, and counts for itself. */
function unfinished(text: string, isLast: boolean): Step | null {
  const length = /^\u001b\[[<-?]?[\d;:]*[ -/]*/.exec(text)?.[0].length ?? 2;
  return isLast || length < text.length ? { input: null, length } : null;
}

const modifiersOf = (code: number) => ({
  shift: ((code - 1) & 1) !== 0,
  alt: ((code - 1) & 2) !== 0,
  ctrl: ((code - 1) & 4) !== 0,
});

const named = (name: string | undefined, modifiers: number): Key | null =>
  name === undefined ? null : key(name, modifiersOf(modifiers));

const codes: Record<number, string> = { 9: "tab", 13: "enter", 27: "escape", 127: "backspace" };

/** A key by the number of its character, as newer terminals send it. */
function coded(code: number, modifiers: number): Input | null {
  const name = codes[code] ?? (code >= 32 && code < 0x10ffff ? String.fromCodePoint(code) : undefined);
  const pressed = modifiersOf(modifiers);
  if (name !== undefined && name.length <= 2 && !pressed.ctrl && !pressed.alt) return { kind: "text", text: name };
  return name === undefined ? null : key(name.toLowerCase(), pressed);
}
