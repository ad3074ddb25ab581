// Secrets of teams, users and environments: `/v1/secrets` and what is below it. No answer has a value.
import { z } from "zod";
import { bytes, largestPage, Timestamp } from "./common.ts";
import { secretRepository } from "./plain.ts";

export const SecretType = z.enum(["runtime_secret", "environment_variable", "build_secret"]);
export type SecretType = z.infer<typeof SecretType>;

export const SecretScope = z.enum(["team", "user", "environment"]);
export type SecretScope = z.infer<typeof SecretScope>;

/** Where a secret is available: to the commands of agents, to builds of environments, or to both. */
export const SecretPhase = z.enum(["run", "build", "both"]);
export type SecretPhase = z.infer<typeof SecretPhase>;

const maxNameLength = 255;
const maxValueBytes = 4096;
const maxRepositories = 100;

/** The platform sets them itself. */
const isReserved = (name: string): boolean =>
  /(?:CURSOR|PLATFORM)_SANDBOX/.test(name) || /^(?:HTTP|HTTPS|ALL)_PROXY$/i.test(name);

export const SecretName = z
  .string()
  .max(maxNameLength)
  .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, "must be letters, digits and _, and not begin with a digit")
  .refine((name) => !isReserved(name), "is reserved: the platform sets it; choose another name");

const Repository = z
  .string()
  .min(1)
  .max(2000)
  .transform((text, context) => {
    const repository = secretRepository(text);
    if (repository !== null) return repository;
    context.addIssue({ code: "custom", message: "must look like host/owner/repo" });
    return z.NEVER;
  });

export const SecretRepositories = z
  .array(Repository)
  .max(maxRepositories)
  .transform((repositories) => [...new Set(repositories)]);

export const SecretValue = bytes(maxValueBytes, 1);

const maxHosts = 20;

/** A name, or `*.` and a name for all below it, with a port if it is not 443. */
const SecretHost = z
  .string()
  .max(260)
  .regex(
    /^(?:\*\.)?[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?)*(?::\d{1,5})?$/i,
    "must look like api.example.com, *.example.com or api.example.com:8443",
  )
  .transform((host) => host.toLowerCase());

/** Where in a request to these hosts the value goes. */
const secretUse = z
  .string()
  .max(100)
  .regex(
    /^(?:bearer|basic|body|sigv4|header:[a-z0-9-]+|query:[\w.-]+)$/,
    "must be bearer, basic, header:NAME in lower case, query:NAME, body or sigv4",
  );

export const SecretHosts = z
  .array(SecretHost)
  .max(maxHosts)
  .transform((hosts) => [...new Set(hosts)]);
export const SecretUses = z
  .array(secretUse)
  .max(maxHosts)
  .transform((uses) => [...new Set(uses)]);

export const SetSecret = z
  .strictObject({
    value: SecretValue.describe("Not shown again by anything"),
    type: SecretType.optional().describe("runtime_secret for a new secret; otherwise it stays as it is"),
    repos: SecretRepositories.optional().describe("host/owner/repo; []: all. Left out: it stays as it is"),
    hosts: SecretHosts.optional().describe(
      "Commands get a placeholder, and requests over https to these hosts the value; []: commands get the value. Left out: it stays as it is",
    ),
    uses: SecretUses.optional().describe(
      "Where in requests to its hosts the value goes: bearer, basic, header:NAME, query:NAME, body, sigv4; [] for bearer and basic. Left out: it stays as it is",
    ),
  })
  .superRefine(({ type }, context) => {
    if (type === "build_secret")
      context.addIssue({
        code: "custom",
        path: ["type"],
        message: "build secrets are not set over this API; use platform secrets set NAME --phase build",
      });
  })
  .meta({ id: "SetSecret" });
export type SetSecret = z.infer<typeof SetSecret>;

export const SecretVersionId = z.strictObject({
  id: z.string().min(1).max(100).optional().describe("Which version, where a name has several"),
});

export const SecretVersion = z
  .object({
    id: z.string().describe("secv_<22 characters>"),
    name: z.string(),
    type: SecretType,
    repos: z.array(z.string()).describe("host/owner/repo in lower case; []: all repositories"),
    createdAt: Timestamp,
    hosts: z.array(z.string()).optional().describe("The hosts that it is bound to; absent: to none"),
    uses: z.array(z.string()).optional().describe("Where in requests to them the value goes"),
    phase: z.literal("both").optional().describe("Also available to builds; absent: where its type says"),
  })
  .meta({ id: "SecretVersion" });
export type SecretVersion = z.infer<typeof SecretVersion>;

/** The whole list: there is never a next page. */
export const SecretList = z.object({ items: z.array(SecretVersion), nextCursor: z.null() }).meta({ id: "SecretList" });

export const SecretOwner = z.object({
  type: SecretScope,
  environmentId: z.string().optional(),
  user: z.object({ email: z.string().nullable() }).optional(),
});

export const OwnedSecret = SecretVersion.extend({ owner: SecretOwner }).meta({ id: "OwnedSecret" });
export type OwnedSecret = z.infer<typeof OwnedSecret>;

export const OwnedSecretPage = z
  .object({ items: z.array(OwnedSecret), nextCursor: z.string().nullable().describe("null on the last page") })
  .meta({ id: "OwnedSecretPage" });

export const SecretQuery = z
  .strictObject({
    scope: SecretScope.optional(),
    environmentId: z.string().min(1).max(100).optional(),
    name: z.string().min(1).max(maxNameLength).optional(),
    repo: Repository.optional().describe("Those that an agent on this repository gets"),
    limit: z.coerce.number().int().min(1).max(largestPage).default(largestPage),
    cursor: z.string().min(1).max(1024).optional(),
  })
  .superRefine(({ scope, environmentId }, context) => {
    if (environmentId !== undefined && scope !== undefined && scope !== "environment")
      context.addIssue({
        code: "custom",
        path: ["environmentId"],
        message: `is for scope=environment; leave it out, or leave out scope=${scope}`,
      });
  });
export type SecretQuery = z.infer<typeof SecretQuery>;

export const RemovedSecret = z.object({ name: z.string() }).meta({ id: "RemovedSecret" });
