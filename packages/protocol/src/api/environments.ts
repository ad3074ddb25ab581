// Environments: how the machines of agents are prepared, and the builds of them.
import { z } from "zod";
import { maxEnvironmentBytes } from "../environment-file-names.ts";
import { unprintable, unprintableProblem } from "../names.ts";
import { buildStatuses } from "../outcomes.ts";
import { bytes, PageQuery, pageOf, Timestamp } from "./common.ts";

export const EnvironmentOwner = z.enum(["personal", "team"]);
export type EnvironmentOwner = z.infer<typeof EnvironmentOwner>;

const EnvironmentRepository = z.strictObject({ url: z.string().min(1).max(2000) });

const EnvironmentName = z
  .string()
  .min(1)
  .max(255)
  .refine((name) => !unprintable.test(name), unprintableProblem);

const EnvironmentJson = bytes(maxEnvironmentBytes, 1).describe("The text of an environment.json");

const BuildIntervalHours = z
  .int()
  .min(0)
  .max(8760)
  .describe("Hours between recurring builds; 0: only after a change or when requested");

const UpdateStaleBuilds = z
  .boolean()
  .describe("Whether agents begin with the newest commit of the default branch once the build is too old");
const StalenessHours = z.int().min(0).max(8760).describe("The age at which a build is too old; 0: always");

export const CreateEnvironment = z.strictObject({
  owner: EnvironmentOwner,
  name: EnvironmentName,
  repos: z.array(EnvironmentRepository).max(100),
  environmentJson: EnvironmentJson,
  buildIntervalHours: BuildIntervalHours.optional(),
  updateStaleBuilds: UpdateStaleBuilds.optional(),
  stalenessThresholdHours: StalenessHours.optional(),
});
export type CreateEnvironment = z.infer<typeof CreateEnvironment>;

/** Members that are left out stay as they are. */
export const ChangeEnvironment = z.strictObject({
  name: EnvironmentName.optional(),
  environmentJson: EnvironmentJson.optional(),
  buildIntervalHours: BuildIntervalHours.optional(),
  updateStaleBuilds: UpdateStaleBuilds.optional(),
  stalenessThresholdHours: StalenessHours.optional(),
});
export type ChangeEnvironment = z.infer<typeof ChangeEnvironment>;

export const Environment = z.object({
  id: z.string(),
  name: z.string(),
  owner: EnvironmentOwner,
  repos: z.array(EnvironmentRepository),
  createdAt: Timestamp,
  updatedAt: Timestamp,
});
export type Environment = z.infer<typeof Environment>;
export const EnvironmentPage = pageOf(Environment);

export const EnvironmentDetail = Environment.extend({
  repoFile: z
    .object({ url: z.string(), path: z.string() })
    .optional()
    .describe("A file of a repository that wins over environmentJson"),
  environmentJson: z.string().optional(),
  versionId: z.string().optional(),
  buildIntervalHours: z.int(),
  updateStaleBuilds: z.boolean(),
  stalenessThresholdHours: z.int(),
});
export type EnvironmentDetail = z.infer<typeof EnvironmentDetail>;

export const EnvironmentVersion = z.object({
  id: z.string(),
  createdAt: Timestamp,
  kind: z.enum(["created", "updated", "deleted", "backfilled", "changed"]),
  title: z.string(),
  description: z.string(),
  source: z
    .enum(["dashboard", "setup_flow", "restore", "api", "agent_run", "repo_file", "request_override"])
    .optional(),
  current: z.boolean(),
  environmentJson: z.string().optional(),
});
export type EnvironmentVersion = z.infer<typeof EnvironmentVersion>;
export const EnvironmentHistory = pageOf(EnvironmentVersion);

export { buildWords } from "../outcomes.ts";
export const BuildStatus = z.enum(buildStatuses);
export type BuildStatus = z.infer<typeof BuildStatus>;

export const BuildTrigger = z.enum(["RECURRING", "CONFIG_CHANGE", "MANUAL"]);
export type BuildTrigger = z.infer<typeof BuildTrigger>;

export const BuildFailure = z.object({
  type: z.enum(["INSTALL_FAILED", "TERMINAL_FAILURE"]),
  code: z.string().optional(),
});
export type BuildFailure = z.infer<typeof BuildFailure>;

export const RepositoryCommit = z.object({
  repoUrl: z.string().describe("Without scheme: host/owner/name"),
  commit: z.string(),
});
export type RepositoryCommit = z.infer<typeof RepositoryCommit>;

export const Build = z.object({
  id: z.string().describe("bld-YYYYMMDD-<uuid>"),
  environmentId: z.string(),
  status: BuildStatus,
  trigger: BuildTrigger,
  draft: z.boolean().describe("Becomes active only when it is activated"),
  failure: BuildFailure.optional(),
  commits: z.array(RepositoryCommit).optional().describe("The commit of each repository that it was built from"),
  createdAt: Timestamp,
  updatedAt: Timestamp,
  completedAt: Timestamp.optional(),
  discardedAt: Timestamp.optional().describe("When a person decided that this draft does not become active"),
});
export type Build = z.infer<typeof Build>;

export const BuildQuery = PageQuery.extend({ limit: z.coerce.number().int().min(1).max(10).default(10) });
export const BuildPage = pageOf(Build);

const command = z.string().min(1).max(65_536);

export const TriggerBuild = z
  .strictObject({
    draft: z.boolean().optional(),
    install: command.optional().describe("In place of the environment's, for this build; it is a draft then"),
    start: command.optional().describe("In place of the environment's, for this build; it is a draft then"),
  })
  .superRefine(({ draft, install, start }, context) => {
    if (draft === false && (install !== undefined || start !== undefined))
      context.addIssue({
        code: "custom",
        path: ["draft"],
        message: "a build with its own install or start is a draft; leave draft out",
      });
  });
export type TriggerBuild = z.infer<typeof TriggerBuild>;

export const ActiveBuild = z.object({
  type: z.enum(["build", "universal_image"]).describe("universal_image: no build succeeded yet"),
  buildId: z.string().optional(),
});
export type ActiveBuild = z.infer<typeof ActiveBuild>;

export const BuildDiffQuery = z.object({ from: z.string().min(1).max(100).describe("The build before") });

const sides = {
  before: z.string().optional().describe("Absent: it was not there"),
  after: z.string().optional().describe("Absent: it is gone"),
};

export const BuildDiff = z.object({
  from: z.string(),
  to: z.string(),
  packages: z.array(z.object({ name: z.string(), ...sides })).describe("Debian packages with their versions"),
  files: z
    .array(z.object({ path: z.string(), ...sides }))
    .describe("With their sizes, or where a link leads; those of the same size count as equal"),
  truncated: z.boolean().describe("Only the first 5,000 files and packages are there"),
  bytesBefore: z.int().describe("All files together"),
  bytesAfter: z.int(),
});
export type BuildDiff = z.infer<typeof BuildDiff>;

/** Which environment a run uses, which build of it, and why. */
export const RunEnvironment = z.object({
  source: z.enum(["repository_file", "personal", "team", "named", "none"]),
  reason: z.string().describe("For people: why this environment and this build"),
  environmentId: z.string().optional(),
  name: z.string().optional(),
  versionId: z.string().optional(),
  buildId: z.string().optional().describe("Absent: no build was used"),
  repoFile: z.object({ repoUrl: z.string(), path: z.string() }).optional(),
  commits: z.array(RepositoryCommit),
  warnings: z.array(z.string()).optional(),
});
export type RunEnvironment = z.infer<typeof RunEnvironment>;
