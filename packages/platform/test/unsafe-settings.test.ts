import { describe, expect, test } from "vitest";
import { findUnsafe } from "../src/commands/server/unsafe.ts";
import type { Settings } from "../src/foundation/config/index.ts";
import { testSettings } from "./harness/settings.ts";

const base = testSettings("/nowhere");
const elsewhere = { host: "0.0.0.0", port: 7420 };
const proxied = { ...base.rateLimits, trustedProxies: ["10.0.0.0/8"] };
const tls = { certificateFile: "cert.pem", keyFile: "key.pem" };
const real: Partial<Settings> = {
  models: { ...base.models, model: "gpt-5", model_provider: "openai" },
  variables: { AGENT_API_KEY: "sk-test" },
};

const problems = (changes: Partial<Settings>): string[] => findUnsafe({ ...base, ...changes });

describe("a server refuses to start", () => {
  test.each<[string, Partial<Settings>, string]>([
    ["on a public address without TLS and proxy", { listen: elsewhere }, 'listen = "0.0.0.0:7420"'],
    ["on a public IPv6 address too", { listen: { host: "::", port: 1 } }, 'listen = ":::1"'],
    ["with a public URL without encryption", { ...real, publicUrl: "http://platform.example" }, "Use https"],
    ["with the practice model and a public URL", { publicUrl: "https://platform.example" }, "practice model"],
  ])("%s", (_name, changes, expected) => {
    expect(problems(changes)).toEqual([expect.stringContaining(expected)]);
  });
});

describe("a server starts", () => {
  test.each<[string, Partial<Settings>]>([
    ["on loopback with everything else as it is", {}],
    ["on a public address with TLS", { listen: elsewhere, tls }],
    ["on a public address behind a named proxy", { listen: elsewhere, rateLimits: proxied }],
    ["with the practice model and a URL on this machine", { publicUrl: "http://localhost:7420" }],
    ["with a real model and a public URL", { ...real, publicUrl: "https://platform.example" }],
  ])("%s", (_name, changes) => {
    expect(problems(changes)).toEqual([]);
  });
});
