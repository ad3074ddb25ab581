// Text of a model as Markdown. HTML in it stays text; images of other sites are links, since loading them would tell those sites.
import { memo } from "react";
import ReactMarkdown, { type Components } from "react-markdown";
import rehypeSanitize from "rehype-sanitize";
import gfm from "remark-gfm";

// The page has the first two levels: a text in it cannot look like another page.
const components: Components = {
  h1: ({ children }) => <h3>{children}</h3>,
  h2: ({ children }) => <h4>{children}</h4>,
  h3: ({ children }) => <h5>{children}</h5>,
  h4: ({ children }) => <h6>{children}</h6>,
  h5: ({ children }) => <h6>{children}</h6>,
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

export const Markdown = memo(({ text }: { text: string }) => (
  <div className="markdown">
    <ReactMarkdown remarkPlugins={[gfm]} rehypePlugins={[rehypeSanitize]} components={components}>
      {text}
    </ReactMarkdown>
  </div>
));
