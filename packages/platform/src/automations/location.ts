// Where the runs of an automation work, in the terms of a request for an agent.
import type { Automation } from "@agentcli/protocol/api";
import type { CreateAgentRequest } from "../agents/index.ts";

export type Location = Pick<CreateAgentRequest, "env" | "repos">;

export function locationOf(target: Automation["target"]): Location {
  switch (target.type) {
    case "none":
      return { ...(target.env && { env: target.env }) };
    case "repo": {
      const { repoUrl: url, branch, env } = target;
      return { repos: [{ url, ...(branch && { startingRef: branch }) }], ...(env && { env }) };
    }
    case "environment":
      return { env: { type: "cloud", name: target.name } };
  }
}

/** A back-test fetches nothing and works on the platform: what another host has, and an environment, is not there. */
export const isolatedLocation = (target: Automation["target"], isHosted: (url: string) => boolean): Location =>
  target.type === "repo" && isHosted(target.repoUrl) ? locationOf({ ...target, env: undefined }) : {};
