// Names in the files of the system.
import { expect, test } from "vitest";
import { candidatesOf, hasOtherSource, hostsIn } from "../../src/names/files.ts";

test("a name has every address that the hosts file lists, in any case; localhost has its own without the file", () => {
  const text = "# comment\n127.0.0.1 localhost\n10.0.0.1\tGit.Example git # git.other\n::1 ip6-localhost git.example\n";
  expect(hostsIn(text, "git.example")).toEqual(["10.0.0.1", "::1"]);
  expect(hostsIn(text, "git")).toEqual(["10.0.0.1"]);
  expect(hostsIn(text, "git.other")).toEqual([]);
  expect(hostsIn("", "localhost")).toEqual(["127.0.0.1", "::1"]);
});

test("names are also asked for in the domains of search, first of all if they have few dots", () => {
  const text = "nameserver 10.0.0.1\nsearch old.example\nsearch a.example b.example.\noptions timeout:1 ndots:2\n";
  expect(candidatesOf("git.tools", text)).toEqual(["git.tools.a.example", "git.tools.b.example", "git.tools"]);
  expect(candidatesOf("git.tools.example", text)[0]).toBe("git.tools.example");
  expect(candidatesOf("git.tools", "nameserver 10.0.0.1")).toEqual(["git.tools"]);
});

test("sources other than the hosts file and name servers are found in nsswitch.conf, if they may know the name", () => {
  const minimal = "passwd: files ldap\nhosts:  files mdns4_minimal [NOTFOUND=return] dns myhostname # wins\n";
  expect(hasOtherSource(minimal, "printer.local")).toBe(true);
  expect(hasOtherSource(minimal, "git.example")).toBe(false);
  expect(hasOtherSource("hosts: files resolve [!UNAVAIL=return] dns", "git.example")).toBe(true);
  expect(hasOtherSource("hosts: files dns", "printer.local")).toBe(false);
  expect(hasOtherSource("", "printer.local")).toBe(false);
});
