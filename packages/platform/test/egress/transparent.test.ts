// Programs in machines of the provider `local` that know of no proxy: they reach what the policy allows by its name, and nothing else.
import { execFile, spawn } from "node:child_process";
import { chmodSync, chownSync, cpSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { createServer as createPlain, type RequestListener } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo, Server } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { sampleOf, temporaryRepository } from "@agentcli/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bundleInto } from "../harness/bundled.ts";
import type { TransparentRequest, TransparentResult } from "./transparent-request.ts";

const isRoot = process.geteuid?.() === 0;
const unprivilegedId = 65534;
const users = isRoot ? ["root", "an ordinary user"] : ["an ordinary user"];
const run = promisify(execFile);
const fixture = (name: string) => join(import.meta.dirname, "fixtures", name);

const value = "ghp_Zr81ypQ0cKm4LtXw9BvN2sHd7fGj5aTe";
const placeholder = "ghp_Aa00aaA0aAa0AaAa0AaA0aAa0aAa0aAa";
const hosts = `127.0.0.1 localhost web.allowed.test bound.allowed.test\n10.1.2.3 rebound.allowed.test\n`;

const withoutProxy =
  "unset HTTP_PROXY HTTPS_PROXY ALL_PROXY http_proxy https_proxy all_proxy NO_PROXY no_proxy NODE_USE_ENV_PROXY";
const node = "/run/agent/node";
const curl = "curl -sSk -m 20";

/** A query of this type for the name; prints the code of the answer and how many records it has. */
const query = (type: number, name: string) =>
  `perl -e 'socket(my $s, 2, 2, 0); connect($s, pack("S n C4 x8", 2, 53, 198, 18, 0, 1)); send($s, pack("n6", 7, 256, 1, 0, 0, 0) . join("", map { pack("C/a", $_) } split(/\\./, "${name}")) . pack("C n2", 0, ${type}, 1), 0); recv($s, my $r, 512, 0); my @h = unpack("n6", $r); print $h[1] & 15, " ", $h[3], "\\n"'`;

const long = (letter: string) => letter.repeat(63);

interface Ports {
  plain: number;
  secure: number;
}

interface Outcome {
  script(ports: Ports): string;
  output: RegExp;
  /** As `host: rule`; none when absent. */
  denied?: string[];
}

const outcomes: Record<string, Outcome> = {
  "curl reaches a listed host over TLS": {
    script: ({ secure }) => `${curl} https://web.allowed.test:${secure}/curl`,
    output: /^served \/curl $/,
  },
  "curl reaches a listed host over HTTP": {
    script: ({ plain }) => `${curl} http://web.allowed.test:${plain}/plain`,
    output: /^served \/plain $/,
  },
  "git clones over TLS": {
    script: ({ secure }) =>
      `git -c http.sslVerify=false clone --quiet https://web.allowed.test:${secure}/repository.git /opt/cloned && cat /opt/cloned/a.txt`,
    output: /^cloned\n$/,
  },
  "a program of Node connects": {
    script: ({ plain }) =>
      `${node} -e 'require("net").connect(${plain}, "web.allowed.test").on("data", (d) => process.stdout.write(d)).write("GET /node HTTP/1.0\\r\\n\\r\\n")' | tail -1`,
    output: /^served \/node $/,
  },
  "a program of Perl connects": {
    script: ({ plain }) =>
      `perl -MIO::Socket::INET -e '$s = IO::Socket::INET->new("web.allowed.test:${plain}") or die; print $s "GET /perl HTTP/1.0\\r\\n\\r\\n"; print <$s>' | tail -1`,
    output: /^served \/perl $/,
  },
  "a name that is not listed does not exist": {
    script: () => `${curl} https://evil.test/`,
    output: /^curl: \(6\) Could not resolve host: evil\.test\n/,
    denied: ["evil.test: allowed_domains"],
  },
  "a name without a domain does not exist": {
    script: () => `${curl} http://intranet/`,
    output: /^curl: \(6\) Could not resolve host: intranet\n/,
    denied: ["intranet: names with a domain"],
  },
  "a port that is not listed is refused": {
    script: () => `${curl} http://web.allowed.test:22/`,
    output: /^curl: \((52|56)\) /,
    denied: ["web.allowed.test: allowed_domains"],
  },
  "an address that stands for no name is refused": {
    script: () => `${curl} http://198.19.77.77/`,
    output: /^curl: \((7|52|56)\) /,
  },
  "another name in the handshake is refused": {
    script: ({ secure }) =>
      `${curl} --connect-to fronted.test:${secure}:web.allowed.test:${secure} https://fronted.test:${secure}/`,
    output: /unrecognized name/,
    denied: ["web.allowed.test: one host for each connection"],
  },
  "another name in the Host header is refused": {
    script: ({ plain }) => `${curl} -H 'Host: fronted.test' http://web.allowed.test:${plain}/`,
    output: /^curl: \((52|56)\) /,
    denied: ["web.allowed.test: one host for each connection"],
  },
  "a listed name that leads to a private address is refused": {
    script: ({ plain }) => `${curl} http://rebound.allowed.test:${plain}/`,
    output: /^curl: \((52|56)\) /,
    denied: ["rebound.allowed.test: no private addresses"],
  },
  "TXT, NULL, ANY, MX, SRV, HTTPS and AAAA have no records, also of names that are not listed": {
    script: () =>
      ["c2VjcmV0.web.allowed.test", "c2VjcmV0.tunnel.test"]
        .flatMap((name) => [16, 10, 255, 15, 33, 65, 28].map((type) => query(type, name)))
        .join("; "),
    output: /^(0 0\n){14}$/,
  },
  "long and odd names do not exist": {
    script: () => [`${long("x")}.${long("y")}.evil.test`, "a b.evil.test"].map((name) => query(1, name)).join("; "),
    output: /^3 0\n3 0\n/,
    denied: [`${long("x")}.${long("y")}.evil.test: allowed_domains`, "a\\032b.evil.test: valid hosts and ports"],
  },
  "a listed name has no IPv6 address": {
    script: () => "getent ahostsv6 web.allowed.test || echo none",
    output: /^none\n$/,
  },
  "localhost and the machine's own name are its loopback": {
    script: () => "getent hosts localhost $(hostname) | grep -cE '^(127|::1)'",
    output: /^2\n$/,
  },
  "a thousand names have an address each, and keep it": {
    script: () =>
      `perl -e 'my %seen; for my $round (1, 2) { for (1 .. 1000) { $seen{join(".", unpack("C4", gethostbyname("n$_.allowed.test") // die "n$_"))} = 1 } } print scalar(keys %seen), "\n"'`,
    output: /^1000\n$/,
  },
  "a server of the machine on all addresses and a listed host have the same port": {
    script: ({ plain }) =>
      `: > /tmp/on; ${node} -e 'require("http").createServer((q, a) => a.end("own")).listen(${plain}, "0.0.0.0", () => console.log("on"))' > /tmp/on & until grep -q on /tmp/on; do :; done; ${curl} http://127.0.0.1:${plain}/; ${curl} http://web.allowed.test:${plain}/outside; kill $!`,
    output: /^ownserved \/outside $/,
  },
  "root of the machine cannot change its network": {
    script: ({ plain }) =>
      `{ for c in 'link set egress0 down' 'link del egress0' 'link set lo down' 'route del 198.19.0.0/16' 'route add default via 198.18.0.1' 'addr add 198.18.0.9/24 dev egress0' 'neigh add 198.18.0.3 lladdr 02:00:00:00:00:01 dev egress0'; do ip $c && echo CHANGED $c; done; echo 1 > /proc/sys/net/ipv4/ip_forward && echo CHANGED; perl -e 'socket(my $s, 2, 2, 0); for (0x8914, 0x8916, 0x890c) { my $r = pack("a16 a24", "egress0", ""); print "CHANGED\n" if ioctl($s, $_, $r) }'; } 2> /dev/null; ${curl} http://web.allowed.test:${plain}/still`,
    output: /^served \/still /,
  },
};

/** Of the run alone, or with an outcome that differs. */
const others: Record<string, Outcome["script"]> = {
  "an address": () => `${curl} http://1.1.1.1/; ${curl} 'http://[2606:4700::1111]/'`,
  flood: ({ plain }) =>
    `perl -e 'my @s = map { socket(my $s, 2, 2, 0); connect($s, pack("S n C4 x8", 2, 53, 198, 18, 0, 1)); $s } 1 .. 200; for my $n (0 .. 2999) { send($s[$n % 200], pack("n6", $n, 256, 1, 0, 0, 0) . pack("C/a", "f$n") . pack("C/a C n2", "evil", 0, 1, 1), 0) }'; until ${curl} http://web.allowed.test:${plain}/after; do :; done`,
  secret: ({ secure }) =>
    `${curl} -H 'Authorization: Bearer ${placeholder}' https://bound.allowed.test:${secure}/bound`,
};

const scripts = (ports: Ports): Record<string, string> => ({
  ...Object.fromEntries(Object.entries(outcomes).map(([name, { script }]) => [name, script(ports)])),
  ...Object.fromEntries(Object.entries(others).map(([name, script]) => [name, script(ports)])),
});

/** On a disk that had transparent egress before. */
const scriptsWithoutPerl = ({ plain }: Ports): Record<string, string> => ({
  proxied: `${curl} http://web.allowed.test:${plain}/proxied`,
  direct: `echo nameserver 198.18.0.1 > /etc/resolv.conf; ${withoutProxy}; ${curl} http://web.allowed.test:${plain}/direct`,
});

interface Served {
  reached: string[];
  ports: Ports;
}

/** Servers of this host, and a repository that git can read from files. */
async function serve(directory: string, servers: Server[]): Promise<Served> {
  const reached: string[] = [];
  const answer: RequestListener = (request, response) => {
    reached.push(`${request.headers.host?.replace(/:\d+$/, "") ?? ""}${request.url}`);
    if (request.url?.startsWith("/repository.git/")) {
      try {
        response.end(readFileSync(join(directory, request.url.split("?", 1)[0] ?? "")));
      } catch {
        response.writeHead(404).end();
      }
      return;
    }
    response.end(
      `served ${request.url} ${request.headers.authorization === `Bearer ${value}` ? "with the value" : ""}`,
    );
  };
  const listen = async (server: Server) => {
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return (server.address() as AddressInfo).port;
  };
  const tls = { key: readFileSync(fixture("tls-key.pem")), cert: readFileSync(fixture("tls-cert.pem")) };
  return {
    reached,
    ports: { plain: await listen(createPlain(answer)), secure: await listen(createServer(tls, answer)) },
  };
}

describe.each(sampleOf(users, { every: users.length }))("in a machine of a server that runs as %s", (user) => {
  const directory = mkdtempSync("/var/tmp/transparent-");
  const servers: Server[] = [];
  let [inRun, inBuild, withoutPerl]: TransparentResult[] = [];
  let served: Served;

  beforeAll(async () => {
    chmodSync(directory, 0o755);
    const data = join(directory, "data");
    mkdirSync(data, { mode: 0o700 });
    writeFileSync(join(directory, "hosts"), hosts);
    cpSync(join(import.meta.dirname, "../../dist"), join(directory, "programs"), { recursive: true });
    cpSync(fixture("tls-cert.pem"), join(directory, "trusted.pem"));
    const origin = await temporaryRepository({ "a.txt": "cloned\n" });
    await run("git", ["clone", "--quiet", "--bare", origin.path, join(directory, "repository.git")]);
    await run("git", ["-C", join(directory, "repository.git"), "update-server-info"]);
    await origin.remove();
    const child = await bundleInto(directory, "egress/transparent-child.ts");
    if (isRoot && user !== "root") chownSync(data, unprivilegedId, unprivilegedId);
    served = await serve(directory, servers);
    const ports = Object.values(served.ports);
    const secret = {
      name: "TOKEN",
      value,
      placeholder,
      hosts: [`bound.allowed.test:${served.ports.secure}`],
      uses: ["bearer" as const],
    };
    const request: TransparentRequest = {
      allowed: ["*.allowed.test", ...ports.flatMap((port) => [`*.allowed.test:${port}`, `127.0.0.1:${port}`])],
      secret: { secrets: [secret], extraCertificates: join(directory, "trusted.pem") },
      scripts: Object.fromEntries(
        Object.entries(scripts(served.ports)).map(([name, script]) => [name, `${withoutProxy}\n${script}`]),
      ),
    };
    const program = [process.execPath, child, data, join(directory, "programs/workspace-server.cjs")];
    const runIn = (location: string) => runChild([...asUser(user, directory), ...program, location], request);
    inRun = await runIn("run");
    inBuild = await runIn("build");
    withoutPerl = await runChild([...asUser(user, directory, hidePerl), ...program, "run"], {
      ...request,
      scripts: scriptsWithoutPerl(served.ports),
    });
  }, 600_000);
  afterAll(async () => {
    for (const server of servers) server.close();
    await run("unshare", [...(isRoot ? [] : ["--user", "--map-root-user"]), "rm", "-rf", directory]);
  });

  test("there are machines, and their egress is transparent", () => {
    expect([inRun, inBuild]).toMatchObject(Array(2).fill({ obstacle: null, egress: "transparent" }));
  });

  test.each(Object.entries(outcomes))("%s, in a run and in a build", (name, outcome) => {
    for (const found of [inRun?.results[name], inBuild?.results[name]]) {
      expect(found?.output).toMatch(outcome.output);
      expect(found?.denials.map(({ host, rule }) => `${host}: ${rule}`) ?? []).toEqual(outcome.denied ?? []);
      for (const { process: by } of found?.denials ?? []) expect(by).toMatch(/^(curl|perl) \(\d+\)$/);
    }
  });

  test("an address without a name is counted for the run", () => {
    const found = inRun?.results["an address"];
    expect(found?.output).toMatch(/Failed to connect to 1\.1\.1\.1 [\s\S]*Failed to connect to 2606:4700::1111 /);
    expect(found?.denials).toMatchObject([{ host: "address without the proxy", rule: "no route but the proxy" }]);
    expect(found?.denials[0]?.reason).toMatch(/^2 packets /);
  });

  test("a refused port says on which ones the name is allowed", () => {
    expect(inRun?.results["a port that is not listed is refused"]?.denials[0]).toMatchObject({
      port: 22,
      reason: expect.stringContaining('"*.allowed.test" allows it on port 80 and 443 only.'),
    });
  });

  test("lookups that come at once without end are refused or fail, and the next ones are answered", () => {
    for (const found of [inRun?.results.flood, inBuild?.results.flood]) {
      expect(found?.output).toContain("served /after");
      expect(found?.denials.every(({ host }) => /^f\d+\.evil$/.test(host))).toBe(true);
    }
  });

  test("the bytes of each host are counted, and no other host was asked", () => {
    const counted = inRun?.traffic.filter(({ bytesReceived, bytesSent }) => bytesReceived > 50 && bytesSent > 20) ?? [];
    expect(new Set(counted.map(({ host, port }) => `${host}:${port}`))).toEqual(
      new Set([
        `web.allowed.test:${served.ports.plain}`,
        `web.allowed.test:${served.ports.secure}`,
        `bound.allowed.test:${served.ports.secure}`,
      ]),
    );
    expect(new Set(served.reached.map((one) => one.split("/", 1)[0]))).toEqual(
      new Set(["web.allowed.test", "bound.allowed.test", ""]),
    );
  });

  test("where there is no perl, programs reach hosts by the variables alone, and others fail at once", () => {
    expect(withoutPerl).toMatchObject({ obstacle: null, egress: "proxy-env" });
    expect(withoutPerl?.results.proxied?.output).toBe("served /proxied ");
    expect(withoutPerl?.results.direct?.output).toMatch(/^curl: \(6\) Could not resolve host: web\.allowed\.test\n/);
  });

  test("a secret is put in for the host that it is bound to", () => {
    expect(inRun?.results.secret?.output).toContain("served /bound with the value");
    expect(inBuild?.results.secret?.output).toBe("served /bound ");
  });
});

const hidePerl = "mount --bind /dev/null /usr/bin/perl && ";

/** With the names of the test in /etc/hosts. */
function asUser(user: string, directory: string, hide = ""): string[] {
  const mount = `${hide}mount --bind ${directory}/hosts /etc/hosts && exec "$@"`;
  const [id, group] = [process.getuid?.() ?? 0, process.getgid?.() ?? 0];
  const own = ["unshare", "--user", `--map-user=${id}`, `--map-group=${group}`, "--"];
  const lowered = ["setpriv", `--reuid=${unprivilegedId}`, `--regid=${unprivilegedId}`, "--clear-groups", "--"];
  const inside = isRoot ? (user === "root" ? [] : lowered) : own;
  return ["unshare", ...(isRoot ? [] : ["--user", "--map-root-user"]), "--mount", "sh", "-c", mount, "sh", ...inside];
}

async function runChild([program = "", ...args]: string[], request: TransparentRequest): Promise<TransparentResult> {
  const child = spawn(program, args, { cwd: "/", env: { PATH: process.env.PATH }, stdio: ["pipe", "pipe", "inherit"] });
  child.stdin.end(JSON.stringify(request));
  return JSON.parse(await text(child.stdout)) as TransparentResult;
}
