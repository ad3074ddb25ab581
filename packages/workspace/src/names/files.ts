// What the files of the system say about a name: its addresses, or the names to ask servers for. Pure.

/** In the order of the file. `localhost` has its addresses even if the file does not list it. */
export function hostsIn(text: string, name: string): string[] {
  const addresses = linesOf(text).flatMap(([address = "", ...names]) =>
    names.some((one) => one.toLowerCase() === name.toLowerCase()) ? [address] : [],
  );
  return addresses.length === 0 && name === "localhost" ? ["127.0.0.1", "::1"] : addresses;
}

const maxSearched = 6;

/** The name itself and the name in each domain of `search`; first itself if it has as many dots as `ndots` says. */
export function candidatesOf(name: string, text: string): string[] {
  const lines = linesOf(text);
  const [, ...domains] = lines.findLast(([keyword]) => keyword === "search" || keyword === "domain") ?? [];
  const option = lines.flatMap(([keyword, ...words]) => (keyword === "options" ? words : [])).join(" ");
  const dots = Number(/\bndots:(\d+)/.exec(option)?.[1] ?? 1);
  const searched = domains.slice(0, maxSearched).map((domain) => `${name}.${domain.replace(/\.$/, "")}`);
  return name.split(".").length > dots ? [name, ...searched] : [...searched, name];
}

/** Whether `hosts:` in nsswitch.conf lists a source that may know the name: other than those that are read or asked here. */
export function hasOtherSource(text: string, name: string): boolean {
  const [, ...words] = linesOf(text.replaceAll(/\[[^\]]*\]/g, " ")).find(([keyword]) => keyword === "hosts:") ?? [];
  const isLocal = name.toLowerCase().endsWith(".local");
  return words.some((source) => !asked.has(source) && (isLocal || !/^mdns\d?_minimal$/.test(source)));
}

/** `myhostname` only knows this machine and localhost. */
const asked = new Set(["files", "dns", "myhostname"]);

/** The words of each line, without comments. */
const linesOf = (text: string): string[][] =>
  text.split("\n").flatMap((line) => {
    const words = line
      .replace(/[#;].*$/, "")
      .trim()
      .split(/\s+/);
    return words[0] ? [words] : [];
  });
