// Scripts of hooks in perl and ruby: a word that is not known to be harmless makes the hook unpinned.
import { describe, expect, test } from "vitest";
import { pinnedWith, pinScript, prepareScript } from "./hook-code-fixture.ts";

describe("a script of which nothing is started by others, and what it loads beside it", () => {
  test.each([
    [
      "a.pl",
      `use strict; use warnings;
use JSON::PP;
my $input = decode_json(join '', <STDIN>);
my $ok = eval { $input->{tool_input}{command} };
open(my $log, '>>', 'log.txt') or die;
do { print STDERR "no\\n"; exit 2 } if $ok =~ /rm -rf/;
`,
    ],
    [
      "a.rb",
      `# system("x")
require "json"
require_relative "../lib/x"
input = JSON.parse($stdin.read)
File.open("log.txt", "a") { |f| f.puts input["tool_name"] }
abort "no" if input.dig("tool_input", "command") =~ /rm -rf/
`,
    ],
  ])("%s", async (name, text) => {
    const result = await pinnedWith(name, text);
    expect(result).toEqual(expect.arrayContaining(["hooks"]));
    expect(typeof result).toBe("object");
  });
});

describe("code that loads or starts what cannot be followed makes the hook unpinned, and the reason names the line", () => {
  const unknown = "is known only when it runs";
  test.each([
    ["a.pl", "use lib 'lib'; use X;", unknown],
    ["a.pl", 'do "./lib/r.pl";', unknown],
    ["a.pl", "system($program);", unknown],
    ["a.pl", "my $out = qx{$program};", unknown],
    ["a.pl", 'open(my $f, "$program|");', unknown],
    ["a.pl", "eval $text;", unknown],
    ["a.rb", "system(program)", unknown],
    ["a.rb", "load 'lib/x.rb'", unknown],
    ["a.rb", "require './lib/x'", unknown],
    ["a.rb", "open(name)", unknown],
    ["a.rb", 'require_relative "missing"', "there is no file missing.rb"],
  ])("%s: %s", async (name, text, reason) => {
    const { unpinned } = pinScript(await prepareScript(name, `${"\n"}${text}\n`), name);
    expect(unpinned).toContain(reason);
    expect(unpinned).toMatch(/^in line [1-3] of /);
  });
});
