import { localBaseUrl } from "@agentcli/models";
import { startTokenServer } from "@agentcli/testkit/oauth";
import { openHostPrograms } from "@agentcli/workspace";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { findLocalModel, namesIn, pickModel } from "../src/model/local-provider.ts";
import { temporaryHome } from "./session-files.ts";

async function localOptions(variables: Record<string, string>) {
  const home = await temporaryHome();
  const programs = openHostPrograms({ path: process.env.PATH, home: home, untrusted: [] });
  const environment = { variables, agentHome: home, userHome: home, systemDirectory: "/nowhere", cwd: home, programs };
  return { provider: null, model: undefined, config: {}, environment };
}

describe("a server on this machine", () => {
  test("answers with its models, the configured one before the first", async () => {
    const server = await startTokenServer(() => ({ body: { data: [{ id: "one" }, { id: "two" }] } }));
    const asked = await localOptions({ AGENT_OSS_BASE_URL: `${server.url}/v1/` });
    expect(await findLocalModel(asked)).toEqual({ provider: "ollama", model: "one" });
    expect(await findLocalModel({ ...asked, config: { model: "two", oss_provider: "lmstudio" } })).toEqual({
      provider: "lmstudio",
      model: "two",
    });
    expect(server.requests[0]?.path).toBe("/v1/models");
  });

  test("that lists models only in Ollama's own form is understood", async () => {
    const server = await startTokenServer(({ path }) =>
      path === "/api/tags" ? { body: { models: [{ name: "qwen3:8b" }] } } : { status: 404, body: "no" },
    );
    const asked = await localOptions({ AGENT_OSS_BASE_URL: `${server.url}/v1` });
    expect(await findLocalModel(asked)).toEqual({ provider: "ollama", model: "qwen3:8b" });
  });

  test("that is not there is named with its address and how to start it", async () => {
    const asked = await localOptions({ AGENT_OSS_PORT: "9" });
    const error = await findLocalModel(asked).catch((thrown) => thrown);
    expect(error).toMatchObject({ exit: "usage" });
    for (const part of ["http://localhost:9/v1", "ollama serve", "ollama pull", "lms server start", "AGENT_OSS_PORT"]) {
      expect(error.message).toContain(part);
    }
    const one = await findLocalModel({ ...asked, provider: "lmstudio" }).catch((thrown) => thrown);
    expect(one.message).not.toContain("ollama");
  });

  test("is expected at the usual ports", () => {
    expect(localBaseUrl("ollama", {})).toBe("http://localhost:11434/v1");
    expect(localBaseUrl("lmstudio", {})).toBe("http://localhost:1234/v1");
    expect(() => localBaseUrl("ollama", { AGENT_OSS_BASE_URL: "nonsense" })).toThrow("not an http or https address");
  });
});

describe("the model of a local server", () => {
  test("is the one asked for, also without its tag", () => {
    expect(pickModel("ollama", ["a:latest", "b"], "a", "b")).toBe("a:latest");
  });

  test("that is not there is named with the command that gets it", () => {
    expect(() => pickModel("ollama", ["a", "b"], "c", undefined)).toThrow("Get it: ollama pull c. It has: a, b.");
    expect(() => pickModel("lmstudio", [], undefined, "gpt-5.4")).toThrow("lms get");
  });

  test("is not one that only makes embeddings", () => {
    expect(pickModel("lmstudio", ["text-embedding-nomic", "qwen3"], undefined, "gpt-5.4")).toBe("qwen3");
  });

  test("is found in any answer without an error", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.json(),
          fc.array(fc.jsonValue()).map((data) => JSON.stringify({ data })),
        ),
        (body) => {
          expect(namesIn(body).every((name) => typeof name === "string" && name !== "")).toBe(true);
        },
      ),
      { numRuns: Number(process.env.FUZZ_RUNS ?? 200) },
    );
  });
});
