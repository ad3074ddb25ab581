// skills/* and hooks/list: what a run in a directory would load, and the errors.
import { join } from "node:path";
import { describeProblem, type Skill, type SkillSwitch, skillRoots, valueAt } from "@agentcli/project";
import { fileVersion, writeConfig } from "@agentcli/project/config-write";
import { isEnabled, readSkills } from "@agentcli/project/skills";
import type { HookMetadata, ParamsOf, SkillMetadata } from "@agentcli/protocol/app-server";
import { type Host, invalidParams, invalidRequest, type OpenPart } from "../method.ts";
import type { Configured, ListedHook } from "../program.ts";
import { refusing } from "../refusing.ts";
import { absolute } from "./paths.ts";

export const openSkillsAndHooks: OpenPart = (host) => ({
  methods: {
    "skills/list": async ({ cwds }) => ({ data: await inEach(cwds, host, skillsIn, noSkills) }),
    "skills/config/write": (params, _, call) =>
      refusing(async () => {
        await switchSkill(params, host);
        call.afterwards(() => host.broadcast("skills/changed", {}));
        return { effectiveEnabled: await isOn(params, host) };
      }),
    "hooks/list": async ({ cwds }) => ({ data: await inEach(cwds, host, hooksOf, noHooks) }),
  },
  close: async () => {},
});

/** An error in one directory is reported there and does not affect the others. */
async function inEach<Found>(
  cwds: string[] | null | undefined,
  host: Host,
  find: (configured: Configured, host: Host) => Found,
  none: Found & { errors: { path: string; message: string }[] },
) {
  const wanted = cwds && cwds.length > 0 ? cwds : [host.program.environment.cwd];
  return Promise.all(
    wanted.map(async (cwd) => {
      try {
        return { cwd, ...(await refusing(async () => find(await host.agent.configuration.load(cwd ?? null), host))) };
      } catch (error) {
        return { cwd, ...none, errors: [{ path: cwd, message: (error as Error).message }] };
      }
    }),
  );
}

const noSkills = { skills: [], errors: [] };
const noHooks = { hooks: [], warnings: [], errors: [] };

function skillsIn({ cwd, loaded }: Configured, { program }: Host) {
  const { userHome, agentHome } = program.environment;
  const otherTools = loaded.config.compatible_folders === false ? "ignored" : "read";
  const roots = skillRoots({ root: loaded.project.root, cwd, userHome, agentHome, otherTools });
  const { skills, problems } = readSkills(roots, loaded.config.skills?.config);
  const errors = problems.filter(({ severity }) => severity === "error");
  return {
    skills: skills.map(skillMetadata),
    errors: errors.map((problem) => ({ path: problem.path, message: describeProblem(problem) })),
  };
}

const scopes = { admin: "admin", repository: "repo", user: "user" } as const;

const skillMetadata = (skill: Skill): SkillMetadata => ({
  name: skill.name,
  description: skill.description,
  shortDescription: skill.shortDescription,
  path: skill.path,
  scope: scopes[skill.scope],
  enabled: skill.enabled,
});

type Switched = ParamsOf<"skills/config/write">;

/** One entry for each skill that was ever switched, the latest last. */
async function switchSkill(params: Switched, host: Host): Promise<void> {
  const selector = selectorOf(params);
  const path = join(host.program.environment.agentHome, "config.toml");
  const expectedVersion = fileVersion(path);
  const { layers, requirements } = (await host.agent.configuration.load(null)).loaded;
  const own = layers.find(({ origin }) => origin.kind === "user");
  const listed = own?.state === "enabled" ? valueAt(own.table, ["skills", "config"]) : undefined;
  const others = ((listed ?? []) as SkillSwitch[]).filter(
    ({ path: file, name }) => file !== selector.path || name !== selector.name,
  );
  const value = [...others, { ...selector, enabled: params.enabled }];
  const edits = [{ key: "skills.config", value, merge: "replace" } as const];
  const written = await writeConfig({ path, edits, expectedVersion, requirements });
  if (written.kind === "refused") throw invalidRequest(written.message);
}

function selectorOf({ path, name }: Switched): { path?: string; name?: string } {
  if (path && !name) return { path: absolute(path) };
  if (name && !path) return { name };
  throw invalidParams("Say which skill: give its path or its name, one of them.");
}

async function isOn(params: Switched, host: Host): Promise<boolean> {
  const { path = "", name = "" } = selectorOf(params);
  const { config } = (await host.agent.configuration.load(null)).loaded;
  return isEnabled({ path, name }, config.skills?.config ?? []);
}

function hooksOf(configured: Configured, { agent }: Host) {
  const { hooks, warnings } = agent.configuration.hooks(configured);
  return { hooks: hooks.map(hookMetadata), warnings, errors: [] };
}

function hookMetadata({ definition, status, enabled }: ListedHook, displayOrder: number): HookMetadata {
  const { event, source, timeoutMs } = definition;
  const isManaged = source.kind === "managed";
  return {
    key: definition.key,
    eventName: `${event.charAt(0).toLowerCase()}${event.slice(1)}`,
    handlerType: definition.type === "mcp_tool" ? "mcpTool" : (definition.type ?? "command"),
    command: "command" in definition ? definition.command : null,
    matcher: definition.matcher,
    timeoutSec: Math.ceil(timeoutMs / 1000),
    statusMessage: definition.statusMessage ?? null,
    sourcePath: source.path,
    source: source.path === "-c" ? "sessionFlags" : isManaged ? "system" : source.kind === "user" ? "user" : "project",
    displayOrder,
    enabled,
    isManaged,
    currentHash: definition.hash,
    trustStatus: status,
  };
}
