// What the entries of allowed_domains and denied_domains mean, and which addresses are not public.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isPublic } from "../../src/egress/addresses.ts";
import { hostText, readHost, readTarget } from "../../src/egress/hosts.ts";
import { endToEnd, readAbsoluteUrl } from "../../src/egress/http-target.ts";
import { evaluate, InvalidDomainRule, listsAddress, readRules } from "../../src/egress/rules.ts";
import { readGreeting, readRequest } from "../../src/egress/socks-messages.ts";

const runs = { numRuns: Number(process.env.FUZZ_RUNS ?? 200) };

describe("a host", () => {
  const text = (written: string) => {
    const host = readHost(written);
    return host && `${host.kind} ${hostText(host)}`;
  };

  test("has one form, however it is written", () => {
    expect(text("Example.COM.")).toBe("name example.com");
    expect(text("a_b.x-1.dev")).toBe("name a_b.x-1.dev");
    expect(text("127.0.0.1")).toBe("address 127.0.0.1");
    expect(text("0:0:0:0:0:0:0:1")).toBe("address ::1");
    expect(text("2001:DB8:0::1")).toBe("address 2001:db8::1");
    expect(text("::ffff:127.0.0.1")).toBe("address 127.0.0.1");
    expect(text("::FFFF:7f00:0001")).toBe("address 127.0.0.1");
  });

  test.each([
    ...["2130706433", "0x7f000001", "0x7f.1", "127.1", "0177.0.0.1", "127.0.0.01", "1.2.3.4.5", "256.1.1.1", "x.0x1"],
    ...["", ".", "..", "a..b", "-a.b", "a-.b", "a b", "a/b", "a@b", "a%00b", "ex\u00e4mple.com", "fe80::1%eth0", ":::"],
    ...["a".repeat(64), `${"a.".repeat(127)}aa`],
  ])("is refused where parsers could disagree: %j", (written) => {
    expect(readHost(written)).toBeUndefined();
  });

  test("comes with a port, in brackets where it is IPv6", () => {
    expect(readTarget("example.com:443")).toEqual({ host: { kind: "name", name: "example.com" }, port: 443 });
    expect(readTarget("[::1]:8080")).toEqual({ host: { kind: "address", address: "::1" }, port: 8080 });
    expect(readTarget("example.com", 80)).toMatchObject({ port: 80 });
    for (const bad of [
      "example.com",
      "example.com:0",
      "example.com:65536",
      "example.com:1:2",
      "::1:80",
      "[::1",
      "[]:1",
      "u@h:1",
    ]) {
      expect(readTarget(bad), bad).toBeUndefined();
    }
  });

  test("keeps its value when written and read again, or is refused", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: "binary" }), fc.ipV4(), fc.ipV6(), fc.domain()), (written) => {
        const host = readHost(written);
        if (host) expect(readHost(hostText(host))).toEqual(host);
      }),
      runs,
    );
  });
});

describe("an address", () => {
  test.each([
    ...["0.0.0.0", "10.1.2.3", "100.64.0.1", "100.100.100.200", "127.0.0.1", "127.255.255.254", "168.63.129.16"],
    ...["169.254.169.254", "172.16.0.1", "172.31.255.255", "192.168.1.1", "192.0.0.192", "198.18.0.9", "224.0.0.1"],
    ...["255.255.255.255", "::", "::1", "fe80::1", "fc00::1", "fd00:ec2::254", "ff02::1", "2001:db8::1"],
    ...["2002:7f00:1::", "2001::1", "64:ff9b::7f00:1", "64:ff9b::a00:1", "64:ff9b:1::1", "::7f00:1", "100::1"],
  ])("of this machine, a private network or a cloud is not public: %s", (address) => {
    expect(isPublic(address)).toBe(false);
  });

  test.each(["1.1.1.1", "100.63.255.255", "172.32.0.1", "2606:4700::1111", "64:ff9b::101:101"])(
    "of the internet is public: %s",
    (address) => {
      expect(isPublic(address)).toBe(true);
    },
  );
});

describe("the rules", () => {
  const rules = readRules(
    ["example.com", "*.npmjs.org:443", "**.x.dev", "127.0.0.1:8080", "::1", "b\u00fccher.de"],
    ["bad.x.dev", "*.secret.x.dev:443"],
  );
  const verdict = (authority: string) => {
    const target = readTarget(authority);
    return target && evaluate(rules, target).kind;
  };

  test.each([
    "example.com:443",
    "EXAMPLE.com.:80",
    "registry.npmjs.org:443",
    "a.b.npmjs.org:443",
    "x.dev:80",
    "a.x.dev:443",
    "127.0.0.1:8080",
    "[::1]:443",
    "xn--bcher-kva.de:443",
    "a.secret.x.dev:80",
  ])("allow %s", (authority) => expect(verdict(authority)).toBe("allowed"));

  test.each([
    "example.com:22",
    "sub.example.com:443",
    "notexample.com:443",
    "npmjs.org:443",
    "registry.npmjs.org:80",
    "evilx.dev:443",
    "bad.x.dev:443",
    "bad.x.dev:80",
    "a.secret.x.dev:443",
    "127.0.0.1:80",
    "127.0.0.2:8080",
    "1.1.1.1:443",
  ])("block %s", (authority) => expect(verdict(authority)).toBe("blocked"));

  test("a star matches every name but no address", () => {
    const any = readRules(["*"], ["*.bad.com"]);
    const of = (authority: string) => evaluate(any, readTarget(authority) ?? expect.fail()).kind;
    expect([of("example.com:443"), of("example.com:22"), of("a.bad.com:443"), of("1.1.1.1:443")]).toEqual([
      ...["allowed", "blocked", "blocked", "blocked"],
    ]);
    expect(evaluate(readRules(["*:22"], []), readTarget("h.dev:22") ?? expect.fail()).kind).toBe("allowed");
  });

  test("list an address only as itself, with its port", () => {
    expect(listsAddress(rules, "127.0.0.1", 8080)).toBe(true);
    expect(listsAddress(rules, "127.0.0.1", 80)).toBe(false);
    expect(listsAddress(readRules(["*"], []), "10.0.0.1", 80)).toBe(false);
  });

  test.each([
    "",
    "*.",
    "**.",
    "http://example.com",
    "example.com/path",
    "*.127.0.0.1",
    "a*b.com",
    "*x.com",
    "x.com:",
    "x.com:0",
    "0x7f.1",
    "**",
    "*.*.com",
  ])("refuse an invalid entry: %j", (entry) => {
    expect(() => readRules([entry], [])).toThrow(InvalidDomainRule);
    expect(() => readRules([entry], [])).toThrow(`"${entry}"`);
  });

  test("denying more never allows more", () => {
    const entry = fc.constantFrom("a.com", "*.a.com", "**.a.com", "*", "b.a.com:443", "1.1.1.1");
    const authority = fc.constantFrom("a.com:443", "b.a.com:443", "b.a.com:80", "c.b.a.com:443", "1.1.1.1:443");
    fc.assert(
      fc.property(fc.array(entry), fc.array(entry), entry, authority, (allowed, denied, more, asked) => {
        const target = readTarget(asked) ?? expect.fail();
        const stricter = evaluate(readRules(allowed, [...denied, more]), target);
        if (stricter.kind === "allowed") expect(evaluate(readRules(allowed, denied), target).kind).toBe("allowed");
      }),
      runs,
    );
  });
});

describe("a proxied request", () => {
  test("goes to the host of its URL when the Host header matches", () => {
    expect(readAbsoluteUrl("http://Example.com/a?b#c".replace("#c", ""), ["Host", "example.com:80"])).toMatchObject({
      kind: "target",
      path: "/a?b",
    });
    expect(readAbsoluteUrl("http://example.com?q", [])).toMatchObject({ kind: "target", path: "/?q" });
    expect(readAbsoluteUrl("http://a.com/", ["Host", "b.com"])).toMatchObject({ kind: "mismatch", header: "b.com" });
    expect(readAbsoluteUrl("http://a.com/", ["host", "a.com", "HOST", "a.com"])).toMatchObject({ kind: "mismatch" });
    expect(readAbsoluteUrl("http://a.com/", ["Host", ""])).toMatchObject({ kind: "mismatch" });
    for (const bad of [
      "/path",
      "https://a.com/",
      "ftp://a.com/",
      "http:///",
      "http://u:p@a.com/",
      "http://0x7f.1/",
      "*",
    ]) {
      expect(readAbsoluteUrl(bad, []), bad).toMatchObject({ kind: "bad" });
    }
  });

  test("drops hop-by-hop headers", () => {
    const headers = [
      "Connection",
      "close, X-Mine",
      "x-mine",
      "1",
      "Proxy-Authorization",
      "secret",
      "Accept",
      "*/*",
      "Host",
      "h",
    ];
    expect(endToEnd(headers, ["host"])).toEqual(["Accept", "*/*"]);
  });
});

describe("the SOCKS messages", () => {
  const name = (host: string, port: number) =>
    Buffer.concat([Buffer.of(5, 1, 0, 3, host.length), Buffer.from(host), Buffer.of(port >> 8, port & 255)]);

  test("are read whole, however they are cut, and leave the rest alone", () => {
    const bytes = Buffer.concat([name("example.com", 443), Buffer.from("rest")]);
    for (let length = 0; length < bytes.length - 4; length += 1) {
      expect(readRequest(bytes.subarray(0, length))).toEqual({ kind: "part" });
    }
    expect(readRequest(bytes)).toMatchObject({
      kind: "whole",
      message: { kind: "connect", target: { host: { name: "example.com" }, port: 443 } },
      length: bytes.length - 4,
    });
    expect(readGreeting(Buffer.of(5, 2, 0, 2, 5))).toEqual({ kind: "whole", message: [0, 2], length: 4 });
  });

  test("carry addresses as bytes, as text or in unusual notation, all with the same result", () => {
    const message = (bytes: Buffer) => {
      const reading = readRequest(bytes);
      return reading.kind === "whole" ? reading.message : reading;
    };
    const loopback = { kind: "connect", target: { host: { kind: "address", address: "127.0.0.1" }, port: 80 } };
    expect(message(Buffer.of(5, 1, 0, 1, 127, 0, 0, 1, 0, 80))).toEqual(loopback);
    expect(message(name("127.0.0.1", 80))).toEqual(loopback);
    expect(message(name("::ffff:127.0.0.1", 80))).toEqual(loopback);
    const mapped = Buffer.from("00000000000000000000ffff7f000001", "hex");
    expect(message(Buffer.concat([Buffer.of(5, 1, 0, 4), mapped, Buffer.of(0, 80)]))).toEqual(loopback);
    expect(message(name("0x7f.1", 80))).toEqual({ kind: "no-host" });
    expect(message(Buffer.of(5, 2, 0, 1, 1, 1, 1, 1, 0, 80))).toEqual({ kind: "not-connect" });
    expect(message(Buffer.of(4, 1, 0))).toEqual({ kind: "bad" });
    expect(message(Buffer.of(5, 1, 0, 9))).toEqual({ kind: "bad" });
  });

  test("are never longer than what was read, and never need more than 262 bytes", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.boolean(), (raw, isSocks) => {
        const bytes = Buffer.from(raw);
        if (isSocks && bytes.length > 0) bytes[0] = 5;
        for (const reading of [readGreeting(bytes), readRequest(bytes)]) {
          if (reading.kind === "whole") expect(reading.length).toBeLessThanOrEqual(bytes.length);
          if (bytes.length >= 262) expect(reading.kind).not.toBe("part");
        }
      }),
      runs,
    );
  });
});
