// Texts that were shown in part, kept whole for the reader. The oldest are dropped.
import type { ThreadItem } from "@agentcli/protocol/app-server";
import { visible } from "../text/index.ts";
import { commandText, diffLines } from "./cells.ts";

export interface ReadableItem {
  title: string;
  text: string;
}

const maxCharacters = 16 * 1024 * 1024;

export function openArchive() {
  const items: ReadableItem[] = [];
  let characters = 0;
  const add = (title: string, text: string): void => {
    if (text.trim() === "") return;
    items.push({ title, text: text.slice(-maxCharacters) });
    characters += text.length;
    while (characters > maxCharacters && items.length > 1) characters -= items.shift()?.text.length ?? 0;
  };
  return {
    items: (): ReadableItem[] => items,
    add,
    addItem(item: ThreadItem): void {
      if (item.type === "commandExecution") add(`$ ${visible(commandText(item))}`, item.aggregatedOutput ?? "");
      if (item.type === "fileChange")
        for (const change of item.changes) add(visible(change.path), diffLines(change).join("\n"));
      if (item.type === "mcpToolCall")
        add(visible(`${item.server}/${item.tool}`), JSON.stringify(item.result ?? item.error ?? null, null, 2));
      if (item.type === "userMessage")
        add("Prompt", item.content.map((part) => (part.type === "text" ? part.text : "")).join("\n"));
    },
  };
}
