// Starts a command in a network namespace whose only way out are listeners of its bridge: they are in a second namespace, at the
// other end of a link, so that servers of the machine may listen on every port and address that they see. In Perl, as mounts of
// ids are (it starts in 3 ms), without modules. Needs root of a user namespace; what is started has no rights over its network.
import { linkMask, listenerAddress, machineAddress, nameServerPort, namesMask, namesPrefix } from "../wire/index.ts";

/** The number of unshare(2) by architecture. */
const unshareNumbers: Partial<Record<NodeJS.Architecture, number>> = { x64: 272, arm64: 97 };

export interface CommandLine {
  program: string;
  argv: string[];
}

/**
 * Listens on these ports in the place of hosts. The command gets one more argument: the descriptors of the listeners, first that
 * of lookups by UDP. Undefined: this processor is not supported.
 */
export function inEgressNetwork(ports: number[], { program, argv }: CommandLine): CommandLine | undefined {
  const unshare = unshareNumbers[process.arch];
  if (unshare === undefined) return undefined;
  const listened = [...new Set([nameServerPort, ...ports])];
  return {
    program: "/usr/bin/perl",
    argv: ["-e", networkProgram, String(unshare), listened.join(","), program, ...argv],
  };
}

/** Both namespaces end with the last process or socket in them, and the link with them. */
const networkProgram = `
my ($unshare, $ports, @command) = @ARGV;
sub fail { die "The network of the machine could not be prepared: $_[0]: $!\\n" }
sub address { pack("S n a4 x8", 2, $_[1], pack("C4", split(/\\./, $_[0]))) }
sub set {
  my ($socket, $call, $name, $data) = @_;
  my $request = pack("a16 a24", $name, $data);
  defined(ioctl($socket, $call, $request)) or fail(sprintf("ioctl %x of %s", $call, $name));
}
sub up { set($_[0], 0x8914, $_[1], pack("s", 0x41)) }
sub assign {
  my ($socket, $name, $address, $mask) = @_;
  set($socket, 0x8916, $name, address($address, 0));
  set($socket, 0x891c, $name, address($mask, 0));
}
sub attribute { my ($type, $data) = @_; pack("SS", 4 + length($data), $type) . $data . "\\0" x (-length($data) % 4) }
sub separate {
  syscall($unshare, 0x40000000) == 0 or fail("unshare");
  my $setting;
  print $setting "1" if open($setting, ">", "/proc/sys/net/ipv6/conf/default/disable_ipv6");
}

separate();
$^F = 65535;
socket(my $lookups, 2, 2, 0) or fail("socket");
bind($lookups, address("0.0.0.0", ${nameServerPort})) or fail("bind to UDP");
my @listeners = ($lookups);
for my $port (split(/,/, $ports)) {
  socket(my $listener, 2, 1, 0) or fail("socket");
  bind($listener, address("0.0.0.0", $port)) or fail("bind to $port");
  listen($listener, 511) or fail("listen on $port");
  push(@listeners, $listener);
}
$^F = 2;
up($lookups, "lo");
assign($lookups, "lo", "${namesPrefix}.0.1", "${namesMask}");
socket(my $links, 16, 3, 0) or fail("netlink");

separate();
open(my $inside, "<", "/proc/self/ns/net") or fail("namespace");
my $any = pack("CCSlLL", 0, 0, 0, 0, 0, 0);
my $peer = $any . attribute(3, "egress0\\0") . attribute(28, pack("L", fileno($inside)));
my $kind = attribute(1, "veth\\0") . attribute(2, attribute(1, $peer));
my $body = $any . attribute(3, "egress1\\0") . attribute(18, $kind);
send($links, pack("LSSLL", 16 + length($body), 16, 0x605, 1, 0) . $body, 0) or fail("link");
defined(recv($links, my $reply, 4096, 0)) or fail("link");
$! = -unpack("x16 l", $reply);
$! == 0 or fail("link");
assign($lookups, "egress1", "${listenerAddress}", "${linkMask}");
up($lookups, "egress1");
socket(my $own, 2, 2, 0) or fail("socket");
up($own, "lo");
assign($own, "egress0", "${machineAddress}", "${linkMask}");
up($own, "egress0");
my $route = pack("x8 a16 a16 a16 S", address("${namesPrefix}.0.0", 0), address("${listenerAddress}", 0), address("${namesMask}", 0), 3);
defined(ioctl($own, 0x890b, $route . "\\0" x 64)) or fail("route");
exec(@command, join(",", map { fileno($_) } @listeners));
fail("exec $command[0]");
`.trim();
