// /portal: leads to the person's last place, or else to their first merchant's sandbox.
import { Navigate } from "@tanstack/react-router";
import type { Place } from "../api/client.ts";
import { isEnvironment } from "../api/place.ts";
import type { SessionView } from "../api/session.ts";
import { paths } from "../paths.ts";
import { Empty } from "../ui/empty.tsx";
import { Page } from "../ui/page.tsx";
import { SessionGate } from "./session-gate.tsx";

const NAME = "gerbang.place";

export function keepPlace({ merchant, environment }: Place): void {
  try {
    localStorage.setItem(NAME, `${merchant}/${environment}`);
  } catch {
    // Without storage the next visit begins at the first merchant.
  }
}

export function startOf({ memberships }: SessionView): Place | undefined {
  let kept: string[] = [];
  try {
    kept = (localStorage.getItem(NAME) ?? "").split("/");
  } catch {
    // Without storage there is no last place.
  }
  const [merchant, environment] = kept;
  const last = memberships.find(({ merchant_id }) => merchant_id === merchant);
  if (last && isEnvironment(environment)) return { merchant: last.merchant_id, environment };
  const [first] = memberships;
  return first && { merchant: first.merchant_id, environment: "sandbox" };
}

export function Start() {
  return (
    <SessionGate>
      {(session) => {
        const place = startOf(session);
        if (place) return <Navigate to={paths.home(place)} replace />;
        return (
          <Page title="No merchant yet">
            <Empty title="You do not belong to a merchant">
              Ask an owner of the merchant for an invitation: they make one under Settings, Team, and send you its link.
            </Empty>
          </Page>
        );
      }}
    </SessionGate>
  );
}
