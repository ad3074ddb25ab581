// The tabs of an agent: a row that scrolls where it is wider than the window, with the open one in sight.
import type { AgentDetails } from "@agentcli/protocol/api";
import { Link, useLocation } from "@tanstack/react-router";
import { useEffect, useRef } from "react";

export function AgentTabs({ agent }: { agent: AgentDetails }) {
  const { id, artifacts } = agent;
  const { pathname } = useLocation();
  const tabs = useRef<HTMLElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another page has another open tab.
  useEffect(() => {
    tabs.current?.querySelector(".active")?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }, [pathname]);
  return (
    <nav ref={tabs} className="tabs" aria-label="Agent">
      <Link className="tab" to="/agents/$id" params={{ id }} activeOptions={{ exact: true, includeSearch: false }}>
        Conversation
      </Link>
      {agent.repos !== undefined && (
        <Link className="tab" to="/agents/$id/changes" params={{ id }}>
          Changes
        </Link>
      )}
      <Link className="tab" to="/agents/$id/files" params={{ id }}>
        Files {artifacts.length > 0 && <span className="count">{artifacts.length}</span>}
      </Link>
      <Link className="tab" to="/agents/$id/waits" params={{ id }}>
        Waits
      </Link>
      <Link className="tab" to="/agents/$id/events" params={{ id }}>
        Events
      </Link>
      <Link className="tab" to="/agents/$id/usage" params={{ id }}>
        Usage
      </Link>
      {agent.owner.isCaller && agent.group === "running" && (
        <Link className="tab" to="/agents/$id/machine" params={{ id }}>
          Machine
        </Link>
      )}
    </nav>
  );
}
