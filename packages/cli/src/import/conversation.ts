// A conversation of another tool, in the form in which it is taken over.

export interface Conversation {
  /** The file that it was read from. */
  path: string;
  /** The id that the other tool gave it. */
  id: string;
  cwd: string;
  at: Date;
  turns: ImportedTurn[];
}

export interface ImportedTurn {
  prompt: string;
  at: Date;
  steps: ImportedStep[];
}

export type ImportedStep = { kind: "message"; text: string } | ImportedCall;

export interface ImportedCall {
  kind: "call";
  id: string;
  name: string;
  form: "function" | "freeform";
  input: string;
  /** Null: it was never answered. */
  output: { text: string; failed: boolean } | null;
}

export type Json = { [key: string]: unknown };

export const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export const textIn = (value: unknown): string => (typeof value === "string" ? value : "");

/** Lines that are no JSON are left out: the last one may be half written. */
export const parseLines = (text: string): Json[] =>
  text.split("\n").flatMap((line) => {
    try {
      const value: unknown = JSON.parse(line);
      return isObject(value) ? [value] : [];
    } catch {
      return [];
    }
  });

/** The texts of content that is a text, or a list of parts; pictures are named. */
export function contentTexts(content: unknown): string[] {
  if (typeof content === "string") return [content];
  if (!Array.isArray(content)) return [];
  return content.filter(isObject).flatMap(({ type, text }) => {
    if (typeof text === "string") return [text];
    return /image/.test(textIn(type)) ? ["[an image that was not taken over]"] : [];
  });
}

export const timeIn = (value: unknown, otherwise: Date): Date => {
  const time = new Date(textIn(value));
  return Number.isNaN(time.getTime()) ? otherwise : time;
};

/** Builds turns from prompts and steps in their order. What comes before the first prompt is left out. */
export function openTurns() {
  const turns: ImportedTurn[] = [];
  const calls = new Map<string, ImportedCall>();
  const addStep = (step: ImportedStep) => void turns.at(-1)?.steps.push(step);
  return {
    turns,
    prompt: (prompt: string, at: Date) => void turns.push({ prompt, at, steps: [] }),
    message: (text: string) => {
      if (text.trim() !== "") addStep({ kind: "message", text });
    },
    call: (call: Omit<ImportedCall, "kind" | "output">) => {
      const open: ImportedCall = { kind: "call", ...call, output: null };
      calls.set(call.id, open);
      addStep(open);
    },
    result: (id: string, text: string, failed: boolean) => {
      const call = calls.get(id);
      if (call) call.output = { text, failed };
    },
  };
}
