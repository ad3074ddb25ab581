// Recognises a shell command that does nothing but apply a patch, so that it can be treated as the patch tool.
import { readHeredoc } from "./heredoc.ts";

export interface EmbeddedPatch {
  /** The directory the script changes to first. */
  workdir?: string;
  patch: string;
}

/** Null for any script that does or may do anything else. */
export function readEmbeddedPatch(script: string): EmbeddedPatch | null {
  const heredoc = script.includes("apply_patch") ? readHeredoc(script) : null;
  if (heredoc === null) return null;
  const { command, body: patch } = heredoc;
  if (command === "apply_patch") return { patch };
  const groups = changeThenApply.exec(command)?.groups;
  const workdir = groups?.single ?? groups?.double ?? groups?.bare;
  return workdir === undefined ? null : { workdir, patch };
}

// Words the shell would expand (`$HOME`, `~`, `*`, `\ `) are left to the shell. A leading `-` would be an option of cd.
const changeThenApply =
  /^cd[ \t]+(?:'(?<single>[^'-][^']*)'|"(?<double>[^"$`\\!-][^"$`\\!]*)"|(?<bare>[\w./@:+,%=][\w./@:+,%=-]*))[ \t]*&&[ \t]*apply_patch$/;
