// `.platform/environment.json`: how the machine of an agent is prepared. The descriptions are the documentation.
import { z } from "zod";

export { environmentFilePath, maxEnvironmentBytes } from "./environment-file-names.ts";

/** One step of a path: neither `.` nor `..`, no backslash, no control character. */
const step = String.raw`(?!\.{1,2}(?:/|$))[^/\\\x00-\x1f\x7f]+`;
const steps = `${step}(?:/${step})*`;
const dockerfilePath = new RegExp(String.raw`^(?:\.{1,2}/)?${steps}$`);
const contextPath = new RegExp(String.raw`^(?:\.{1,2}/?|(?:\.{1,2}/)?${steps}/?)$`);
const notFromRepository = "must be a path inside the repository, relative to .platform, with at most one ../ in front";

const noControls = /^[^\x00-\x1f\x7f]+$/;
/** Counted in characters, as JSON Schema does; zod would count two for some. */
const text = (max: number) =>
  z
    .string()
    .refine(
      (value) => value.length > 0 && (value.length <= max || [...value].length <= max),
      `must have 1 to ${max} characters`,
    )
    .meta({ minLength: 1, maxLength: max });
const line = (max: number) => text(max).regex(noControls, "must be one line without control characters");
const command = text(65_536).regex(/^[^\0]+$/, "must not contain the character NUL");

const Terminal = z.strictObject({
  name: line(100).describe("Shown to people"),
  command: command.describe("Runs in a terminal that agent and people share"),
});

const Port = z.strictObject({
  name: line(100).describe("Shown to people"),
  port: z.int().min(1).max(65_535).describe("TCP port in the machine"),
});

export const EnvironmentBuild = z.strictObject({
  dockerfile: text(1000)
    .regex(dockerfilePath, notFromRepository)
    .describe("Path relative to .platform. It must not copy the project: the platform checks out the right commit"),
  context: text(1000)
    .regex(contextPath, notFromRepository)
    .optional()
    .describe("Path relative to .platform; absent: .platform; . or ./ or ..: the repository root"),
});
export type EnvironmentBuild = z.infer<typeof EnvironmentBuild>;

export const EgressMode = z.enum(["inherit", "inherit_plus", "allow_all", "default_plus_allowlist", "allowlist_only"]);

const Egress = z.strictObject({
  mode: EgressMode.describe("What machines of this environment may reach"),
  allowlist: z.array(line(255)).max(1000).optional().describe("Hosts in addition, where the mode has a list"),
});

const bases = ["build", "image", "snapshot"] as const;
const pairs = [
  ["build", "image"],
  ["build", "snapshot"],
  ["image", "snapshot"],
];

/** What zod checks in code is stated again for the published schema. */
const asJsonSchema = {
  title: "environment.json",
  allOf: [
    ...pairs.map((required) => ({ not: { required } })),
    {
      not: {
        required: ["agentCanUpdateSnapshot"],
        properties: { agentCanUpdateSnapshot: { const: true } },
        anyOf: [{ required: ["build"] }, { required: ["image"] }],
      },
    },
  ],
};

export const EnvironmentFile = z
  .strictObject({
    name: line(255).optional().describe("Shown to people"),
    user: z
      .string()
      .regex(/^[a-z_][a-z0-9_-]{0,31}$/, "must be the name of a Linux user")
      .optional()
      .describe("User that commands run as"),
    install: command
      .optional()
      .describe("Runs from the project root during each build; it can be repeated, and it ends"),
    start: command.optional().describe("Runs at the start of each run: databases, tunnels, a Docker daemon"),
    terminals: z.array(Terminal).max(50).optional().describe("Programs that run beside the agent, started at each run"),
    ports: z.array(Port).max(50).optional().describe("Ports that can be previewed"),
    snapshot: line(255).optional().describe("Base: the id of a snapshot"),
    build: EnvironmentBuild.optional().describe("Base: an image built from a Dockerfile of the repository"),
    image: line(512)
      .regex(/^\S+$/, "must be the reference of an image, without spaces")
      .optional()
      .describe("Base: the reference of an image"),
    repositoryDependencies: z
      .array(line(2000))
      .max(100)
      .optional()
      .describe("Addresses of repositories that git in the machine must also reach; they are not cloned"),
    agentCanUpdateSnapshot: z
      .boolean()
      .optional()
      .describe("Whether agents may replace the snapshot; never with build or image"),
    egress: Egress.optional(),
    mcpServerAllowlist: z.array(line(255)).max(100).optional().describe("Names of the MCP servers that may be used"),
  })
  .superRefine((file, context) => {
    const given = bases.filter((base) => file[base] !== undefined);
    for (const base of given.slice(1))
      context.addIssue({ code: "custom", path: [base], message: `${given[0]} is the base already; keep one of them` });
    const isFixed = file.build !== undefined || file.image !== undefined;
    if (file.agentCanUpdateSnapshot === true && isFixed)
      context.addIssue({
        code: "custom",
        path: ["agentCanUpdateSnapshot"],
        message: "cannot be true with build or image: only a snapshot can be updated",
      });
  })
  .meta(asJsonSchema);
export type EnvironmentFile = z.infer<typeof EnvironmentFile>;
