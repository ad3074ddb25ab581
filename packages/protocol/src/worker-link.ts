// Between a worker and the platform: how a worker registers, and what the platform asks of it. Unknown members are ignored.
import { z } from "zod";
import { unprintable, unprintableProblem } from "./names.ts";
import { SandboxMode } from "./settings.ts";
import { workerHealths } from "./worker-link-names.ts";

export { alreadyUsed, identityRequest, linkVersion, workerPath } from "./worker-link-names.ts";

/** Shown to people in lists. */
const printable = (max: number) =>
  z
    .string()
    .max(max)
    .refine((text) => !unprintable.test(text), unprintableProblem);

export const WorkerLabels = z.record(printable(100).min(1), z.union([printable(500), z.array(printable(500)).max(50)]));
export type WorkerLabels = z.infer<typeof WorkerLabels>;

/** The name of a pool or of a machine. */
export const WorkerName = printable(255).min(1);

/** What the operator of a worker lets the platform send there beside the files of agents; absent: not that. */
export const WorkerReceives = z.object({
  secrets: z.boolean().optional().describe("Of the dashboard: those of the team, the user and the environment"),
  githubToken: z.boolean().optional().describe("Limited to the first repository of the agent, for an hour at most"),
  clones: z
    .boolean()
    .optional()
    .describe("Where to clone the repositories of agents from, which the worker does itself"),
});
export type WorkerReceives = z.infer<typeof WorkerReceives>;

export const RegisterRequest = z.object({
  linkVersion: z.int().positive(),
  version: printable(100).describe("Of the worker program"),
  workerId: z.string().regex(/^[\w.-]{1,128}$/),
  session: z.string().min(1).max(128).describe("Of this process of the worker: commands do not outlive it"),
  name: WorkerName,
  pool: WorkerName.optional().describe("Absent: the personal machine of a user"),
  labels: WorkerLabels,
  workspaceRootPath: z.string().max(4_096),
  repoUrl: z.string().max(2_000).optional(),
  receives: WorkerReceives.optional(),
});
export type RegisterRequest = z.infer<typeof RegisterRequest>;

export const RegisterReply = z.object({
  linkVersion: z.int().positive(),
  workerId: z.string(),
  silenceSeconds: z.number().positive().max(3_600).optional().describe("Nothing came for this long: it has ended"),
  offers: z.array(z.string()).optional().describe("What a worker may ask of this platform that older ones do not know"),
});
export type RegisterReply = z.infer<typeof RegisterReply>;

/** Of the machine of a worker; it says so when that changes. */
export const WorkerHealth = z.enum(workerHealths);
export type WorkerHealth = z.infer<typeof WorkerHealth>;

/** The directory of an agent, as the platform names it. */
const agent = z.string().regex(/^bc-[0-9a-f-]{36}$/i);
/** Relative to the directory of the agent. */
const below = z
  .string()
  .max(4_096)
  .regex(/^(?!\/)(?!.*(?:^|\/)\.\.(?:\/|$))/);
const limit = z.number().positive().nullable();

export const SandboxRequest = z.object({
  agent,
  key: z.string().max(100).describe("Which of the agent's sandboxes; the same key finds it again"),
  mode: SandboxMode.exclude(["danger-full-access"]),
  root: below,
  writable: z.array(below).max(100),
});
export type SandboxRequest = z.infer<typeof SandboxRequest>;

export const OpenRequest = SandboxRequest.extend({
  incarnation: z.string().min(1).max(128),
  variables: z.record(z.string(), z.string()),
  limits: z.object({
    memoryBytes: limit,
    processes: limit,
    fileBytes: limit,
    temporaryBytes: limit,
  }),
});
export type OpenRequest = z.infer<typeof OpenRequest>;

/** A repository that the worker clones for an agent that begins; it is then a directory of the agent with this name. */
export const ClonedRepository = z.object({
  name: z
    .string()
    .max(255)
    .regex(/^(?!\.{1,2}$|\.home$|\.artifacts$|\.draft-)[^/\0]+$/),
  url: z.url({ protocol: /^https?$/ }).max(2_000),
  branch: z.string().min(1).max(500).describe("Which is made at the commit"),
  commit: z.string().regex(/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/),
  token: z
    .string()
    .regex(/^[!-~]{1,1000}$/)
    .optional()
    .describe("Reads this repository alone, for an hour at most"),
});
export type ClonedRepository = z.infer<typeof ClonedRepository>;

/** A command of the project, for when the agent releases the worker. */
export const SessionHook = z.object({
  argv: z.array(z.string().max(100_000)).min(1).max(10),
  cwd: z.string().max(4_096),
  env: z.record(z.string(), z.string()),
  timeoutMs: z.int().positive(),
  input: z.record(z.string(), z.unknown()).describe("Given to it as JSON, with the duration of the session"),
});
export type SessionHook = z.infer<typeof SessionHook>;

/** A sandbox that was opened. */
const which = { agent, key: z.string().max(100), incarnation: z.string().max(128) };

/** A worker asks for a token that says which agent it serves. */
export const IdentityRequest = z.object({
  agent,
  aud: z.string().regex(/^[ -~]{1,512}$/),
  nonce: z.string().max(512).optional(),
  subClaim: z.literal("team_id").optional(),
});
export type IdentityRequest = z.infer<typeof IdentityRequest>;
export const IdentityAnswer = z.object({ token: z.string(), expiresAt: z.string() });
export type IdentityAnswer = z.infer<typeof IdentityAnswer>;

/** What the platform can ask of a worker. */
export const workerRequests = {
  /** The worker serves this run of the agent; what an earlier run left running ends. */
  "agent.claim": z.object({ agent, runId: z.string().max(128) }),
  /** The agent needs the worker no more, unless a later run has claimed it meanwhile; without `runId`, whatever has. */
  "agent.release": z.object({ agent, runId: z.string().max(128).optional() }),
  /** Kept until the release, in place of those from before. */
  "session.hooks": OpenRequest.pick({ agent: true, root: true, writable: true, variables: true, limits: true }).extend({
    hooks: z.array(SessionHook).max(100),
  }),
  /** Beside the files of the agent; the answer names those that were cloned, and says why others were not. */
  "repos.clone": z.object({ agent, repositories: z.array(ClonedRepository).min(1).max(100) }),
  "sync.state": z.object({ agent }),
  /** Changes follow; they are made in these clones, which become files of the agent. */
  "sync.apply": z.object({
    agent,
    id: z.string().max(128),
    isWhole: z.boolean(),
    clones: z.array(ClonedRepository.shape.name).max(100).optional(),
  }),
  /** Artifacts that are large enough to be uploaded. */
  "artifacts.list": z.object({ agent }),
  /** To the object store, each sealed with a key of its own; the answer names those that have arrived. */
  "artifacts.upload": z.object({
    agent,
    files: z.array(z.object({ path: below, url: z.url().max(8_000), key: z.base64().length(44) })).max(1_000),
  }),
  /** Changes are in the answer, but for the files that were uploaded. */
  "sync.collect": z.object({ agent, without: z.array(below).max(1_000).optional() }),
  /** All files are in the answer: another server has begun the run. */
  "sync.collectAll": z.object({ agent }),
  "sync.commit": z.object({ agent, id: z.string().max(128) }),
  "sandbox.describe": SandboxRequest,
  /** Frames of the workspace operations follow the answer. */
  "sandbox.open": OpenRequest,
  /** Bytes of a connection to a port of its loopback follow the answer. */
  "sandbox.dial": z.object({ ...which, port: z.int().min(1).max(65_535) }),
  "sandbox.close": z.object(which),
} as const;
export type WorkerRequestName = keyof typeof workerRequests;
export type WorkerRequest<Name extends WorkerRequestName> = z.infer<(typeof workerRequests)[Name]>;
