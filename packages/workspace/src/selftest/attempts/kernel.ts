// Attempts on the kernel itself: its settings, its devices, its mounts and namespaces, its rarer calls.
import { statSync } from "node:fs";
import { join } from "node:path";
import { type Attempt, printsSucceeded, runScript, whileOpen } from "../attempt.ts";
import { type CallNumber, numberOf, perl, systemCall } from "../snippets.ts";

const call = (name: string, number: CallNumber, ...values: (number | string)[]): Attempt => ({
  name,
  run: runScript(() => systemCall(number, ...values)),
  escaped: printsSucceeded,
  control: "harmless-as-root",
});

export const onKernel: Attempt[] = [
  {
    name: "write kernel settings",
    // The value it has already, so that success changes nothing.
    run: runScript(() => 'f=/proc/sys/kernel/core_pattern; v=$(cat $f); echo "$v" > $f && echo SUCCEEDED'),
    escaped: printsSucceeded,
    control: "never",
  },
  {
    name: "open a file of the kernel for writing",
    run: runScript(
      () =>
        `find /proc /sys -maxdepth 4 -path '/proc/[0-9]*' -prune -o -path '/proc/*self' -prune -o -type f -print | ${perl('while (<>) { chomp; sysopen(my $f, $_, 1) and print "SUCCEEDED $_\\n" and exit }')}`,
    ),
    escaped: printsSucceeded,
    control: "never",
  },
  {
    name: "read or write a disk or the memory of the machine",
    run: runScript(
      () =>
        `for d in $(ls /sys/block | sed s,^,/dev/,) $(find /dev -type b) /dev/mem /dev/kmem /dev/port /dev/kmsg /dev/kvm /dev/fuse /dev/net/tun; do head -c 1 $d > /dev/null && echo SUCCEEDED $d; done; head -c 1 /proc/kcore && echo SUCCEEDED`,
    ),
    escaped: printsSucceeded,
    control: "never",
  },
  {
    name: "make a device",
    run: runScript(() => "mknod device b 7 0 && echo SUCCEEDED; mknod device c 1 1 && echo SUCCEEDED"),
    escaped: printsSucceeded,
    control: "never",
  },
  {
    name: "leave a set-id file",
    run: runScript(
      () =>
        `cp /bin/true tool; chmod u+s tool; chmod g+s tool; install -m 4755 /bin/true tool2; ${perl(`chmod 06755, "tool"; sysopen(my $f, "tool3", 0102, 04755); syscall(${numberOf({ x64: 259, arm64: 33 })}, -100, "tool4", 0104755, 0)`)}; true`,
    ),
    escaped: whileOpen(({ root }) =>
      ["tool", "tool2", "tool3", "tool4"].some(
        (name) => ((statSync(join(root, name), { throwIfNoEntry: false })?.mode ?? 0) & 0o6000) !== 0,
      ),
    ),
    control: "harmless",
  },
  {
    name: "gain rights from a set-id program or keep capabilities",
    run: runScript(
      () =>
        `grep -q '^NoNewPrivs:.1' /proc/self/status || echo SUCCEEDED; grep '^Cap[EPA]' /proc/self/status | grep -v 0000000000000000 && echo SUCCEEDED`,
    ),
    escaped: printsSucceeded,
    control: "harmless",
  },
  {
    name: "mount, unmount or remount something",
    run: runScript(
      () =>
        "mount -t tmpfs none directory && echo SUCCEEDED; mount -o remount,rw,bind / && echo SUCCEEDED; umount .git && echo SUCCEEDED; umount /proc && echo SUCCEEDED; mount --bind / directory && echo SUCCEEDED",
    ),
    escaped: printsSucceeded,
    control: "never",
  },
  {
    name: "make a namespace",
    run: runScript(
      () =>
        "for kind in user mount pid net ipc uts cgroup; do unshare --$kind true && echo SUCCEEDED; done; unshare --user --map-root-user mount -t tmpfs none directory && echo SUCCEEDED",
    ),
    escaped: printsSucceeded,
    control: "never",
  },
  {
    name: "enter a namespace of another process",
    run: runScript(({ hostPid }) => `for p in 1 $PPID ${hostPid}; do nsenter -t $p -m -u true && echo SUCCEEDED; done`),
    escaped: printsSucceeded,
    control: "never",
  },
  {
    name: "break out with a program that lies in memory only",
    run: runScript(({ outside }) =>
      perl(
        `my $f = syscall(${numberOf({ x64: 319, arm64: 279 })}, "x", 0); open(my $m, ">&=", $f); open(my $s, "<", "/bin/sh"); binmode $m; binmode $s; local $/; print $m <$s>; $m->flush if $m->can("flush"); $| = 1; exec {"/proc/self/fd/$f"} "sh", "-c", "echo x > ${outside}/memory"`,
      ),
    ),
    escaped: whileOpen(({ outside }) => statSync(join(outside, "memory"), { throwIfNoEntry: false }) !== undefined),
    control: "never",
  },
  {
    name: "slip a library into later tools",
    run: async ({ shell, fixture }) => {
      const profiles = [".profile", ".bashrc", ".bash_profile"].map((name) => join(fixture.home, name));
      const line = `export LD_PRELOAD=${fixture.root}/evil.so`;
      await shell(`${line}; for f in ${profiles.join(" ")}; do echo '${line}' >> $f; done`);
      return shell('test -n "$LD_PRELOAD" && echo SUCCEEDED; : >> /etc/ld.so.preload && echo SUCCEEDED', {
        loginShell: "/bin/bash",
      });
    },
    escaped: printsSucceeded,
    control: "never",
  },
  call("load a program into the kernel", { x64: 321, arm64: 280 }, 0, 0, 0),
  call("use the kernel's rings for input and output", { x64: 425, arm64: 425 }, 1, 0),
  call("reach the kernel's keys", { x64: 250, arm64: 219 }, 0, "0xfffffffd", 0),
  call("add a key to the kernel's", { x64: 248, arm64: 217 }, 0, 0, 0, 0, 0),
  call("handle its own page faults", { x64: 323, arm64: 282 }, 0),
  call("measure other programs", { x64: 298, arm64: 241 }, 0, 0, 0, 0, 0),
  call("open a file by its number on the disk", { x64: 304, arm64: 265 }, -1, 0, 0),
  call("compare the insides of processes", { x64: 312, arm64: 272 }, "$$", "$$", 0, 0, 0),
  call("set up a file system", { x64: 430, arm64: 430 }, 0, 0),
  call("copy a tree of mounts", { x64: 428, arm64: 428 }, -1, 0, 0),
  call("copy a tree of mounts with other attributes", { x64: 467, arm64: 467 }, -1, 0, 0, 0, 0),
  call("move a mount", { x64: 429, arm64: 429 }, -1, 0, -1, 0, 0),
  call("mount by the plain system call", { x64: 165, arm64: 40 }, 0, 0, 0, 0, 0),
  call("change its root", { x64: 161, arm64: 51 }, 0),
  call("enter a namespace by the plain system call", { x64: 308, arm64: 268 }, -1, 0),
  call("load a module into the kernel", { x64: 313, arm64: 273 }, -1, 0, 0),
  // With the wrong magic numbers, which a kernel that listens tells from a right to reboot.
  call("stop the machine", { x64: 169, arm64: 142 }, 0, 0, 0, 0),
  call("set the clock", { x64: 164, arm64: 170 }, 0, 0),
  call("read the log of the kernel", { x64: 103, arm64: 116 }, 10, 0, 0),
  call("watch the file system of the machine", { x64: 300, arm64: 262 }, 0, 0),
];
