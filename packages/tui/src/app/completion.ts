// While the message is written: files after @, skills after $, commands after / at its beginning.
import type { Buffer } from "../composer/index.ts";
import type { Input } from "../terminal/index.ts";
import { slashCommands } from "./commands.ts";
import { type Entry, entryRows, fuzzy } from "./picker.ts";
import type { App, Overlay } from "./state.ts";

interface Token {
  sign: "@" | "$" | "/";
  query: string;
  start: number;
}

const wordBefore = ({ text, cursor }: Buffer): Token | null => {
  const before = text.slice(0, cursor);
  const command = /^\/([\w-]*)$/.exec(before);
  if (command) return { sign: "/", query: command[1] ?? "", start: 0 };
  const found = /(?:^|\s)([@$])([\w./-]*)$/.exec(before);
  if (!found) return null;
  const [, sign, query = ""] = found;
  return { sign: sign as "@" | "$", query, start: cursor - query.length - 1 };
};

/** Called after each key: opens, narrows or closes the list. */
export function openCompletion(app: App): () => void {
  let current: string | null = null;
  let dismissed: string | null = null;
  let overlay: Overlay | null = null;
  const hide = () => {
    app.state.overlays = app.state.overlays.filter((each) => each !== overlay);
    overlay = null;
    current = null;
  };
  const show = (token: Token, entries: Entry<string>[]) => {
    app.state.overlays = app.state.overlays.filter((each) => each !== overlay);
    overlay = entries.length === 0 ? null : listOf(app, token, { entries, dismiss });
    if (overlay) app.state.overlays.push(overlay);
    app.redraw();
  };
  const dismiss = () => {
    dismissed = current;
    hide();
  };
  return () => {
    const token = app.state.overlays.some(({ kind }) => kind === "card") ? null : wordBefore(app.state.buffer);
    if (!token) {
      dismissed = null;
      return hide();
    }
    const key = `${token.sign}${token.start}${token.query}`;
    if (key === current || (dismissed !== null && key.startsWith(dismissed.slice(0, 2)))) return;
    current = key;
    void entriesOf(app, token).then((entries) => key === current && show(token, entries));
  };
}

async function entriesOf(app: App, { sign, query }: Token): Promise<Entry<string>[]> {
  const { cwd } = app.state.settings;
  if (sign === "/")
    return slashCommands
      .filter(({ name }) => name.startsWith(query) || (query.length > 1 && fuzzy(query, name)))
      .map(({ name, summary }) => ({ label: `/${name}`, detail: summary, value: `/${name}` }));
  try {
    if (sign === "@") {
      const { files } = await app.client.request("fuzzyFileSearch", {
        query,
        roots: [cwd],
        cancellationToken: "composer",
      });
      return files.slice(0, 20).map(({ path }) => ({ label: path, value: `@${path} ` }));
    }
    const { data } = await app.client.request("skills/list", { cwds: [cwd] });
    const skills = data.flatMap((each) => each.skills).filter(({ name, enabled }) => enabled && fuzzy(query, name));
    return skills.map(({ name, description }) => ({ label: `$${name}`, detail: description, value: `$${name} ` }));
  } catch {
    return [];
  }
}

interface List {
  entries: Entry<string>[];
  dismiss(): void;
}

function listOf(app: App, { sign, start }: Token, { entries, dismiss }: List): Overlay {
  let selected = 0;
  const complete = () => {
    const { text, cursor } = app.state.buffer;
    const value = entries[selected]?.value ?? "";
    app.state.buffer = {
      ...app.state.buffer,
      text: text.slice(0, start) + value + text.slice(cursor),
      cursor: start + value.length,
    };
    dismiss();
  };
  const isWhole = () => sign === "/" && entries[selected]?.value === app.state.buffer.text;
  return {
    kind: "list",
    rows(columns, maxRows) {
      const from = Math.max(0, Math.min(selected - Math.floor(maxRows / 2), entries.length - maxRows));
      return entryRows(entries.slice(from, from + maxRows), selected - from, columns);
    },
    input(input: Input) {
      if (input.kind !== "key" || input.ctrl || input.alt) return false;
      if (input.name === "up") selected = Math.max(0, selected - 1);
      else if (input.name === "down") selected = Math.min(entries.length - 1, selected + 1);
      else if (input.name === "escape") dismiss();
      else if (input.name === "tab") complete();
      else if (input.name === "enter" && !input.shift) {
        if (isWhole()) return false;
        complete();
        // A chosen command is run at once.
        return sign !== "/";
      } else return false;
      return true;
    },
  };
}
