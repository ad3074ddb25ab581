// A long list in blocks: those near the window are drawn, the others keep their height. The newest are always drawn.
import { memo, type ReactNode, useEffect, useRef, useState } from "react";

export interface BlocksProps<Item> {
  /** Items are replaced, never changed; one that keeps its index keeps its block. */
  items: Item[];
  render(item: Item): ReactNode;
}

/** Small, so that no frame has to draw many: at 50 a quick scroll dropped frames. */
const blockSize = 10;
/** So many blocks at the end are drawn wherever the window is. */
const alwaysDrawn = 4;
const estimatedPixels = 38;

export function Blocks<Item>({ items, render }: BlocksProps<Item>) {
  const count = Math.ceil(items.length / blockSize);
  return Array.from({ length: count }, (_, index) => (
    <Block
      // biome-ignore lint/suspicious/noArrayIndexKey: blocks are places in a list that only grows.
      key={index}
      items={items.slice(index * blockSize, (index + 1) * blockSize)}
      render={render as (item: unknown) => ReactNode}
      isDrawn={index >= count - alwaysDrawn}
    />
  ));
}

interface BlockProps {
  items: unknown[];
  render(item: unknown): ReactNode;
  isDrawn: boolean;
}

const isSame = (before: BlockProps, after: BlockProps): boolean =>
  before.isDrawn === after.isDrawn &&
  before.items.length === after.items.length &&
  before.items.every((item, index) => item === after.items[index]);

const Block = memo(({ items, render, isDrawn }: BlockProps) => {
  const element = useRef<HTMLDivElement>(null);
  // What a reader has opened stays as it is.
  const isTouched = useRef(false);
  const [height, setHeight] = useState<number | null>(isDrawn ? null : items.length * estimatedPixels);
  useEffect(() => {
    const { current } = element;
    if (!current) return;
    return observe(current, (isNear) => {
      if (isNear) setHeight(null);
      else if (!isTouched.current && !isDrawn) setHeight((before) => before ?? current.offsetHeight);
    });
  }, [isDrawn]);
  const touch = () => {
    isTouched.current = true;
  };
  return (
    <div
      ref={element}
      className="block"
      onClickCapture={touch}
      style={height === null ? undefined : { height: `${height}px` }}
    >
      {height === null && items.map(render)}
    </div>
  );
}, isSame);

const listeners = new WeakMap<Element, (isNear: boolean) => void>();
let observer: IntersectionObserver | undefined;

/** One observer for all blocks. Returns how to end it. */
function observe(element: Element, listener: (isNear: boolean) => void): () => void {
  observer ??= new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting } of entries) listeners.get(target)?.(isIntersecting);
    },
    { rootMargin: "1000px 0px" },
  );
  const watching = observer;
  listeners.set(element, listener);
  watching.observe(element);
  return () => watching.unobserve(element);
}
