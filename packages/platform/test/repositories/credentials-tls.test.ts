// Credentials over https: hosts whose certificate is of an authority that the operator trusts, and others.
import { readFileSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type CredentialHarness, openCredentialHarness, serveGuarded } from "./credential-harness.ts";

const fixture = (name: string) => realpathSync(join(import.meta.dirname, "../../../../e2e/platform/fixtures", name));
const tls = { key: readFileSync(fixture("tls-key.pem")), cert: readFileSync(fixture("tls-cert.pem")) };
const password = "pass-0de71b";

/** A run that pushes to a host over https with the password of its team. */
async function runOverTls(harness: CredentialHarness) {
  onTestFinished(() => harness.close());
  const expected = `Basic ${Buffer.from(`ada:${password}`).toString("base64")}`;
  const options = { challenge: 'Basic realm="git"', accepts: (header: string) => header === expected, tls };
  const host = await serveGuarded(harness.served, options);
  onTestFinished(() => host.close());
  await harness.addRepository("shop");
  const answer = await harness.set({ host: host.url, kind: "basic", user: "ada", value: password });
  expect(answer).toMatchObject({ status: 200, body: { host: host.url.replace("https://", "") } });
  return { host, run: await harness.run(`${host.url}/shop.git`, "echo new > new.txt") };
}

test("an authority that the operator has added is trusted by git as well", async () => {
  const variables = { PATH: process.env.PATH, NODE_EXTRA_CA_CERTS: fixture("tls-cert.pem") };
  const { host, run } = await runOverTls(await openCredentialHarness({ variables }));
  expect(run).toMatchObject({ status: "FINISHED", git: { branches: [{ branch: expect.any(String) }] } });
  expect(host.asked.join()).toContain("POST /shop.git/git-receive-pack");
});

test("another certificate is refused before the credential is sent, and the error says how to trust it", async () => {
  const { host, run } = await runOverTls(await openCredentialHarness());
  expect(run).toMatchObject({ status: "ERROR", error: { code: "repository_unreachable" } });
  expect(run.error?.message).toMatch(/does not trust.*NODE_EXTRA_CA_CERTS=FILE/);
  expect(host.received).toEqual([]);
});

test("a server whose file of certificates cannot be read starts, and says so in its log", async () => {
  const variables = { PATH: process.env.PATH, NODE_EXTRA_CA_CERTS: "/nonexistent/ca.pem" };
  const { logged, close } = await openCredentialHarness({ variables });
  onTestFinished(close);
  expect(logged.filter((line) => line.includes("git.certificates_unused")).join()).toContain("/nonexistent/ca.pem");
});
