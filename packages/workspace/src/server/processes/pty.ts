// Starts a process on a real terminal.
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import type { Terminal } from "@agentcli/protocol";
import { findTerminals } from "../../terminal-library.ts";
import { type ChildEvents, type ChildSpec, explainStartFailure, type Launch } from "./child.ts";

type TerminalModule = typeof import("@lydell/node-pty");

/** Ctrl-D: how a terminal says that no more input will come. */
const endOfTransmission = "\x04";

/**
 * Holds the terminal until the program has ended. One that closes its streams on the way out, as cat does, would else
 * leave a terminal that no process has open; our end is closed then, and the hang-up kills what was about to exit with 0.
 */
const keepTerminal = 'trap : INT QUIT HUP TERM; "$@"; exit $?';

export interface TerminalRequest {
  spec: ChildSpec;
  size: Terminal;
  /** Where the terminal library is, when it cannot be found from here. */
  modulePath?: string | undefined;
}

export async function startOnTerminal(request: TerminalRequest, events: ChildEvents): Promise<Launch> {
  const { spec, size } = request;
  // The library reports these only as an exit code, so they are looked for before.
  const failure = explainStartFailure(spec);
  if (failure !== undefined) return { kind: "not-started", message: failure };
  try {
    const { spawn } = loadTerminals(request.modulePath);
    const { cwd, env } = spec;
    const terminal = spawn("/bin/sh", ["-c", keepTerminal, "sh", ...spec.argv], {
      name: env.TERM ?? "xterm-256color",
      cols: size.columns,
      rows: size.rows,
      cwd,
      env,
    });
    let ended = false;
    terminal.onData((text) => events.output("terminal", text));
    terminal.onExit(({ exitCode, signal }) => {
      ended = true;
      events.exited(signal ? 128 + signal : exitCode);
      events.closed();
    });
    const whileOpen = (action: () => void) => void (ended || action());
    return {
      kind: "started",
      child: {
        pid: terminal.pid,
        write: (text) => whileOpen(() => terminal.write(text)),
        endInput: () => whileOpen(() => terminal.write(endOfTransmission)),
        resize: ({ columns, rows }) => whileOpen(() => terminal.resize(columns, rows)),
        holdOutput: () => whileOpen(() => terminal.pause()),
        resumeOutput: () => whileOpen(() => terminal.resume()),
      },
    };
  } catch (error) {
    return { kind: "not-started", message: `A terminal could not be opened: ${String(error)}. Run it without one.` };
  }
}

function loadTerminals(modulePath = findTerminals(fileURLToPath(import.meta.url))?.module): TerminalModule {
  if (modulePath === undefined) throw new Error("the package @lydell/node-pty is not installed");
  return createRequire(modulePath)(modulePath);
}
