// Attempts to leave a machine. A script prints SUCCEEDED, or a secret word, if the attempt works.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer, type ListenOptions } from "node:net";
import { join } from "node:path";
import type { Workspace } from "@agentcli/protocol";
import { background, type MachineHarness, newName, type Scenario, sh, withMachine } from "./harness.ts";
import { processesWith } from "./leftovers.ts";

/** That of the supervisor, or where there is none, that of the host. */
const node = '"$(command -v /run/agent/node || command -v node)"';

/** By what is attempted; all of these are refused by the kernel. */
const scripts: Record<string, string> = {
  "mount a file system, another view of the root or over it":
    "mkdir -p /workspace/m; mount -t tmpfs none /workspace/m && echo SUCCEEDED; mount --bind / /workspace/m && echo SUCCEEDED; mount -o remount,rw /usr/bin && echo SUCCEEDED; mount -t overlay o -o lowerdir=/etc:/usr /workspace/m && echo SUCCEEDED; umount /proc && echo SUCCEEDED; umount -l /usr/bin && echo SUCCEEDED",
  "mount or write control groups":
    "mkdir -p /workspace/g; mount -t cgroup none /workspace/g && echo SUCCEEDED; mount -t cgroup2 none /workspace/g && echo SUCCEEDED; find /sys /proc/self -name cgroup.procs | grep -q . && echo SUCCEEDED; echo 0 > /sys/fs/cgroup/cgroup.procs && echo SUCCEEDED",
  "make device nodes":
    "mknod /workspace/b b 254 0 && echo SUCCEEDED; mknod /workspace/c c 1 1 && echo SUCCEEDED; mknod /dev/l b 7 0 && echo SUCCEEDED; ls /dev/vda /dev/sda /dev/loop0 /dev/mem /dev/kvm /dev/fuse 2> /dev/null && echo SUCCEEDED",
  "make a whiteout by hand": "mknod /workspace/w c 0 0 && echo SUCCEEDED; mknod /etc/w c 0 0 && echo SUCCEEDED",
  "write kernel settings":
    "for f in /proc/sys/kernel/core_pattern /proc/sys/kernel/modprobe /proc/sys/vm/overcommit_memory /proc/sys/net/ipv4/ip_forward /proc/sysrq-trigger /proc/sys/fs/binfmt_misc/register; do cat $f > /workspace/v 2> /dev/null; { cat /workspace/v > $f && echo SUCCEEDED; } 2> /dev/null; done",
  "open raw and packet sockets":
    'perl -e \'socket(my $r, 2, 3, 1) and print "SUCCEEDED raw\\n"; socket(my $p, 17, 3, 768) and print "SUCCEEDED packet\\n"; socket(my $v, 40, 1, 0) and print "SUCCEEDED vsock\\n"; socket(my $a, 38, 5, 0) and print "SUCCEEDED alg\\n"\'',
  "change the network":
    "ip link add dummy0 type dummy && echo SUCCEEDED; ip addr add 10.9.8.7/24 dev lo && echo SUCCEEDED; ip route add default dev lo && echo SUCCEEDED",
  "write the attributes that an overlay reads": perl(
    'mkdir "/workspace/o"; for (["trusted.overlay.opaque", "y"], ["trusted.overlay.redirect", "/etc"], ["user.overlay.opaque", "y"], ["user.overlay.redirect", "/etc"], ["user.overlay.metacopy", ""]) { my ($n, $v) = @$_; my $p = "/workspace/o"; syscall(NUMBER, $p, $n, $v, length($v), 0) == 0 and $n !~ /^user/ and print "SUCCEEDED $n\\n" }',
    { x64: 188, arm64: 5 },
  ),
  "enter other namespaces, or make a user namespace":
    "unshare -U true && echo SUCCEEDED; unshare -m true && echo SUCCEEDED; unshare -n true && echo SUCCEEDED; nsenter -t 1 -m true && echo SUCCEEDED; chroot / true && echo SUCCEEDED",
  "become more than the machine's root":
    'grep -q \'^NoNewPrivs:.1\' /proc/self/status || echo SUCCEEDED; cp /bin/cat /workspace/s; chmod 4755 /workspace/s; before=$(grep CapEff /proc/self/status); after=$(/workspace/s /proc/self/status | grep CapEff); [ "$before" = "$after" ] || echo SUCCEEDED; perl -e \'$> = 1; $> = 0; exec "/workspace/s", "/proc/self/status"\' | grep -q \'CapEff:.*1ffffffffff\' && echo SUCCEEDED; true',
  "read what the host keeps secret":
    "cat /etc/shadow /etc/gshadow /etc/ssh/ssh_host_* /etc/sudoers /root/.ssh/* /home/*/.ssh/* /var/lib/*/* 2> /dev/null | grep -q . && echo SUCCEEDED; true",
  "change the programs of the host or of the supervisor":
    "for f in /usr/bin/x /usr/lib/x /etc/ssl/certs/x /run/agent/node; do { echo x >> $f; } 2> /dev/null && echo SUCCEEDED $f; done; rm /run/agent/node 2> /dev/null && echo SUCCEEDED; true",
  "use the memory, keys and rings of the kernel": [
    call({ x64: 101, arm64: 117 }, 16, 1, 0, 0),
    call({ x64: 323, arm64: 282 }, 0),
    call({ x64: 425, arm64: 425 }, 1, 0),
    call({ x64: 250, arm64: 219 }, 0, -3, 1),
    call({ x64: 248, arm64: 217 }, 0, 0, 0, 0, -3),
    call({ x64: 321, arm64: 280 }, 0, 0, 0),
    call({ x64: 298, arm64: 241 }, 0, 0, 0, 0, 0),
    call({ x64: 304, arm64: 265 }, -100, 0, 0),
    call({ x64: 308, arm64: 268 }, 0, 0),
    call({ x64: 175, arm64: 105 }, 0, 0, 0),
  ].join("; "),
};

type CallNumber = { x64: number; arm64: number };
function numberOf({ x64, arm64 }: CallNumber): number {
  return process.arch === "arm64" ? arm64 : x64;
}

function perl(program: string, number: CallNumber): string {
  return `perl -e '${program.replaceAll("NUMBER", String(numberOf(number)))}'`;
}

/** Not refused means that the kernel looked at the arguments. */
function call(number: CallNumber, ...values: number[]): string {
  return perl(`$! = 0; syscall(NUMBER, ${values.join(", ")}); print "SUCCEEDED NUMBER\\n" unless $! == 1`, number);
}

export const escapeScenarios: Record<string, Scenario> = {
  ...Object.fromEntries(
    Object.entries(scripts).map(([name, script]): [string, Scenario] => [
      `a machine cannot ${name}`,
      async ({ shared }) => {
        const { output } = await sh(await shared(), `{ ${script}\n} 2> /workspace/stderr; echo attempted`);
        assert.equal(output, "attempted\n");
      },
    ]),
  ),

  "a machine cannot see the files or processes of another, nor reach its ports": (harness) =>
    withMachine(harness, async (_one, one) => {
      const word = newName("secret");
      const serve = `require("net").createServer((s) => s.end("${word}")).listen(8123, "0.0.0.0", () => console.log("on"))`;
      await sh(one, `echo ${word} | tee /workspace/f /tmp/f /root/f > /run/f`);
      await background(one, `${node} -e '${serve}'`);
      await withMachine(harness, async (_two, two) => {
        const { output } = await attack(two, word, 8123);
        assert.doesNotMatch(output, new RegExp(word));
      });
    }),

  "a machine cannot read the server's files, signal its processes or reach its sockets": (harness) =>
    expectOutOfReach(harness, { file: "secret", socket: "socket" }),

  "a machine cannot read the key files of the platform or reach its database": (harness) =>
    expectOutOfReach(harness, { file: "kek", socket: ".s.PGSQL.5432" }),

  "marks that an overlay reads, made in a machine, show no other files when it starts again": (harness) =>
    withMachine(harness, async (machine, workspace) => {
      await sh(workspace, `mkdir -p /opt/o/kept; echo kept > /opt/file; ${markAll("/opt/o")}; ${markAll("/opt/file")}`);
      await machine.stop();
      const { output } = await sh(await harness.start(machine), "ls -A /opt/o; cat /opt/file");
      assert.equal(output, "kept\nkept\n");
    }),

  "a machine cannot reach the metadata address or any network but through the proxy": async ({ shared }) => {
    const { output } = await sh(
      await shared(),
      `ls /sys/class/net /proc/sys/net/ipv4/conf 2> /dev/null | grep -E 'eth|ens|veth' && echo SUCCEEDED; ${["169.254.169.254", "10.0.0.1", "1.1.1.1"].map((host) => connect(`{ host: "${host}", port: 80 }`, 'console.log("SUCCEEDED")')).join("; ")}; ${proxied}`,
    );
    assert.doesNotMatch(output, /SUCCEEDED/);
    assert.match(output, /answered 403/);
  },

  "a set-id file of a machine gives nothing to users of the host": (harness) =>
    withMachine(harness, async (_machine, workspace) => {
      const word = newName("setid");
      await background(workspace, `echo on; : ${word}; cp /bin/true /workspace/s; chmod 6755 /workspace/s; sleep 1000`);
      await sh(workspace, "while [ ! -e /workspace/s ]; do :; done; cat /workspace/s > /dev/null");
      const [pid] = processesWith(word);
      const { uid, mode } = statSync(`/proc/${pid}/root/workspace/s`);
      const isSetId = (mode & 0o6000) !== 0;
      assert.ok(!isSetId || (uid !== 0 && uid !== process.geteuid?.()), `${uid} ${mode.toString(8)}`);
      if (isSetId) assert.match(readFileSync(`/proc/${pid}/mountinfo`, "utf8"), / \/ \/ [^\n]*nosuid/);
    }),

  "what a machine does to its layers does not change them": async (harness) => {
    const before = listLayers(harness);
    await withMachine(harness, async (_machine, workspace) => {
      await sh(workspace, "echo changed > /etc/passwd; rm -rf /var /opt; mv /srv /moved; chmod 777 /root; true");
    });
    assert.deepEqual(listLayers(harness).slice(0, before.length), before);
  },
};

/** A file that all users may read, and servers on a port of the host, on a socket file and on an abstract socket. */
async function expectOutOfReach(harness: MachineHarness, names: { file: string; socket: string }): Promise<void> {
  const word = newName("secret");
  const secret = join(harness.directory, names.file);
  writeFileSync(secret, word, { mode: 0o644 });
  const path = join(harness.directory, names.socket);
  const abstract = `\0${newName("abstract")}`;
  const servers = await Promise.all(
    [{ port: 0, host: "127.0.0.1" }, { path }, { path: abstract }].map((where) => serveWord(where, word)),
  );
  const [tcp] = servers.map((server) => server.address());
  const port = typeof tcp === "object" && tcp !== null ? tcp.port : 0;
  try {
    await withMachine(harness, async (_machine, workspace) => {
      const sockets = [path, abstract].map((each) => connect(JSON.stringify(each))).join("; ");
      const script = `cat ${secret} /proc/*/root${secret} /proc/1/root/tmp/disk/* ../../../..${secret}; ${sockets}; kill -0 ${process.pid} && echo ${word}`;
      const { output } = await sh(workspace, script);
      assert.ok(!output.replaceAll(secret, "").includes(word), output);
      const { output: reached } = await attack(workspace, word, port);
      assert.doesNotMatch(reached, new RegExp(word));
    });
  } finally {
    for (const server of servers) server.close();
  }
}

/** Sets all attributes by which an overlay takes another file for this one, as far as the kernel lets the machine. */
const markAll = (path: string) => {
  const marks = ["redirect=/etc", "redirect=/../../etc", "opaque=y", "opaque=x", "whiteout=y", "metacopy=", "origin=x"];
  const names = marks.flatMap((mark) => [`trusted.overlay.${mark}`, `user.overlay.${mark}`]);
  const program = `for (qw(${names.join(" ")})) { my ($n, $v) = split /=/, $_, 2; syscall(NUMBER, "${path}", $n, $v, length($v), 0) }`;
  return perl(program, { x64: 188, arm64: 5 });
};

function listLayers({ directory }: MachineHarness): string[] {
  const layers = join(directory, "layers");
  return readdirSync(layers)
    .filter((name) => name.startsWith("sha256-"))
    .sort()
    .map((name) => execFileSync("find", [join(layers, name), "-printf", "%p %m %U %s\n"]).toString());
}

/** Whatever a machine could try to find the word. */
const attack = (workspace: Workspace, word: string, port: number) =>
  sh(
    workspace,
    `cat /workspace/f /tmp/f /root/f /run/f; grep -l ${word} /proc/[0-9]*/cmdline /proc/[0-9]*/environ | grep -v self | while read f; do tr '\\0' ' ' < $f | grep -v grep | grep -o 'createServer.*${word}'; done; ${["127.0.0.1", "localhost", "0.0.0.0", "::1"].map((host) => connect(`{ host: "${host}", port: ${port} }`)).join("; ")}`,
  );

const connect = (target: string, onConnect = "") =>
  `${node} -e '${`const s = require("net").connect(${target}, () => { ${onConnect} }); s.on("data", (d) => process.stdout.write(d)); s.on("error", () => {}); s.setTimeout(20000, () => s.destroy())`.replaceAll("\\u0000", "\\0")}'`;

/** Nothing is allowed in these machines. */
const proxied = `${node} -e 'require("net").connect(3128, "127.0.0.1").on("data", (d) => { console.log("answered", String(d).split(" ")[1]); process.exit() }).write("CONNECT 169.254.169.254:80 HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n")'`;

async function serveWord(where: ListenOptions, word: string) {
  const server = createServer((socket) => socket.on("error", () => {}).end(word));
  await new Promise<void>((resolve) => server.listen(where, resolve));
  return server;
}
