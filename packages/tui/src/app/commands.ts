// Commands that begin with a slash.
import { resolve } from "node:path";
import { writeOutputFile } from "@agentcli/command-line/output-file";
import { initPrompt } from "../client/index.ts";
import { insert } from "../composer/index.ts";
import { type Line, markdown, span, type ThemeName, themeNames, visible } from "../text/index.ts";
import { note } from "../transcript/index.ts";
import { exported } from "./export.ts";
import { type Entry, openPicker } from "./picker.ts";
import { readText } from "./reader.ts";
import { type App, flash, type TurnChange } from "./state.ts";
import { attempt, editEarlier, fork, pickThread } from "./switch.ts";
import { submit } from "./turns.ts";
import { shortNumber } from "./view.ts";

export interface SlashCommand {
  name: string;
  summary: string;
  run(app: App, argument: string): void | Promise<void>;
}

export const slashCommands: SlashCommand[] = [
  { name: "model", summary: "choose the model", run: (app) => attempt(app, () => chooseModel(app)) },
  { name: "approvals", summary: "whether the agent may ask for more permissions", run: chooseApprovals },
  { name: "sandbox", summary: "what commands may touch", run: chooseSandbox },
  { name: "diff", summary: "read the uncommitted changes", run: (app) => attempt(app, () => readDiff(app)) },
  { name: "status", summary: "show thread, model and permissions", run: showStatus },
  { name: "compact", summary: "summarise the history", run: (app) => attempt(app, () => compact(app)) },
  { name: "resume", summary: "continue another thread", run: pickThread },
  { name: "fork", summary: "go on in a copy of this thread", run: fork },
  { name: "edit", summary: "edit an earlier message in a fork (also Esc Esc)", run: editEarlier },
  {
    name: "review",
    summary: "review uncommitted changes, or against a branch",
    run: (app, branch) => attempt(app, () => review(app, branch)),
  },
  { name: "skills", summary: "insert a skill", run: (app) => attempt(app, () => chooseSkill(app)) },
  { name: "agents", summary: "list threads that are loaded", run: (app) => attempt(app, () => listAgents(app)) },
  { name: "hooks", summary: "list hooks and their trust", run: (app) => attempt(app, () => listHooks(app)) },
  { name: "mcp", summary: "list MCP servers and tools", run: (app) => attempt(app, () => listServers(app)) },
  { name: "init", summary: "let the agent write AGENTS.md", run: (app) => submit(app, initPrompt, "send") },
  { name: "cost", summary: "show the tokens that were used", run: showCost },
  {
    name: "export",
    summary: "write the thread to a file: FILE.md or FILE.html",
    run: (app, file) => attempt(app, () => exportThread(app, file)),
  },
  { name: "copy", summary: "put the last answer on the clipboard", run: copyAnswer },
  { name: "vim", summary: "keys as in vi, on or off", run: toggleVim },
  { name: "theme", summary: "choose the colours", run: chooseTheme },
  { name: "help", summary: "show commands and keys", run: showHelp },
  { name: "quit", summary: "quit", run: (app) => app.quit() },
];

/** False where the text is a message. */
export function runSlash(app: App, text: string): boolean {
  const [, name, argument = ""] = /^\/([\w-]+)(?:\s+([\s\S]*))?$/.exec(text) ?? [];
  const command = slashCommands.find((each) => each.name === name);
  if (name === undefined || (!command && argument !== "")) return false;
  if (command) void command.run(app, argument.trim());
  else flash(app, `There is no command /${name}. /help lists them.`);
  return true;
}

const print = (app: App, text: string): void => {
  app.state.transcript.print((columns) =>
    markdown(visible(text), columns - 2).map((row): Line => [span("  "), ...row]),
  );
  app.redraw();
};

/** For the next turn and those after it. */
function change(app: App, wanted: TurnChange, settings: Partial<App["state"]["settings"]>): void {
  Object.assign(app.state.change, wanted);
  Object.assign(app.state.settings, settings);
  flash(app, app.state.turnId === null ? "Changed." : "Changed from the next turn on.");
}

async function chooseModel(app: App): Promise<void> {
  const { data } = await app.client.request("model/list", {});
  openPicker(app, {
    title: "Model",
    entries: data.map(({ model, description }) => ({ label: model, detail: description, value: model })),
    choose: (model) => change(app, { model }, { model }),
    dismiss: () => {},
  });
}

function chooseApprovals(app: App): void {
  const entries: Entry<"on-request" | "never">[] = [
    { label: "on-request", detail: "the agent asks before it leaves the sandbox", value: "on-request" },
    { label: "never", detail: "the agent never asks; what the sandbox refuses fails", value: "never" },
  ];
  openPicker(app, {
    title: "Approvals",
    entries,
    choose: (approval) => change(app, { approvalPolicy: approval }, { approval }),
    dismiss: () => {},
  });
}

function chooseSandbox(app: App): void {
  const entries: Entry<NonNullable<TurnChange["sandboxPolicy"]>>[] = [
    { label: "read-only", detail: "commands write nothing", value: { type: "readOnly" } },
    { label: "workspace-write", detail: "commands write in this directory", value: { type: "workspaceWrite" } },
    { label: "danger-full-access", detail: "no sandbox at all", value: { type: "dangerFullAccess" } },
  ];
  openPicker(app, {
    title: "Sandbox",
    entries,
    choose: (sandbox) => change(app, { sandboxPolicy: sandbox }, { sandbox }),
    dismiss: () => {},
  });
}

function chooseTheme(app: App): void {
  openPicker<ThemeName>(app, {
    title: "Colours",
    entries: themeNames.map((value) => ({
      label: value,
      detail: value === "terminal" ? "the palette of the terminal" : `for a ${value} background`,
      value,
    })),
    choose(theme) {
      app.state.theme = theme;
    },
    dismiss: () => {},
  });
}

function copyAnswer(app: App) {
  const last = app.state.transcript.readable().findLast(({ title }) => title === "Message");
  if (!last) return flash(app, "There is no answer to copy yet.");
  flash(
    app,
    app.copy(last.text) ? "Copied the last answer." : "The answer is too long for the clipboard: Ctrl-O reads it.",
  );
}

function toggleVim(app: App): void {
  app.state.vim = app.state.vim ? null : { mode: "insert", pending: "" };
  flash(app, app.state.vim ? "Keys as in vi: Escape leaves the text, i goes back to it." : "Keys as before.");
}

async function readDiff(app: App): Promise<void> {
  const { cwd } = app.state.settings;
  const command = ["git", "-c", "core.pager=cat", "diff", "--no-ext-diff", "--no-color", "HEAD"];
  const { exitCode, stdout, stderr } = await app.client.request("command/exec", {
    command,
    cwd,
    sandboxPolicy: { type: "readOnly" },
  });
  if (exitCode !== 0) return flash(app, stderr.trim().split("\n")[0] ?? "git failed");
  if (stdout.trim() === "") return flash(app, "There are no uncommitted changes of tracked files.");
  readText(app, stdout);
}

function showStatus(app: App): void {
  const { threadId, threadName, settings } = app.state;
  const { model, effort, cwd, sandbox, approval } = settings;
  const facts = [
    ["thread", `${threadId}${threadName ? ` (${threadName})` : ""}`],
    ["model", `${model}${effort ? `, effort ${effort}` : ""}`],
    ["directory", cwd],
    ["sandbox", sandbox.type],
    ["approvals", typeof approval === "string" ? approval : "granular"],
  ];
  print(app, facts.map(([name, value]) => `- **${name}**: \`${value}\``).join("\n"));
}

function showCost(app: App) {
  const { usage } = app.state;
  if (!usage) return flash(app, "No tokens were used in this thread since it was opened.");
  const { inputTokens, cachedInputTokens, outputTokens, reasoningOutputTokens } = usage.total;
  print(
    app,
    `Tokens: ${shortNumber(inputTokens)} in (${shortNumber(cachedInputTokens)} cached), ${shortNumber(outputTokens)} out (${shortNumber(reasoningOutputTokens)} reasoning). Prices: \`agentcli cost\`.`,
  );
}

async function compact(app: App): Promise<void> {
  await app.client.request("thread/compact/start", { threadId: app.state.threadId });
}

async function review(app: App, branch: string): Promise<void> {
  const target = branch === "" ? ({ type: "uncommittedChanges" } as const) : ({ type: "baseBranch", branch } as const);
  await app.client.request("review/start", { threadId: app.state.threadId, target, delivery: "inline" });
}

async function chooseSkill(app: App): Promise<void> {
  const { data } = await app.client.request("skills/list", { cwds: [app.state.settings.cwd] });
  const skills = data.flatMap((each) => each.skills).filter(({ enabled }) => enabled);
  if (skills.length === 0) return flash(app, "There are no skills here. docs/skills.md shows how to write one.");
  openPicker(app, {
    title: "Skill",
    entries: skills.map(({ name, description }) => ({ label: name, detail: description, value: name })),
    choose(name) {
      app.state.buffer = insert(app.state.buffer, `$${name} `);
    },
    dismiss: () => {},
  });
}

async function listAgents(app: App): Promise<void> {
  const { data: loaded } = await app.client.request("thread/loaded/list", {});
  const threads = await Promise.all(loaded.map((threadId) => app.client.request("thread/read", { threadId })));
  print(
    app,
    threads
      .map(({ thread }) => `- \`${thread.id}\` ${thread.status.type}: ${thread.name ?? thread.preview.split("\n")[0]}`)
      .join("\n") || "No threads are loaded.",
  );
}

async function listHooks(app: App): Promise<void> {
  const { data } = await app.client.request("hooks/list", { cwds: [app.state.settings.cwd] });
  const hooks = data.flatMap((each) => each.hooks);
  print(
    app,
    hooks.map((hook) => `- **${hook.eventName}** ${hook.trustStatus}: \`${hook.command ?? hook.key}\``).join("\n") ||
      "There are no hooks here.",
  );
}

async function listServers(app: App): Promise<void> {
  const { data } = await app.client.request("mcpServerStatus/list", {
    threadId: app.state.threadId,
    detail: "toolsAndAuthOnly",
  });
  print(
    app,
    data
      .map(
        ({ name, runtimeStatus, tools }) =>
          `- **${name}** ${runtimeStatus ?? ""}: ${Object.keys(tools).join(", ") || "no tools"}`,
      )
      .join("\n") || "There are no MCP servers. Add one: `agentcli mcp add`.",
  );
}

async function exportThread(app: App, file: string): Promise<void> {
  const { threadId } = app.state;
  const { thread } = await app.client.request("thread/read", { threadId, includeTurns: true });
  const path = resolve(file || `agentcli-${threadId.slice(0, 8)}.md`);
  const text = exported(thread, path.endsWith(".html") ? "html" : "markdown");
  writeOutputFile({ path, mode: 0o600, programs: app.options.programs }, text);
  app.state.transcript.print(note("↧", `Written to ${path}`));
  app.redraw();
}

function showHelp(app: App): void {
  const commands = slashCommands.map(({ name, summary }) => `| /${name} | ${summary} |`).join("\n");
  print(app, `| command | |\n| --- | --- |\n${commands}\n\n${keys}`);
}

const keys = `| key | |
| --- | --- |
| Enter, Tab | send (steers a running turn), queue for the next turn |
| Ctrl-J, Alt-Enter | new line |
| Esc, Esc Esc | interrupt, edit an earlier message |
| Alt-Up | take back a queued message |
| Up, Down, Ctrl-R | earlier messages, search in them |
| @ $ / | files, skills, commands |
| Ctrl-O, Ctrl-G | read all of a text, write in an editor |
| Ctrl-C twice | quit |`;
