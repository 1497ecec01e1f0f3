// One settlement: an equation that adds up, down to each payment, with its journals and its statement to take along.
import { useQuery } from "@tanstack/react-query";
import { usePart } from "../../address.ts";
import { useAction } from "../../api/action.ts";
import { useApi, useCan, usePlace } from "../../api/place.ts";
import type { Schema } from "../../api/types.ts";
import { paths } from "../../paths.ts";
import { Answer } from "../../ui/answer.tsx";
import { Button } from "../../ui/button.tsx";
import { Identity } from "../../ui/copy.tsx";
import { save } from "../../ui/download.ts";
import { ErrorNote } from "../../ui/face.tsx";
import { Fact, Facts } from "../../ui/facts.tsx";
import { Page as Frame, Section } from "../../ui/page.tsx";
import { Status } from "../../ui/status.tsx";
import { Time, useTimeZone } from "../../ui/time.tsx";
import { say } from "../../ui/toast.tsx";
import { Equation, unpaid } from "./equation.tsx";
import { Items } from "./items.tsx";
import { Journals } from "./journals.tsx";
import { usePrint } from "./print.ts";

export function Page() {
  const place = usePlace();
  const api = useApi();
  const can = useCan();
  const uuid = usePart("uuid");
  const settlement = useQuery(api.read("/v1/settlements/{uuid}", { path: { uuid } }));
  const pay = useAction(
    (_: undefined, intent) =>
      api.write("POST", "/v1/sandbox/settlements/{uuid}/pay", { path: { uuid }, body: {} }, intent),
    { done: () => say("The bank has paid the batch.") },
  );
  const statement = useAction(async () => {
    save(await api.download(`/v1/settlements/${encodeURIComponent(uuid)}/statement`), `${uuid}.csv`);
    return true;
  });
  const { print, printed } = usePrint(uuid);
  const pays = place.environment === "sandbox" && can("sandbox:write") && settlement.data?.status === "processing";
  const error = pay.error ?? statement.error ?? print.error;
  return (
    <Frame
      title="Settlement"
      above={{ to: paths.settlements(place), label: "Settlements" }}
      beside={
        <>
          {settlement.data && <Status status={settlement.data.status} />}
          <Identity id={uuid} what="the batch's identity" />
        </>
      }
      actions={
        settlement.data && (
          <>
            <Button pending={print.pending} onClick={() => print.run(undefined)}>
              Print
            </Button>
            <Button onClick={() => statement.run(undefined)}>Download CSV</Button>
            {pays && (
              <Button look="primary" onClick={() => pay.run(undefined)}>
                Let the bank pay it
              </Button>
            )}
          </>
        )
      }
      curl={{ path: `/v1/settlements/${uuid}` }}
    >
      {error && <ErrorNote error={error} />}
      <Answer of={settlement}>{(settlement) => <Settlement of={settlement} printed={printed} />}</Answer>
    </Frame>
  );
}

interface Props {
  of: Schema<"Settlement">;
  printed: Schema<"SettlementItemList"> | undefined;
}

function Settlement({ of: settlement, printed }: Props) {
  const can = useCan();
  const timeZone = useTimeZone();
  return (
    <>
      <Equation of={settlement} />
      {settlement.status === "failed" && (
        <p className="max-w-2xl">
          The bank returned this payout, so its money is available again. What it is made of goes into a later batch:
          leave this one out when you add up. The page of a payment, refund or dispute leads to the batch that it is in
          now.
        </p>
      )}
      <Facts>
        <Fact name="From">
          <Time at={settlement.period_start} shape="minute" />
        </Fact>
        <Fact name="To">
          <Time at={settlement.period_end} shape="minute" />
        </Fact>
        <Fact name="Paid">
          {settlement.paid_at === null ? unpaid[settlement.status] : <Time at={settlement.paid_at} />}
        </Fact>
        <Fact name="Bank reference">{settlement.bank_reference ?? "none"}</Fact>
      </Facts>
      {/* On a screen each time says its zone when pointed at. */}
      <p className="hidden text-xs text-muted print:block">Times are in {timeZone}.</p>
      <Section title="What it is made of">
        <Items of={settlement} printed={printed} />
      </Section>
      {can("balances:read") && (
        <Section title="Journals">
          <Journals group={settlement.uuid} />
        </Section>
      )}
    </>
  );
}
