// Home: what came in, how it ended, what is yours, what is paid out when, and what waits for you.
import { useQuery } from "@tanstack/react-query";
import { useApi, useCan, usePlace } from "../api/place.ts";
import { useSession } from "../api/session.ts";
import type { Schema } from "../api/types.ts";
import { paths } from "../paths.ts";
import { Answer } from "../ui/answer.tsx";
import { ButtonLink } from "../ui/button.tsx";
import { Empty } from "../ui/empty.tsx";
import { useNow } from "../ui/now.ts";
import { Page as Frame } from "../ui/page.tsx";
import { Skeleton } from "../ui/skeleton.tsx";
import { Time, useTimeZone } from "../ui/time.tsx";
import { useFirstSteps } from "./home/first-steps.tsx";
import { Figures } from "./home/figures.tsx";
import { OverTime } from "./home/over-time.tsx";
import { Payouts } from "./home/payouts.tsx";
import { Waiting } from "./home/waiting.tsx";

type Overview = Schema<"Overview">;

export function Page() {
  const api = useApi();
  const timeZone = useTimeZone();
  const overview = useQuery(api.read("/v1/overview", { query: { time_zone: timeZone } }));
  return (
    <Frame title="Home" lead="What came in, what is yours, and what waits for you." curl={{ path: "/v1/balances" }}>
      <Closed />
      <Answer of={overview} skeleton={<Still />}>
        {(shown) => <Shown overview={shown} />}
      </Answer>
    </Frame>
  );
}

/** In production, while its operator takes no payments there. */
function Closed() {
  const { environment } = usePlace();
  const service = useSession()?.service;
  if (environment === "sandbox" || service === undefined || service.production_open) return null;
  return (
    <p role="status" className="rounded-md border border-line bg-panel px-4 py-3">
      {service.name} takes no payments in production yet: keys of production read, and a new payment is answered{" "}
      <code className="font-mono text-xs">NO_ROUTE_AVAILABLE</code>. Build and try in the sandbox; whoever runs it opens
      production.
    </p>
  );
}

function Shown({ overview: { currencies, waiting, payouts, counted_at: countedAt } }: { overview: Overview }) {
  const used = currencies.filter(isUsed);
  const isNewcomer = useNewcomer(currencies);
  const { isPending, firstSteps } = useFirstSteps(isNewcomer);
  if (isPending)
    return (
      <div aria-busy="true">
        <Still />
      </div>
    );
  const shown = used.length > 0 ? used : currencies.slice(0, 1);
  return (
    <>
      {countedAt !== null && <Behind at={countedAt} />}
      {firstSteps}
      {shown.map((figures) => (
        <Figures key={figures.currency} of={figures} />
      ))}
      <Waiting of={waiting} isNew={used.length === 0} />
      {used.length === 0 && countedAt !== null && !isNewcomer && <NoneYet />}
      {countedAt === null && <BeingCounted />}
      {payouts && used.length > 0 && <Payouts of={payouts} />}
      {used.length > 0 && <OverTime currencies={used.map(({ currency }) => currency)} />}
    </>
  );
}

const FEW_PAYMENTS = 10;

/** Whether the first steps are of use: in a sandbox where little happens, to who may take all of them. */
function useNewcomer(currencies: Overview["currencies"]): boolean {
  const { environment } = usePlace();
  const can = useCan();
  const may = ["credentials:write", "payments:write", "webhooks:write", "refunds:write", "disputes:write"].every(can);
  return environment === "sandbox" && may && currencies.every(({ week }) => week.payments < FEW_PAYMENTS);
}

/** A currency in which something happened, or is still owned. */
function isUsed({ week, balance }: Schema<"CurrencyFigures">): boolean {
  const owned = balance ? [balance.available_minor, balance.held_minor, balance.pending_settlement_minor] : [];
  return week.payments > 0 || owned.some((minor) => minor !== 0);
}

const LATE_MS = 60_000;

/** Figures that stand still are said to. */
function Behind({ at }: { at: string }) {
  const now = useNow(15_000);
  if (now - Date.parse(at) < LATE_MS) return null;
  return (
    <p role="status" className="rounded-md border border-warn/50 px-4 py-2">
      Payments are counted up to <Time at={at} shape="second" />. The figures below are as of then; balances are as of
      now.
    </p>
  );
}

function BeingCounted() {
  return (
    <p role="status" className="rounded-md border border-line bg-panel px-4 py-3 text-muted">
      Payments are being counted for the first time. Figures appear here automatically.
    </p>
  );
}

function NoneYet() {
  const place = usePlace();
  const can = useCan();
  const mayCreate = can("payments:write") && place.environment === "sandbox";
  return (
    <Empty
      title="No payments this week"
      action={mayCreate && <ButtonLink to={paths.create(place)}>Create a payment</ButtonLink>}
      curl={{
        method: "POST",
        path: "/v1/payments",
        body: { amount_minor: 15000000, currency: "IDR", payment_method: "qris", reference_id: "order-1042" },
      }}
    >
      What your customers pay is counted here as it comes in: by hour and day, by method, and by how it ended.
    </Empty>
  );
}

function Still() {
  return (
    <div className="space-y-6">
      <Skeleton className="h-28 w-full" />
      <Skeleton className="h-20 w-full" />
      <Skeleton className="h-80 w-full" />
    </div>
  );
}
