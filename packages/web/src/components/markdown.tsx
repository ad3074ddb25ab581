// Text of a model as Markdown. HTML in it stays text; images of other sites are links, since loading them would tell those sites.
import { memo, type ReactNode } from "react";
import ReactMarkdown, { type Components, defaultUrlTransform } from "react-markdown";
import rehypeSanitize from "rehype-sanitize";
import gfm from "remark-gfm";

/** Below the headings of the page, whatever level a text begins with. */
const heading =
  (level: number) =>
  ({ children }: { children?: ReactNode }) => <h3 data-level={level}>{children}</h3>;

const components: Components = {
  ...{ h1: heading(1), h2: heading(2), h3: heading(3), h4: heading(4), h5: heading(5), h6: heading(6) },
  input: ({ checked = false }) => (
    <input type="checkbox" disabled checked={checked} aria-label={checked ? "Done" : "Not done"} />
  ),
  a: ({ children, href }) => (
    <a href={href} rel="noreferrer noopener" target="_blank">
      {children}
    </a>
  ),
  img: ({ alt, src }) => (
    <a href={typeof src === "string" ? src : undefined} rel="noreferrer noopener" target="_blank">
      {alt || "image"}
    </a>
  ),
  pre: ({ children }) => (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and the keyboard needs a way in.
    <pre tabIndex={0}>{children}</pre>
  ),
};

export interface MarkdownProps {
  text: string;
  /** Where links of the text lead; absent: where they say. */
  resolve?: (href: string) => string;
}

export const Markdown = memo(({ text, resolve }: MarkdownProps) => (
  <div className="markdown">
    <ReactMarkdown
      remarkPlugins={[gfm]}
      rehypePlugins={[rehypeSanitize]}
      components={components}
      {...(resolve && { urlTransform: (href: string) => defaultUrlTransform(resolve(href)) })}
    >
      {text}
    </ReactMarkdown>
  </div>
));
