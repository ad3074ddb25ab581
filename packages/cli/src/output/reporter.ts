// Shows a run on the standard streams, as events for programs or as text for people.
import { withoutColours } from "@agentcli/command-line";
import type { Reporter } from "@agentcli/host";
import { execEvents } from "@agentcli/surfaces/exec-jsonl";
import { humanText, type Paint } from "@agentcli/surfaces/human";
import type { Writer } from "./writer.ts";

export interface Streams {
  out: Writer;
  err: Writer;
}

export function jsonReporter({ out, err }: Streams): Reporter {
  const project = execEvents();
  return {
    recall: (stored) => void project(stored),
    show: (stored) => out.write(lines(project(stored))),
    finish: async () => {},
    async fail(message) {
      await out.write(lines([{ type: "error", message }]));
      await err.write(`ERROR: ${message}\n`);
    },
    log: (line) => void err.write(`${line}\n`),
  };
}

export function humanReporter({ out, err }: Streams, options: { paint: Paint; version: string }): Reporter {
  const text = humanText(options.paint, options.version);
  const quoting = (message: string): string => (err.terminal ? withoutColours(message) : message);
  return {
    recall: (stored) => void text(stored),
    show: (stored) => err.write(text(err.terminal ? withoutColours(stored) : stored)),
    // On a terminal the message has just been shown as progress; twice would be once too often.
    finish: async (message) => (out.terminal && err.terminal ? undefined : out.write(endLine(message))),
    fail: (message) => err.write(`${options.paint.bad("ERROR:")} ${quoting(message)}\n`),
    log: (line) => void err.write(`${quoting(line)}\n`),
  };
}

export const endLine = (text: string): string => (text.endsWith("\n") ? text : `${text}\n`);
const lines = (events: object[]): string => events.map((event) => `${JSON.stringify(event)}\n`).join("");
