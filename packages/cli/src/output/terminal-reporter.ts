// Shows a run on a terminal: what has happened stays and scrolls, what is under way is drawn below it.
import { withoutColours } from "@agentcli/command-line";
import type { Reporter } from "@agentcli/host";
import { type TerminalOptions, terminalView } from "@agentcli/surfaces/terminal";
import { colorDepth, openPainter, progressRows } from "@agentcli/tui/live";
import { openLiveRegion } from "./live-region.ts";
import { endLine, type Streams } from "./reporter.ts";

export interface TerminalReporterOptions extends Omit<TerminalOptions, "nowMs" | "size"> {
  /** Of the environment: what colours the terminal has. */
  variables: Record<string, string | undefined>;
}

export function terminalReporter({ out, err }: Streams, { variables, ...options }: TerminalReporterOptions): Reporter {
  const terminal = process.stderr;
  const size = () => ({ columns: terminal.columns || 80, rows: terminal.rows || 24 });
  const view = terminalView({ ...options, nowMs: Date.now, size });
  const { row } = openPainter({ depth: colorDepth(variables), theme: "terminal", links: false });
  const rows = () => {
    const progress = view.live();
    return progress ? progressRows(progress, size().columns).map(row) : [];
  };
  const region = openLiveRegion({ terminal, draw: err.draw, rows, size });
  return {
    recall: (stored) => void view.show(stored),
    show: (stored) => region.print(view.show(withoutColours(stored))),
    onProgress(progress) {
      view.progress(progress);
      region.redrawSoon();
    },
    onAgentRecord(stored) {
      view.agentRecord(stored);
      region.redrawSoon();
    },
    async finish(message) {
      await region.close();
      if (!out.terminal) await out.write(endLine(message));
    },
    async fail(message) {
      await region.close();
      await err.write(`${options.paint.bad("ERROR:")} ${withoutColours(message)}\n`);
    },
    log: (line) => void region.print(`${withoutColours(line)}\n`),
  };
}
