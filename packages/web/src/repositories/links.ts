// Links of Markdown in a repository: relative ones lead to the page of that file.
import type { RepositoryView } from "./view.ts";

export const joinPath = (folder: string | undefined, name: string): string =>
  folder === undefined || folder === "" ? name : `${folder}/${name}`;

export interface LinkBase extends RepositoryView {
  /** Of the repository. */
  name: string;
}

/** `path` is that of the file with the link. Addresses of the web and of parts of the page stay. */
export function resolveLink(href: string, { name, ref, path = "" }: LinkBase): string {
  if (href === "" || /^(?:[a-z][a-z\d+.-]*:|\/\/|#)/i.test(href)) return href;
  const [target = ""] = href.split(/[?#]/);
  const parts = target.startsWith("/") ? [] : path.split("/").slice(0, -1);
  for (const part of decode(target).split("/")) {
    if (part === "..") parts.pop();
    else if (part !== "" && part !== ".") parts.push(part);
  }
  const query = new URLSearchParams({ ...(ref !== undefined && { ref }), path: parts.join("/") });
  return `/repositories/${encodeURIComponent(name)}?${query}`;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
