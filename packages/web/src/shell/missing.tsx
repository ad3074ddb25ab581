// The page for an address that has none.
import { Link } from "@tanstack/react-router";
import { Empty } from "../components/feedback.tsx";

export const MissingPage = () => (
  <Empty icon="search" title="Not found">
    <p>There is no page at this address.</p>
    <Link className="button button-primary" to="/agents">
      Go to the agents
    </Link>
  </Empty>
);
