// Scripts of hooks in perl and ruby: a word that is not known to be harmless makes the hook unpinned.
import { describe, expect, test } from "vitest";
import { pinIn, pinnedWith, pinScript, prepareScript } from "./hook-code-fixture.ts";

describe("a script of which nothing is started by others, and what it loads beside it", () => {
  test.each([
    [
      "a.pl",
      `#!/usr/bin/perl
use strict;
use warnings;
use JSON::PP qw(decode_json);
use File::Basename;
use POSIX qw(strftime);

=pod

system() is not used.

=cut

my %checks = (rm => sub { $_[0] =~ m{^rm\\s+-rf} }, sudo => sub { $_[0] =~ /^sudo/ });
sub report { my ($text, %more) = @_; print STDERR "guard: $text ($more{path})\\n"; return; }
local $/;
my $input = decode_json(<STDIN>);
my $command = $input->{tool_input}->{command} // '';
foreach my $name (sort keys %checks) {
    next unless $checks{$name}->($command);
    report("refused $name", path => basename($0)); # not exec
    exit 2;
}
(my $short = $command) =~ s/\\s+/ /g;
open(my $log, '>>', "$ENV{HOME}/log.txt") or die "no log: $!";
print $log strftime("%F", localtime), " ", length($short) / 2, "\\n" if -e $0;
close($log);
`,
    ],
    [
      "a.rb",
      `#!/usr/bin/env ruby
require "json"
require 'time'
BLOCKED = [/rm -rf/, %r{/etc/}].freeze
def reasons(command, limit: 3)
  BLOCKED.select { |pattern| command.match?(pattern) }.first(limit).map(&:inspect)
end
input = JSON.parse($stdin.read)
command = input.dig("tool_input", "command").to_s
found = reasons(command)
unless found.empty?
  warn "refused: #{found.join(', ')} at #{Time.now.iso8601}"
  exit 2
end
File.open(File.join(ENV["HOME"], "log.txt"), "a") { |file| file.puts(command.length / 2) }
`,
    ],
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
    ["a.pl", 'local @ARGV = glob("lib/*"); print readline(ARGV);', unknown],
    ["a.pl", "print readline ARGV;", unknown],
    ["a.pl", "print while <>;", unknown],
    ["a.pl", "s/(.*)/$1/ee for @a;", unknown],
    ["a.pl", "s{a}{lc($1)}e;", unknown],
    ["a.pl", 'my $x = "@{[ system($program) ]}";', unknown],
    ["a.pl", 'print "$h{system($program)}";', unknown],
    ["a.pl", "/(?{ system($program) })/;", unknown],
    ["a.pl", "$object->$name($text);", unknown],
    ["a.pl", "&$name($text);", unknown],
    ["a.pl", "*{'main::x'} = $code;", unknown],
    ["a.pl", "$fh->open($text);", unknown],
    ["a.pl", "dbmopen(%h, $name, 0666);", unknown],
    ["a.pl", "use if 1, lib => 'lib';", unknown],
    ["a.rb", "system(program)", unknown],
    ["a.rb", "load 'lib/x.rb'", unknown],
    ["a.rb", "require './lib/x'", unknown],
    ["a.rb", "open(name)", unknown],
    ["a.rb", "instance_eval(File.read('lib/x.rb'))", unknown],
    ["a.rb", "Object.class_eval(text)", unknown],
    ["a.rb", "autoload :X, './lib/x.rb'", unknown],
    ["a.rb", "ERB.new(File.read('lib/x.erb')).result", unknown],
    ["a.rb", "RubyVM::InstructionSequence.compile_file('lib/x.rb').eval", unknown],
    ["a.rb", "$LOAD_PATH << 'lib'", "is not read"],
    ["a.rb", "binding.irb", unknown],
    ["a.rb", 'puts "#{system(program)}"', unknown],
    ["a.rb", "[text].each(&:instance_eval)", unknown],
    ["a.rb", "value.public_send(name)", unknown],
    ["a.rb", "IO.popen(program)", unknown],
    ["a.rb", "File.method(name).call(text)", unknown],
    ["a.rb", "Kernel.open(name)", unknown],
    ["a.rb", "out = %x(date)", unknown],
    ["a.rb", 'require_relative "missing"', "there is no file missing.rb"],
    // A name of the script's own does not replace what perl and ruby have under it.
    ["a.pl", "sub system { 1 } system('sh tools/x.sh');", unknown],
    ["a.pl", "sub readpipe { 1 } print readpipe('sh tools/x.sh');", unknown],
    ["a.pl", "sub require { 1 } require './lib/x.pl';", unknown],
    ["a.pl", "print map {eval} @texts;", unknown],
    ["a.pl", "my $x = '\n=pod\n'; system($program); my $y = '\n=cut\n';", unknown],
    ["a.pl", "my $x\n=system($program);\n=cut\n", unknown],
    ["a.pl", "1;\n=cut\n\n=cut1\nsystem($program);\n", unknown],
    ["a.pl", "my $x = '\nuse strict;\n'; $name->($text);", unknown],
    ["a.rb", "system = 1; system('sh tools/x.sh')", unknown],
    ["a.rb", "eval = 1; eval('x')", unknown],
    ["a.rb", "method = 1; ['sh'].each(&method(:system))", unknown],
    ["a.rb", "def popen; end; File.popen('sh')", unknown],
    ["a.rb", "class IO; end; IO.read('|sh tools/x.sh')", unknown],
    ["a.rb", "['x'].inject('', :instance_eval)", unknown],
    ["a.rb", "x = '\n=begin\n'; system('sh'); y = '\n=end\n'", unknown],
  ])("%s: %s", async (name, text, reason) => {
    const { unpinned } = pinScript(await prepareScript(name, `${"\n"}${text}\n`), name);
    expect(unpinned).toContain(reason);
    expect(unpinned).toMatch(/^in line [1-6] of /);
  });
});

describe("code in perl and ruby inside of a command is read like a script", () => {
  test.each([
    ["perl -e 'use JSON::PP; my $in = decode_json(join \"\", <STDIN>); exit 2 if $in->{tool_name} =~ m{^rm}i'", []],
    ["perl -we 'my @a = map { lc } split /,/, $ENV{NAMES}; print \"@a $a[0]\\n\"'", []],
    ['ruby -e \'require "json"; abort "no" if JSON.parse($stdin.read)["tool_name"] =~ /rm/\'', []],
    ["perl -e 's/(.*)/$1/ee'", "known only when it runs"],
    ["perl -e 'print readline(ARGV)' lib/*", "known only when it runs"],
    ["ruby -e 'instance_eval(File.read(\"lib/x.rb\"))'", "known only when it runs"],
    ["ruby -e 'autoload :X, \"./lib/x.rb\"'", "known only when it runs"],
    ["ruby -e 'require_relative \"lib/x\"'", "its code loads lib/x.rb from the workspace"],
  ])("%s", async (command, result) => {
    const { files, unpinned } = pinIn(await prepareScript("a.sh", ""), command);
    if (typeof result === "string") expect(unpinned).toContain(result);
    else expect(unpinned ?? files).toEqual(result);
  });
});
