// What machines may reach: the policies of teams and users, and what a run has reached or was refused.
import { z } from "zod";

export const EgressHost = z
  .string()
  .max(255)
  .regex(
    /^(?:\*|(?:\*\*?\.)?[^\s*/@]+)(?::\d{1,5})?$/,
    "must be example.com, *.example.com, **.example.com, * or an address, with :port if it is not 80 or 443",
  );

const mode = z
  .enum(["allow_all", "default_plus_allowlist", "allowlist_only"])
  .describe("All public hosts; package registries, code hosts and the list; or the list alone");
const allowlist = z.array(EgressHost).max(1000).describe("Hosts; a private address only if it is listed itself");

export const UserEgress = z.strictObject({ mode, allowlist });
export type UserEgress = z.infer<typeof UserEgress>;
export const TeamEgress = z.strictObject({
  mode,
  allowlist,
  locked: z.boolean().describe("Whether it wins over those of environments and users"),
});
export type TeamEgress = z.infer<typeof TeamEgress>;

export const EgressPolicy = z.object({
  mode,
  source: z
    .enum(["server", "team", "user", "environment", "automation"])
    .describe("Whose policy it is; server: there is none; automation: one whose runs only propose, and reach nothing"),
  locked: z.boolean(),
  allowed: z
    .array(z.string())
    .describe("All hosts that may be reached: of its list, of the presets, of the repositories"),
});
export type EgressPolicy = z.infer<typeof EgressPolicy>;

export const EgressPhase = z.enum(["start", "run"]).describe("While the environment started, or in the run itself");
export type EgressPhase = z.infer<typeof EgressPhase>;

export const EgressEntry = z.object({
  host: z.string(),
  port: z.int().describe("0: not known"),
  decision: z.enum(["allowed", "denied"]),
  rule: z.string().optional().describe("What refused it"),
  reason: z.string().optional().describe("For people, with what to do"),
  phase: EgressPhase,
  process: z.string().optional().describe("Name and process id in the machine, as the machine says; absent: not known"),
  connections: z.int(),
  bytesSent: z.int(),
  bytesReceived: z.int(),
  firstAt: z.string(),
  lastAt: z.string(),
});
export type EgressEntry = z.infer<typeof EgressEntry>;

export const RunEgress = z
  .object({
    policy: EgressPolicy.nullable().describe("Null: the run has not started"),
    items: z.array(EgressEntry).describe("Denied ones first, then by host"),
    omitted: z.int().describe("How many connections are not listed because there were too many hosts"),
  })
  .meta({ id: "RunEgress" });
export type RunEgress = z.infer<typeof RunEgress>;
