// Before the first thread of a directory: whether its configuration and its hooks may be used, with what is in them.
import type { HookMetadata, ResultOf } from "@agentcli/protocol/app-server";
import type { Client } from "../client/index.ts";
import { codeRows, type Line, span, visible, wrapLine } from "../text/index.ts";
import type { Choose } from "./pick.ts";
import type { TuiOptions } from "./state.ts";

export async function askTrust(client: Client, options: TuiOptions, choose: Choose): Promise<void> {
  await askProject(client, options, choose);
  if (options.trustHooks) await askHooks(client, options, { choose, trust: options.trustHooks });
}

type Configuration = ResultOf<"config/read">;

async function askProject(client: Client, options: TuiOptions, choose: Choose): Promise<void> {
  const read = await client.request("config/read", { cwd: options.overrides.cwd ?? null, includeLayers: true });
  const asked = untrusted(read);
  if (!asked) return;
  const { root, files } = asked;
  const contents = await Promise.all(files.map((path) => client.request("fs/readFile", { path }).catch(() => null)));
  const answer = await choose<"trusted" | "untrusted">({
    title: `Use the configuration of ${visible(root)}?`,
    body: (columns) => [
      ...explanation("This project has a configuration. It can choose commands that run on your machine.", columns),
      ...files.flatMap((path, index) => [
        [span(visible(path), { bold: true })],
        ...codeRows(textOf(contents[index]?.dataBase64), "toml", columns),
      ]),
      [],
    ],
    entries: [
      { label: "No", detail: "work without it, and do not ask again", value: "untrusted" },
      { label: "Yes", detail: "trust this project from now on", value: "trusted" },
    ],
  });
  if (answer === null) return;
  const keyPath = `projects.${JSON.stringify(root)}.trust_level`;
  await client.request("config/value/write", { keyPath, value: answer, mergeStrategy: "replace" });
}

interface Untrusted {
  root: string;
  files: string[];
}

/** Null where there is nothing to decide, or the user has decided. */
function untrusted({ layers, config }: Configuration): Untrusted | null {
  const left = (layers ?? []).filter(({ name, disabledReason }) => name.type === "project" && disabledReason);
  const root = /agentcli trust (.+)$/.exec(left[0]?.disabledReason ?? "")?.[1];
  const decided = config.projects as Record<string, { trust_level?: string }> | undefined;
  if (root === undefined || decided?.[root]?.trust_level) return null;
  const files = left.flatMap(({ name }) => (name.type === "project" ? [`${name.dotAgentcliFolder}/config.toml`] : []));
  return { root, files };
}

const maxLines = 200;
const textOf = (base64 = ""): string[] =>
  visible(Buffer.from(base64, "base64").toString("utf8")).trimEnd().split("\n").slice(0, maxLines);

interface HookQuestion {
  choose: Choose;
  trust: NonNullable<TuiOptions["trustHooks"]>;
}

async function askHooks(client: Client, options: TuiOptions, { choose, trust }: HookQuestion): Promise<void> {
  const { data } = await client.request("hooks/list", { cwds: options.overrides.cwd ? [options.overrides.cwd] : null });
  const hooks = data
    .flatMap((each) => each.hooks)
    .filter(({ enabled, trustStatus }) => enabled && (trustStatus === "untrusted" || trustStatus === "modified"));
  if (hooks.length === 0) return;
  const isTrusted = await choose<boolean>({
    title: "Let these hooks run?",
    body: (columns) => [
      ...explanation("Hooks are programs that run on your machine, without a sandbox.", columns),
      ...hooks.flatMap((hook) => hookRows(hook, columns)),
      [],
    ],
    entries: [
      { label: "No", detail: "work without them this time", value: false },
      { label: "Yes", detail: "trust them as they are now; a change is asked for again", value: true },
    ],
  });
  if (!isTrusted) return;
  try {
    await trust(hooks.map(({ key }) => key));
  } catch (error) {
    await choose({
      title: visible((error as Error).message),
      entries: [{ label: "Continue without them", value: false }],
    });
  }
}

function hookRows({ eventName, matcher, command, sourcePath, trustStatus }: HookMetadata, columns: number): Line[] {
  const change = trustStatus === "modified" ? " (changed since it was trusted)" : "";
  const head = `${eventName}${matcher ? ` ${matcher}` : ""}${change}, in ${sourcePath}`;
  return [
    ...wrapLine([span(visible(head), { bold: true })], { columns }),
    ...codeRows(visible(command ?? "(no command)").split("\n"), "sh", columns),
  ];
}

const explanation = (text: string, columns: number): Line[] => [...wrapLine([span(text)], { columns }), []];
