import fc from "fast-check";
import { expect, test } from "vitest";
import { openNetworkPolicy } from "../../src/foundation/network/index.ts";
import { readGithubName, webOrigin } from "../../src/repositories/scm/github/address.ts";
import { isReference, openSourceHosts } from "../../src/repositories/scm/index.ts";
import { readPullRequestUrl } from "../../src/repositories/scm/reference.ts";
import { readRepositoryUrl, repositoryName, shownUrl, urlText } from "../../src/repositories/scm/repository-url.ts";
import { never, noRules } from "./git-harness.ts";

const runs = { numRuns: Number(process.env.FUZZ_RUNS ?? 200) };

/** The normalized address, or the error. */
const read = (text: string): string => {
  const url = readRepositoryUrl(text);
  return url.kind === "url" ? urlText(url.url) : `refused: ${url.reason}`;
};

test("addresses are normalized", () => {
  expect(read("https://GitHub.com/o/r")).toBe("https://github.com/o/r");
  expect(read("https://github.com:443/o/r.git/")).toBe("https://github.com/o/r.git");
  expect(read("http://127.0.0.1:7420/git/shop.git")).toBe("http://127.0.0.1:7420/git/shop.git");
  expect(read("github.com/o/r")).toBe("https://github.com/o/r");
  expect(read("git@github.com:o/r.git")).toBe("ssh://git@github.com/o/r.git");
  expect(read("ssh://git@host.example:2222/o/r")).toBe("ssh://git@host.example:2222/o/r");
  expect(read("git://host.example/o/r")).toBe("git://host.example/o/r");
  expect(read("https://[2606:4700::1]/o/r")).toBe("https://[2606:4700::1]/o/r");
});

test.each([
  ["ext::sh -c id", "characters"],
  ["ext::sh", "must begin"],
  ["file:///etc", "must begin"],
  ["/srv/git/shop.git", "must begin"],
  ["../shop", "must begin"],
  ["ftp://host.example/o/r", "must begin"],
  ["HTTPS://host.example/o/r", "must begin"],
  ["https://user:secret@host.example/o/r", "credentials"],
  ["https://token@host.example/o/r", "credentials"],
  ["ssh://git:secret@host.example/o/r", "credentials"],
  ["ssh://-oProxyCommand=id@host.example/o/r", "credentials"],
  ["-oProxyCommand=id@host.example:o/r", "credentials"],
  ["ssh://-oProxyCommand=id/o/r", "no host"],
  ["https://2130706433/o/r", "no host"],
  ["https://0x7f.1/o/r", "no host"],
  ["https:///o/r", "no host"],
  ["https://host.example:99999/o/r", "no host"],
  ["https://host.example", "no repository"],
  ["https://host.example/", "no repository"],
  ["https://host.example/o/r?x=1", "no repository"],
  ["https://host.example/o/r#x", "no repository"],
  ["https://host.example/../etc", "path segment"],
  ["https://host.example/o/-r", "path segment"],
  ["https://host.example/o/%2e%2e/r", "encoded characters"],
  ["https://host.example/o//r", "empty part"],
  ["https://host.example/o/r\nx", "characters"],
  ["https://höst.example/o/r", "characters"],
  [`https://host.example/${"x".repeat(2048)}`, "longer"],
])("%s is refused", (text, reason) => {
  expect(read(text)).toContain("refused");
  expect(read(text)).toContain(reason);
});

test("every accepted address names one host and one of four protocols, and parses to itself", () => {
  const part = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.webUrl({ withFragments: true, withQueryParameters: true }),
    fc.constantFrom("ssh://", "git@", ":", "@", "/", "%2f", "..", "-", "[::1]", "localhost"),
  );
  fc.assert(
    fc.property(fc.array(part, { maxLength: 6 }), (parts) => {
      const text = parts.join("");
      const first = readRepositoryUrl(text);
      if (first.kind === "refused") return;
      const whole = urlText(first.url);
      expect(read(whole)).toBe(whole);
      expect(new URL(whole).protocol).toMatch(/^(?:https?|ssh|git):$/);
      expect(new URL(whole).password).toBe("");
      expect(repositoryName(first.url)).toMatch(/^[A-Za-z0-9_][A-Za-z0-9._-]*$/);
    }),
    runs,
  );
});

test("a repository is displayed without scheme and suffix", () => {
  const url = readRepositoryUrl("ssh://git@host.example:2222/o/r.git");
  if (url.kind === "refused") throw new Error(url.reason);
  expect(shownUrl(url.url)).toBe("host.example:2222/o/r");
});

test("a reference is a valid git name and never an option or expression", () => {
  for (const good of ["main", "feature/one", "v1.2", "refs/heads/x", "a".repeat(40), "ünïcode", "x@y"])
    expect(isReference(good), good).toBe(true);
  for (const bad of [
    "",
    "-x",
    "--upload-pack=x",
    "a..b",
    "a b",
    "a~1",
    "a^",
    "a:b",
    "a?",
    "a*",
    "a[",
    "a\\b",
    "@",
    "@{u}",
    "/a",
    "a/",
    "a//b",
    "a/.b",
    ".a",
    "a.",
    "a.lock",
    "a/b.lock/c",
    "a\nb",
    "a/-b",
    "x".repeat(241),
  ])
    expect(isReference(bad), bad).toBe(false);
});

test("pull requests are recognized by the URLs that hosts give them", () => {
  const number = (text: string, repository = "https://host.example/o/r.git") => {
    const url = readRepositoryUrl(repository);
    return url.kind === "url" ? readPullRequestUrl(text, url.url) : undefined;
  };
  expect(number("https://host.example/o/r/pull/12")).toBe(12);
  expect(number("https://host.example/o/r/pull/12/files")).toBe(12);
  expect(number("https://host.example/o/r/-/merge_requests/3")).toBe(3);
  expect(number("https://host.example/O/R/pulls/4", "git@host.example:o/r.git")).toBe(4);
  expect(number("https://host.example/o/other/pull/12")).toBeUndefined();
  expect(number("https://other.example/o/r/pull/12")).toBeUndefined();
  expect(number("https://host.example/o/r/pull/0")).toBeUndefined();
  expect(number("https://host.example/o/r/pull/12?x")).toBeUndefined();
  expect(number("ext::x/pull/1")).toBeUndefined();
});

test.each([
  ["https://api.github.com", "https://github.com"],
  ["https://api.acme.ghe.com", "https://acme.ghe.com"],
  ["https://ghe.example:8443/api/v3", "https://ghe.example:8443"],
  ["http://127.0.0.1:99/api/v3", "http://127.0.0.1:99"],
])("the API at %s belongs to %s", (baseUrl, origin) => expect(webOrigin(baseUrl).origin).toBe(origin));

test("repositories on GitHub are recognized by each of their addresses, and by no other", () => {
  const name = (text: string) => {
    const read = readRepositoryUrl(text);
    return read.kind === "url" ? readGithubName(read.url, new URL("https://github.com")) : undefined;
  };
  for (const text of [
    "https://github.com/o/r",
    "http://github.com/o/r.git",
    "git@github.com:o/r.git",
    "ssh://git@ssh.github.com:443/o/r",
    "github.com/o/r/",
  ])
    expect(name(text), text).toEqual({ owner: "o", repo: "r" });
  for (const text of [
    "https://github.com:444/o/r",
    "https://github.com/o",
    "https://github.com/o/r/x",
    "https://evil-github.com/o/r",
  ])
    expect(name(text), text).toBeUndefined();
});

const nothing = { nameOf: async () => undefined, open: async () => undefined };
const hosts = (allowPrivate: string[], names: Record<string, string[]> = {}) =>
  openSourceHosts({
    own: nothing,
    sshDirectory: "/nonexistent",
    policy: openNetworkPolicy({ allowPrivate, resolve: async (name) => names[name] ?? [] }),
    rules: noRules,
    github: null,
  });

test("repositories that no agent could access are refused by the API, with a code", async () => {
  const names = { "inside.example": ["10.1.2.3"], "mixed.example": ["10.1.2.3", "93.184.215.14"] };
  const check = (url: string, more = {}) => hosts(["192.168.0.0/16"], names).check(1, [{ url, ...more }], never());
  await expect(check("https://10.1.2.3/o/r")).rejects.toMatchObject({ code: "repository_access" });
  await expect(check("https://127.0.0.1/o/r")).rejects.toMatchObject({ code: "repository_access" });
  await expect(check("https://[::ffff:127.0.0.1]/o/r")).rejects.toMatchObject({ code: "repository_access" });
  await expect(check("https://169.254.169.254/o/r")).rejects.toMatchObject({ code: "repository_access" });
  await expect(check("https://inside.example/o/r")).rejects.toMatchObject({ code: "repository_access" });
  await expect(check("https://mixed.example/o/r")).rejects.toMatchObject({ code: "repository_access" });
  await expect(check("file:///etc")).rejects.toMatchObject({ code: "validation_error" });
  await expect(check("https://93.184.215.14/o/r", { startingRef: "-x" })).rejects.toMatchObject({
    code: "validation_error",
  });
  await expect(check("https://93.184.215.14/o/r", { prUrl: "https://x.example/1" })).rejects.toMatchObject({
    code: "validation_error",
  });
  await check("https://192.168.3.4/o/r");
  await hosts(["10.1.0.0/16"], names).check(1, [{ url: "https://mixed.example/o/r" }], never());
  await check("https://93.184.215.14/o/r", { startingRef: "main", prUrl: "https://93.184.215.14/o/r/pull/1" });
  const twice = [{ url: "https://93.184.215.14/o/r" }, { url: "https://93.184.215.14/O/R.git" }];
  await expect(hosts([]).check(1, twice, never())).rejects.toMatchObject({ code: "validation_error" });
});

test("invalid ranges are refused when the policy is read", () => {
  for (const range of ["10.0.0.0/33", "ten", "10.0.0.0/8/8", "::/129", "", "0x7f.1/8"])
    expect(() => openNetworkPolicy({ allowPrivate: [range] }), range).toThrow(/allow_private/);
});
