// The built agentcli on terminals: in tmux, whose screen is captured, and on a terminal in memory, whose scrollback is read.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { cliProgram } from "@agentcli/testkit";
import { spawn } from "@lydell/node-pty";
import headless from "@xterm/headless";
import { onTestFinished } from "vitest";

export interface TerminalOptions {
  args?: string[];
  cwd: string;
  env: Record<string, string>;
  columns?: number;
  rows?: number;
}

const environment = (cwd: string, env: Record<string, string>): Record<string, string> => ({
  PATH: process.env.PATH ?? "",
  HOME: cwd,
  LANG: "C.UTF-8",
  SHELL: "/bin/bash",
  ...env,
});

export interface Tmux {
  /** The visible rows. */
  screen(): string;
  /** The scrollback and the visible rows. */
  history(): string;
  /** Names of keys as tmux has them. */
  keys(...names: string[]): void;
  /** Characters as they are. */
  type(text: string): void;
  /** As a terminal pastes: with its brackets. */
  paste(text: string): void;
  resize(columns: number, rows: number): void;
  /** Of the program, not of the shell that started it. */
  processId(): number;
}

export function openTmux({ args = [], cwd, env, columns = 80, rows = 30 }: TerminalOptions): Tmux {
  const directory = mkdtempSync(join(tmpdir(), "tmux-"));
  const tmux = (...words: string[]) =>
    execFileSync("tmux", ["-S", join(directory, "socket"), "-f", "/dev/null", ...words], {
      encoding: "utf8",
      env: { ...environment(cwd, env), TERM: "xterm-256color" },
    });
  const size = ["-x", String(columns), "-y", String(rows)];
  const quoted = [process.execPath, cliProgram, ...args].map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(" ");
  const command = `cd '${cwd}' && ${quoted}; echo "exit code $?"; stty -a | grep -o -- '-\\?icanon'; exec sleep 1000`;
  tmux("new-session", "-d", ...size, "-s", "main", command, ";", "set-option", "-g", "history-limit", "50000");
  onTestFinished(() => {
    try {
      tmux("kill-server");
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  });
  return {
    screen: () => tmux("capture-pane", "-p", "-t", "main"),
    history: () => tmux("capture-pane", "-p", "-J", "-S", "-", "-t", "main").replace(/ +$/gm, ""),
    keys: (...names) => void tmux("send-keys", "-t", "main", ...names),
    type: (text) => void tmux("send-keys", "-t", "main", "-l", text),
    paste(text) {
      execFileSync("tmux", ["-S", join(directory, "socket"), "load-buffer", "-"], { input: text });
      tmux("paste-buffer", "-p", "-t", "main");
    },
    resize: (width, height) => void tmux("resize-window", "-t", "main", "-x", String(width), "-y", String(height)),
    processId() {
      const shell = tmux("list-panes", "-t", "main", "-F", "#{pane_pid}").trim();
      const isChild = (pid: string) => new RegExp(`\\) \\S ${shell} `).test(readStat(pid));
      return Number(readdirSync("/proc").find((name) => /^\d+$/.test(name) && isChild(name)));
    },
  };
}

function readStat(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/stat`, "utf8");
  } catch {
    return "";
  }
}

export interface MemoryTerminal {
  /** All lines, the scrollback included; wrapped rows joined. */
  lines(): string[];
  screen(): string;
  /** Everything the program has written. */
  written(): string;
  type(text: string): void;
  resize(columns: number, rows: number): void;
  kill(signal: string): void;
  readonly ended: Promise<number>;
}

export function openMemoryTerminal({ args = [], cwd, env, columns = 80, rows = 30 }: TerminalOptions): MemoryTerminal {
  const screen = new headless.Terminal({ cols: columns, rows, scrollback: 200_000, allowProposedApi: true });
  const variables = { ...environment(cwd, env), TERM: "xterm-256color" };
  const program = spawn(process.execPath, [cliProgram, ...args], { cwd, env: variables, cols: columns, rows });
  const pieces: string[] = [];
  program.onData((text) => {
    pieces.push(text);
    screen.write(text);
  });
  const ended = new Promise<number>((resolve) => program.onExit(({ exitCode }) => resolve(exitCode)));
  let isOver = false;
  void ended.then(() => {
    isOver = true;
  });
  onTestFinished(() => {
    if (!isOver) program.kill("SIGKILL");
  });
  const line = (index: number) => screen.buffer.active.getLine(index);
  return {
    lines() {
      const all: string[] = [];
      for (let index = 0; index < screen.buffer.active.length; index++) {
        const text = line(index)?.translateToString(true) ?? "";
        if (line(index)?.isWrapped) all[all.length - 1] += text;
        else all.push(text);
      }
      return all;
    },
    screen() {
      const { viewportY } = screen.buffer.active;
      return Array.from({ length: screen.rows }, (_, row) => line(viewportY + row)?.translateToString(true) ?? "").join(
        "\n",
      );
    },
    written: () => pieces.join(""),
    type: (text) => program.write(text),
    resize(width, height) {
      screen.resize(width, height);
      program.resize(width, height);
    },
    kill: (signal) => program.kill(signal),
    ended,
  };
}
