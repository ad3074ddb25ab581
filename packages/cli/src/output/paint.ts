// Colours, if enabled.
import type { Paint } from "@agentcli/surfaces/human";

export function choosePaint(when: string, variables: NodeJS.ProcessEnv): Paint {
  const isColoured = when === "auto" ? process.stderr.isTTY === true && !variables.NO_COLOR : when === "always";
  return isColoured ? colours : plain;
}

const code = (open: number, close: number) => (text: string) => `\u001b[${open}m${text}\u001b[${close}m`;
const same = (text: string): string => text;

const colours: Paint = { bold: code(1, 22), dim: code(2, 22), good: code(32, 39), bad: code(31, 39) };
const plain: Paint = { bold: same, dim: same, good: same, bad: same };
