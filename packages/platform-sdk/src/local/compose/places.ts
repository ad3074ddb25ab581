// Where a local run acts: this machine as it is, or a sandbox around the agent's directories.
import type { SandboxMode, SandboxReport } from "@agentcli/protocol";
import {
  type BackEnd,
  describeSandbox,
  environmentPolicy,
  hiddenByDefault,
  type LazyWorkspace,
  lazyWorkspace,
  openWorkspace,
  probeSandbox,
  type SandboxPolicy,
  type SandboxProbe,
  sandboxPolicy,
  toolEnvironment,
} from "@agentcli/workspace";
import { ConfigurationError } from "../../errors.ts";
import type { Machine } from "../machine.ts";
import { userSkills } from "./context.ts";

export interface PlacesRequest {
  /** Of the run itself. */
  mode: SandboxMode;
  cwd: string;
  dirs: string[];
  machine: Machine;
  /** Values that commands have no business with. */
  secrets: string[];
}

export interface Places {
  main: LazyWorkspace;
  report: SandboxReport;
  writableRoots: string[];
  /** Opened once per mode. */
  narrowed(mode: SandboxMode): Promise<LazyWorkspace>;
  /** Apart from where tools act. */
  forServers(mode: SandboxMode): Promise<LazyWorkspace>;
  /** Nothing that was started in them is left. */
  close(): Promise<void>;
}

export async function openPlaces(request: PlacesRequest): Promise<Places> {
  const opened = new Map<string, Promise<LazyWorkspace>>();
  const open = (name: string, mode: SandboxMode) => {
    const place = opened.get(name) ?? openPlace(policyOf(mode, request), request);
    opened.set(name, place);
    return place;
  };
  const policy = policyOf(request.mode, request);
  const probe = await chooseSandbox(policy, request.machine);
  const main = await open(request.mode, request.mode);
  return {
    main,
    report: describeSandbox(policy, probe),
    writableRoots: [policy.root, ...policy.writableRoots],
    narrowed: (mode) => open(mode, mode),
    forServers: (mode) => open(`servers ${mode}`, mode),
    async close() {
      await Promise.all([...opened.values()].map(async (place) => (await place).close()));
    },
  };
}

/** Refuses where the sandbox cannot be had; never goes on without. */
export async function chooseSandbox(
  { mode, root, writableRoots }: Pick<SandboxPolicy, "mode" | "root" | "writableRoots">,
  machine: Machine,
): Promise<SandboxProbe> {
  if (mode === "danger-full-access") return { kind: "unavailable", reason: "not used", remedy: "" };
  const probe = await knownProbe([root, ...writableRoots], machine);
  if (probe.kind === "unavailable") throw unavailable(mode, `${probe.reason} ${probe.remedy}`);
  const [shortfall] = probe.shortfalls;
  if (probe.backEnd.kind === "landlock" && mode === "workspace-write")
    throw unavailable(mode, `Only Landlock works here, which cannot protect .git. ${shortfall?.remedy ?? ""}`);
  return probe;
}

/** Only a success is remembered: whoever has just installed what was missing wants to go on at once. */
async function knownProbe(untrusted: string[], { variables, serverProgram, probes }: Machine): Promise<SandboxProbe> {
  const key = JSON.stringify(untrusted);
  const probing = probes.get(key) ?? probeSandbox({ path: variables.PATH ?? "", untrusted, serverProgram });
  probes.set(key, probing);
  const probe = await probing;
  if (probe.kind === "unavailable") probes.delete(key);
  return probe;
}

const unavailable = (mode: SandboxMode, why: string): ConfigurationError =>
  new ConfigurationError(`The ${mode} sandbox is not available here. ${why}`.trim(), {
    code: "sandbox_unavailable",
    operation: "agent.send",
  });

export function policyOf(mode: SandboxMode, { cwd, dirs, machine }: PlacesRequest): SandboxPolicy {
  const { userHome, settingsHome, sdkHome } = machine;
  return sandboxPolicy({
    mode,
    root: cwd,
    writableRoots: mode === "workspace-write" ? dirs : [],
    hidden: [settingsHome, ...hiddenByDefault(userHome, sdkHome)],
    shown: userSkills(machine).map(({ path }) => path),
  });
}

async function openPlace(policy: SandboxPolicy, { machine, secrets }: PlacesRequest): Promise<LazyWorkspace> {
  const probe = await chooseSandbox(policy, machine);
  const environment = environmentPolicy({ never: ["PLATFORM_API_KEY"] });
  const env = toolEnvironment(machine.variables, { home: machine.userHome, policy: environment, secrets });
  return lazyWorkspace({
    root: policy.root,
    newIncarnation: machine.newId,
    open: (incarnation) =>
      openWorkspace(policy, {
        serverProgram: machine.serverProgram,
        ...backEndOf(probe),
        env,
        environmentPolicy: environment,
        incarnation,
        warmLoginShell: machine.shell,
        limits: { memoryBytes: null, processes: policy.mode === "danger-full-access" ? null : 4096 },
      }),
  });
}

const backEndOf = (probe: SandboxProbe): { backEnd?: BackEnd } =>
  probe.kind === "available" ? { backEnd: probe.backEnd } : {};
