// Takes a patch out of what models put around it: a heredoc, a Markdown fence.
import { readHeredoc } from "./heredoc.ts";

/** One in the other, in either order. */
export const unwrap = (text: string): string => unwrapFence(unwrapHeredoc(unwrapFence(text)));

function unwrapHeredoc(text: string): string {
  const heredoc = readHeredoc(text);
  return heredoc !== null && ["", "apply_patch"].includes(heredoc.command) ? heredoc.body : text;
}

const fence = /^[ \t]*(?<mark>`{3,}|~{3,})[ \t]*[\w+.-]*[ \t]*\r?\n(?<body>[\s\S]*)\n[ \t]*\k<mark>[ \t]*$/;

const unwrapFence = (text: string): string => fence.exec(text.trim())?.groups?.body ?? text;
