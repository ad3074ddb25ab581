// A browser for tests: keeps its cookies, does not follow redirects.
export interface Browser {
  get(path: string, headers?: Record<string, string>): Promise<Shown>;
  form(path: string, fields: Record<string, string>, headers?: Record<string, string>): Promise<Shown>;
  send(path: string, init?: RequestInit): Promise<Shown>;
  /** The cookie header it sends. */
  cookie(): string;
}

export interface Shown {
  status: number;
  html: string;
  headers: Headers;
  location: string;
}

/** Paths are relative to the server at `home`; absolute URLs are used unchanged. */
export function openBrowser(home: string): Browser {
  const jar = new Map<string, string>();
  const cookie = () => [...jar].map(([name, value]) => `${name}=${value}`).join("; ");
  const send = async (path: string, init: RequestInit = {}): Promise<Shown> => {
    const headers = { cookie: cookie(), ...(init.headers as Record<string, string> | undefined) };
    const answer = await fetch(new URL(path, home), { redirect: "manual", ...init, headers });
    for (const given of answer.headers.getSetCookie()) keep(jar, given);
    const location = answer.headers.get("location") ?? "";
    return { status: answer.status, html: await answer.text(), headers: answer.headers, location };
  };
  return {
    cookie,
    send,
    get: (path, headers = {}) => send(path, { headers }),
    form: (path, fields, headers = {}) => send(path, { method: "POST", body: new URLSearchParams(fields), headers }),
  };
}

function keep(jar: Map<string, string>, given: string): void {
  const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(given) ?? [];
  if (value === "" || /max-age=0/i.test(given)) jar.delete(name);
  else jar.set(name, value);
}

/** Opens the link and presses the button, as a user does. Returns the response to the button, or the page if it has none. */
export async function logIn(browser: Pick<Browser, "get" | "form">, link: string): Promise<Shown> {
  const page = await browser.get(link);
  return page.status === 200 ? browser.form(new URL("/login", link).href, { token: tokenIn(page) }) : page;
}

/** The token in the forms of a page. */
export const tokenIn = ({ html }: Shown): string => /name="token" value="([^"]+)"/.exec(html)?.[1] ?? "";
