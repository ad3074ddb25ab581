// The head of a page, and its content once it is there: waiting, failure, then what was read.
import type { UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { useTitle } from "../api/use-inbox.ts";
import { Failure, Skeleton } from "./feedback.tsx";

export interface PageProps {
  title: string;
  actions?: ReactNode;
  children: ReactNode;
}

export const Page = ({ title, actions, children }: PageProps) => {
  useTitle(title);
  return (
    <div className="page">
      <header className="page-header">
        <h1>{title}</h1>
        {actions !== undefined && <div className="page-actions">{actions}</div>}
      </header>
      {children}
    </div>
  );
};

export interface LoadedProps<Data> {
  query: UseQueryResult<Data>;
  children(data: Data): ReactNode;
}

/** What was read before stays while reading it again fails; the failure is above it. */
export const Loaded = <Data,>({ query, children }: LoadedProps<Data>) => (
  <>
    {query.isPending && <Skeleton lines={5} />}
    {query.error && <Failure error={query.error} retry={() => query.refetch()} />}
    {query.data !== undefined && children(query.data)}
  </>
);
