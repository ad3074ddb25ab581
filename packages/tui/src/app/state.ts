// What the program knows: the thread, the message being written, what waits, and what is on top of it all.
import type { OutputPaths } from "@agentcli/command-line/output-file";
import type { AskForApproval, NoticeOf, ParamsOf, SandboxPolicy, UserInput } from "@agentcli/protocol/app-server";
import type { Client, Connect, ThreadOverrides } from "../client/index.ts";
import type { Buffer, History, VimState } from "../composer/index.ts";
import type { Input, TerminalStreams } from "../terminal/index.ts";
import type { Line, ThemeName } from "../text/index.ts";
import type { Transcript } from "../transcript/index.ts";

export interface TuiOptions {
  connect: Connect;
  streams: TerminalStreams;
  variables: Record<string, string | undefined>;
  /** For editor, pager and the like: without directories in which an agent can have left a program. */
  programVariables(variables: NodeJS.ProcessEnv): NodeJS.ProcessEnv;
  /** Where an agent can have put a link in the place of a file. */
  programs: OutputPaths;
  version: string;
  /** Where history and drafts are kept. */
  agentHome: string;
  start: Start;
  /** Of the thread, where the command line sets them. */
  overrides: ThreadOverrides;
  prompt: string | null;
  images: string[];
  /** Trusts hooks as they are now; null where the server is on another machine. Throws an error that says why not. */
  trustHooks: ((keys: string[]) => Promise<void>) | null;
  signal: AbortSignal;
}

export type Start =
  | { kind: "new" }
  /** The newest of the directory or of all of them; a thread by id or name; or chosen from a list. */
  | { kind: "resume" | "fork"; which: "pick" | "newest" | { id: string }; isEverywhere: boolean };

export interface Settings {
  model: string;
  effort: string | null;
  cwd: string;
  sandbox: SandboxPolicy;
  approval: AskForApproval;
}

/** A message on its way. It is shown until the server has it in the thread. */
export interface Outgoing {
  clientId: string;
  input: UserInput[];
  text: string;
  how: "start" | "steer" | "queue";
}

/** Something that takes the keys before the message does. */
export interface Overlay {
  /** A card stands in the place of the message, a list above it. */
  kind: "card" | "list";
  /** The question of the server that it is about. */
  question?: string | number | undefined;
  rows(columns: number, maxRows: number): Line[];
  /** In the rows as they were made last; without it, the cursor is at what is selected. */
  cursor?: { row: number; column: number };
  /** False where the key is for the message. */
  input(input: Input): boolean;
}

export type TurnChange = Pick<ParamsOf<"turn/start">, "model" | "approvalPolicy" | "sandboxPolicy">;

export interface AppState {
  threadId: string;
  threadName: string | null;
  settings: Settings;
  transcript: Transcript;
  turnId: string | null;
  turnStartedMs: number;
  usage: NoticeOf<"thread/tokenUsage/updated">["tokenUsage"] | null;
  buffer: Buffer;
  images: string[];
  outgoing: Outgoing[];
  /** The first has the keys. */
  overlays: Overlay[];
  /** A line that the next key removes. */
  flash: string;
  /** Why the server cannot be reached. */
  lost: string | null;
  theme: ThemeName;
  /** Keys as in vi, where the user wants them. */
  vim: VimState | null;
  /** For the next turn and those after it. */
  change: TurnChange;
}

export interface App {
  options: TuiOptions;
  state: AppState;
  client: Client;
  history: History;
  /** Draws the next frame soon, or at once for a key. */
  redraw(): void;
  quit(): void;
  /** Gives the terminal to another program meanwhile. */
  lend<T>(use: () => T): T;
  /** Rings, and tells terminals that show notifications. */
  notify(text: string): void;
  /** Puts a text on the clipboard of the terminal; false where it is too long for one. */
  copy(text: string): boolean;
}

/** Of programs that this one starts. */
export const programVariables = ({ options: { variables, programVariables } }: App): NodeJS.ProcessEnv =>
  programVariables(variables);

/** Their own: interpreters and editors load files of the directory they start in, and agents write the workspace. */
export const programDirectory = "/";

export const flash = (app: App, text: string): void => {
  app.state.flash = text;
  app.redraw();
};

export const close = (app: App, overlay: Overlay): void => {
  app.state.overlays = app.state.overlays.filter((each) => each !== overlay);
  app.redraw();
};
