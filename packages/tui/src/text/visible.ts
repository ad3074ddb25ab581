// Texts of models, commands, files and other users: what a terminal would obey becomes visible, colours are dropped.
import { terminalText, withoutColours } from "@agentcli/command-line";

/** Line feeds stay; tabs become spaces. */
export const visible = (text: string): string =>
  isPlain.test(text) ? text : terminalText(withoutColours(text)).replace(/\t/g, "    ");

const isPlain = /^[\n\x20-\x7e]*$/;
